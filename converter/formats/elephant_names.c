/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a line for each class, field, method and site: docs/formats/elephant-tracks.md. */
#include "converter/formats/elephant_names.h"

#include <inttypes.h>

#include "converter/base/utf8_text.h"

enum { ACCESS_STATIC = 0x8, ACCESS_NATIVE = 0x100 };

void elephant_names_init(struct elephant_names *names, const struct java_records *java, FILE *out)
{
    *names = (struct elephant_names){.java = java, .out = out};
    id_table_init(&names->sites, sizeof(uint8_t));
}

void elephant_names_reset(struct elephant_names *names)
{
    id_table_reset(&names->sites);
    step_buffer_reset(&names->text);
}

/* Blanks end a word: they, controls and `\` become \u00XX, invalid UTF-8 U+FFFD. */
static void print_word(struct elephant_names *names, struct step_bytes word, FILE *out)
{
    names->text.length = 0;
    if (!utf8_append(&names->text, word))
        names->no_memory = true;
    for (size_t i = 0; i < names->text.length; i++) {
        uint8_t byte = names->text.data[i];
        if (byte <= ' ' || byte == 0x7f || byte == '\\')
            fprintf(out, "\\u%04x", byte);
        else
            putc(byte, out);
    }
}

void elephant_print_type(struct elephant_names *names, struct step_bytes name, FILE *out)
{
    bool is_array = name.length > 0 && name.data[0] == '[';
    if (!is_array)
        putc('L', out);
    print_word(names, name, out);
    if (!is_array)
        putc(';', out);
}

static void print_class(struct elephant_names *names, uint64_t class_id)
{
    fprintf(names->out, " 0x%" PRIx64 " ", class_id);
    print_word(names, java_class_name(names->java, class_id), names->out);
}

static void write_field(struct elephant_names *names, uint64_t id)
{
    struct step_java_field entry;
    if (!java_field(names->java, id, &entry))
        return;
    fprintf(names->out, "F %c 0x%" PRIx64 " ", (entry.modifiers & ACCESS_STATIC) != 0 ? 'S' : 'I',
            id);
    print_word(names, entry.name, names->out);
    print_class(names, entry.class_);
    putc(' ', names->out);
    print_word(names, entry.descriptor, names->out);
    putc('\n', names->out);
}

static void write_method(struct elephant_names *names, uint64_t id)
{
    struct step_java_method entry;
    if (!java_method(names->java, id, &entry))
        return;
    fprintf(names->out, "N 0x%" PRIx64, id);
    print_class(names, entry.class_);
    putc(' ', names->out);
    print_word(names, entry.name, names->out);
    putc(' ', names->out);
    print_word(names, entry.descriptor, names->out);
    fprintf(names->out, " %c%s\n", (entry.modifiers & ACCESS_STATIC) != 0 ? 'S' : 'I',
            (entry.modifiers & ACCESS_NATIVE) != 0 ? "N" : "");
}

void elephant_names_write(struct elephant_names *names)
{
    uint64_t classes = java_entry_count(names->java, STEP_JAVA_CLASS);
    uint64_t fields = java_entry_count(names->java, STEP_JAVA_FIELD);
    uint64_t methods = java_entry_count(names->java, STEP_JAVA_METHOD);
    fputs("# steptrace convert --to=elephant-tracks\n", names->out);
    for (uint64_t id = 1; id <= classes && !ferror(names->out); id++) {
        putc('C', names->out);
        print_class(names, id);
        putc('\n', names->out);
    }
    for (uint64_t id = 1; id <= fields && !ferror(names->out); id++)
        write_field(names, id);
    for (uint64_t id = 1; id <= methods && !ferror(names->out); id++)
        write_method(names, id);
}

void elephant_names_put_site(struct elephant_names *names, uint32_t site, uint32_t class_id)
{
    struct step_java_frame frame;
    struct step_java_method method = {.class_ = 0};
    if (site == 0)
        return;
    uint8_t *known = id_table_get(&names->sites, site);
    names->no_memory = names->no_memory || known == NULL;
    if (known == NULL || *known != 0)
        return;
    *known = 1;
    if (!java_frame(names->java, site, &frame))
        return;
    java_method(names->java, frame.method, &method);
    struct step_bytes type = java_class_name(names->java, class_id);
    size_t dimensions = 0;
    while (dimensions < type.length && type.data[dimensions] == '[')
        dimensions++;
    fprintf(names->out, "S 0x%" PRIx64 " 0x%" PRIx64 " 0x%" PRIx32 " ", (uint64_t) frame.method,
            (uint64_t) method.class_, site);
    elephant_print_type(names, type, names->out);
    fprintf(names->out, " %zu\n", dimensions);
}
