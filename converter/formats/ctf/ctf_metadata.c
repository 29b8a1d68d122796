/* SPDX-License-Identifier: Apache-2.0 */
/* Writes CTF metadata: types, clock, streams, and an event class for each record type.  Field names
 * begin with an underscore, which readers remove, so that none is a keyword of TSDL.  Names that
 * other types refer to have no underscore, because babeltrace2 removes it from named types. */
#include "converter/formats/ctf/ctf_metadata.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/containers/name_index.h"
#include "converter/numbers/trace_ticks.h"
#include "converter/records/record_values.h"
#include "steptrace/show.h"

bool ctf_holds_record(const struct step_field *field)
{
    return field->kind == STEP_TYPE_RECORD && !step_field_is_identifier(field) &&
           !step_field_is_variant(field);
}

/* ---- labels ---- */

/* "java.Class" becomes java_Class.  A single word may be a keyword of TSDL, readers remove a
 * leading underscore, and two names may become equal; a number then makes the label unique. */
static char *label_of(struct name_index *taken, const struct step_definition *definition,
                      uint32_t record)
{
    const char *name = definition->records[record].name;
    size_t size = strlen(name) + 24;
    char *label = malloc(size);
    bool is_new = true;
    if (label == NULL)
        return NULL;
    int length = snprintf(label, size, "%s%s", *name == '_' ? "r" : "", name);
    for (char *at = label; *at != '\0'; at++)
        if (*at == '.')
            *at = '_';
    bool is_word = strchr(name, '.') == NULL;
    if (is_word || (name_index_put(taken, 0, step_text(label), &is_new) != 0 && !is_new))
        snprintf(label + length, size - (size_t) length, "__%u", (unsigned) record);
    return label;
}

static bool make_labels(struct ctf_types *types)
{
    struct name_index taken = {0};
    types->labels = calloc(types->definition->record_count + 1, sizeof *types->labels);
    bool ok = types->labels != NULL;
    for (uint32_t i = 0; ok && i < types->definition->record_count; i++) {
        types->labels[i] = label_of(&taken, types->definition, i);
        ok = types->labels[i] != NULL;
    }
    name_index_reset(&taken);
    return ok;
}

/* ---- order ---- */

enum colour { NEW, OPEN, DONE };

/* Position of the search: a record, one of its fields, and one of that field's possible types. */
struct step_down {
    uint32_t record, field, target;
};

struct descent {
    struct ctf_types *types;
    uint8_t *colours;
    struct step_down *path; /* of open records */
    size_t depth;
};

/* Finds the next record that the current field may contain.  Returns false if there is none. */
static bool next_target(const struct step_definition *definition, const struct step_field *field,
                        struct step_down *at, uint32_t *record)
{
    bool is_variant = step_field_is_variant(field);
    if (!is_variant && !ctf_holds_record(field))
        return false;
    if (!is_variant) {
        *record = field->record;
        return at->target++ == 0;
    }
    while (at->target < definition->record_count)
        if (step_record_extends(definition, at->target++, field->record)) {
            *record = at->target - 1;
            return true;
        }
    return false;
}

static void go_into(struct descent *descent, uint32_t record)
{
    descent->colours[record] = OPEN;
    descent->path[descent->depth++] = (struct step_down){.record = record};
}

/* One step of the search: into a record, on to the next field, or out. */
static void ctf_metadata_advance(struct descent *descent)
{
    struct ctf_types *types = descent->types;
    struct step_down *at = &descent->path[descent->depth - 1];
    const struct step_record *type = &types->definition->records[at->record];
    uint32_t target;
    if (at->field == type->field_count) {
        descent->colours[at->record] = DONE;
        types->order[types->order_count++] = at->record;
        descent->depth--;
    } else if (!next_target(types->definition, &type->fields[at->field], at, &target)) {
        at->field++;
        at->target = 0;
    } else if (descent->colours[target] == OPEN) {
        types->as_text[at->record][at->field] = 1;
        at->field++;
        at->target = 0;
    } else if (descent->colours[target] == NEW) {
        go_into(descent, target);
    }
}

static bool make_order(struct ctf_types *types)
{
    size_t count = types->definition->record_count;
    struct descent descent = {.types = types,
                              .colours = calloc(count + 1, 1),
                              .path = calloc(count + 1, sizeof *descent.path)};
    bool ok = descent.colours != NULL && descent.path != NULL;
    for (uint32_t i = 0; ok && i < count; i++) {
        if (descent.colours[i] != NEW)
            continue;
        go_into(&descent, i);
        while (descent.depth > 0)
            ctf_metadata_advance(&descent);
    }
    free(descent.colours);
    free(descent.path);
    return ok;
}

bool ctf_types_init(struct ctf_types *types, const struct step_definition *definition)
{
    size_t count = definition->record_count;
    *types = (struct ctf_types){.definition = definition,
                                .order = calloc(count + 1, sizeof *types->order),
                                .as_text = calloc(count + 1, sizeof *types->as_text)};
    bool ok = types->order != NULL && types->as_text != NULL;
    for (size_t i = 0; ok && i < count; i++) {
        types->as_text[i] = calloc(definition->records[i].field_count + 1, 1);
        ok = types->as_text[i] != NULL;
    }
    return ok && make_labels(types) && make_order(types);
}

void ctf_types_reset(struct ctf_types *types)
{
    for (size_t i = 0; types->definition != NULL && i < types->definition->record_count; i++) {
        if (types->as_text != NULL)
            free(types->as_text[i]);
        if (types->labels != NULL)
            free(types->labels[i]);
    }
    free(types->order);
    free(types->as_text);
    free(types->labels);
    *types = (struct ctf_types){.definition = NULL};
}

enum { PROPERTIES_MOST = 256 };
#define NS_PER_S UINT64_C(1000000000)

/* ---- clock ---- */

static uint64_t ctf_metadata_number_of(const struct step_reader *reader, const char *key,
                                       uint64_t missing)
{
    uint64_t number = trace_number(step_reader_property(reader, key), 0);
    return number != 0 ? number : missing;
}

void ctf_clock_init(struct ctf_clock *clock, const struct step_reader *reader)
{
    const struct step_definition *definition = step_reader_borrow_definition(reader);
    uint64_t resolution_ns = trace_resolution_ns(reader);
    uint64_t start_ns = ctf_metadata_number_of(reader, "start-time-ns", 0);
    if (start_ns > INT64_MAX / 2)
        start_ns = 0;
    bool is_part = resolution_ns <= NS_PER_S && NS_PER_S % resolution_ns == 0;
    *clock = (struct ctf_clock){.is_absolute = start_ns != 0,
                                .frequency = is_part ? NS_PER_S / resolution_ns : NS_PER_S,
                                .cycles_a_tick = is_part ? 1 : resolution_ns,
                                .offset_s = start_ns / NS_PER_S};
    uint64_t cycle_ns = NS_PER_S / clock->frequency;
    clock->offset_cycles = start_ns % NS_PER_S / cycle_ns;
    clock->most = ((uint64_t) INT64_MAX - start_ns) / cycle_ns - 1;
    for (uint32_t i = 0; i < definition->record_count; i++)
        clock->is_there = clock->is_there ||
                          step_record_find_property(definition, i, "time") != STEP_NO_PROPERTY_SLOT;
}

/* ---- texts ---- */

static void put_quoted(FILE *out, const char *text)
{
    size_t left = strlen(text);
    const uint8_t *at = (const uint8_t *) text;
    fputc('"', out);
    while (left > 0) {
        size_t length = step_show_length(at, left);
        if (length == 0)
            fputc('?', out);
        else if (*at == '"' || *at == '\\')
            fprintf(out, "\\%c", *at);
        else
            fwrite(at, 1, length, out);
        at += length > 0 ? length : 1;
        left -= length > 0 ? length : 1;
    }
    fputc('"', out);
}

/* "start-time-ns" becomes step_start_time_ns, because a name alone may be a keyword of TSDL. */
static void put_key(FILE *out, const char *key)
{
    fputs("step_", out);
    for (; *key != '\0'; key++) {
        bool is_plain = (*key >= 'a' && *key <= 'z') || (*key >= 'A' && *key <= 'Z') ||
                        (*key >= '0' && *key <= '9');
        fputc(is_plain ? *key : '_', out);
    }
}

static bool keys_are_alike(const char *left, const char *right)
{
    for (; *left != '\0' && *right != '\0'; left++, right++) {
        bool is_same = *left == *right || (strchr("-_. ", *left) && strchr("-_. ", *right));
        if (!is_same)
            return false;
    }
    return *left == *right;
}

static void put_environment(FILE *out, const struct step_reader *reader)
{
    size_t count = step_reader_property_count(reader);
    fputs("env {\n\tdomain = \"steptrace\";\n\ttracer_name = \"steptrace\";\n", out);
    for (size_t i = 0; i < count && i < PROPERTIES_MOST; i++) {
        const char *key = step_reader_property_key(reader, i);
        bool is_again = false;
        for (size_t k = 0; k < i && !is_again; k++)
            is_again = keys_are_alike(step_reader_property_key(reader, k), key);
        if (is_again)
            continue;
        fputc('\t', out);
        put_key(out, key);
        fputs(" = ", out);
        put_quoted(out, step_reader_property_value(reader, i));
        fputs(";\n", out);
    }
    fputs("};\n\n", out);
}

/* ---- types ---- */

static void put_plain_types(FILE *out)
{
    fputs("typealias integer { size = 8; align = 8; signed = false; base = 16; } := uint8;\n"
          "typealias integer { size = 32; align = 8; signed = false; } := uint32;\n"
          "typealias integer { size = 64; align = 8; signed = false; } := uint64;\n"
          "typealias integer { size = 64; align = 8; signed = true; } := int64;\n"
          "typealias integer { size = 64; align = 8; signed = false; base = 16; } := address;\n"
          "struct data { uint32 length; uint8 data[length]; };\n\n",
          out);
}

/* The type of the innermost elements. */
static void put_element_type(FILE *out, const struct step_field *field)
{
    if (step_field_is_identifier(field))
        fputs("uint64", out);
    else if (step_field_is_variant(field))
        fprintf(out, "struct any_%u", (unsigned) field->record);
    else if (field->kind == STEP_TYPE_RECORD)
        fprintf(out, "struct record_%u", (unsigned) field->record);
    else if (field->kind == STEP_TYPE_STRING)
        fputs("string", out);
    else if (field->kind == STEP_TYPE_DATA)
        fputs("struct data", out);
    else
        fputs(record_field_is_address(field)  ? "address"
              : step_field_is_unsigned(field) ? "uint64"
                                              : "int64",
              out);
}

static void put_elements_type(FILE *out, const struct step_field *field, uint32_t depth)
{
    if (depth == field->array_depth) {
        put_element_type(out, field);
        return;
    }
    fputs("struct { uint32 length; ", out);
    put_elements_type(out, field, depth + 1);
    fputs(" elements[length]; }", out);
}

/* Writes "NAME_length" before a field with many elements, with additional underscores if another
 * field has that name.  Returns false if memory runs out. */
static bool put_length(FILE *out, const struct step_record *type, const struct step_field *field,
                       char **name)
{
    size_t size = strlen(field->name) + type->field_count + sizeof "_length";
    *name = malloc(size);
    if (*name == NULL)
        return false;
    int length = snprintf(*name, size, "%s_length", field->name);
    for (char *end = *name + length; step_record_find_field(type, *name) != SIZE_MAX; *++end = '\0')
        *end = '_';
    fprintf(out, "uint32 %s; ", *name);
    return true;
}

static bool ctf_metadata_put_field(FILE *out, const struct ctf_types *types, uint32_t record,
                                   size_t i)
{
    const struct step_record *type = &types->definition->records[record];
    const struct step_field *field = &type->fields[i];
    bool is_data = field->array_depth == 0 && field->kind == STEP_TYPE_DATA;
    char *length = NULL;
    fputc('\t', out);
    if (types->as_text[record][i] != 0) {
        fprintf(out, "/* JSON */ string _%s;\n", field->name);
        return true;
    }
    if (!is_data && field->array_depth == 0) {
        put_element_type(out, field);
        fprintf(out, " _%s;\n", field->name);
        return true;
    }
    if (!put_length(out, type, field, &length))
        return false;
    if (is_data)
        fputs("uint8", out);
    else
        put_elements_type(out, field, 1);
    fprintf(out, " _%s[%s];\n", field->name, length);
    free(length);
    return true;
}

/* A record of any type that extends `base`. */
static void put_any(FILE *out, const struct ctf_types *types, uint32_t base)
{
    const struct step_definition *definition = types->definition;
    fprintf(out, "struct any_%u {\n\tenum : uint32 { ", (unsigned) base);
    for (uint32_t i = 0; i < definition->record_count; i++)
        if (step_record_extends(definition, i, base))
            fprintf(out, "%s = %u, ", types->labels[i], (unsigned) i);
    fprintf(out, "none = %u } tag;\n\tvariant <tag> {", (unsigned) definition->record_count);
    for (uint32_t i = 0; i < definition->record_count; i++)
        if (step_record_extends(definition, i, base))
            fprintf(out, " struct record_%u %s;", (unsigned) i, types->labels[i]);
    fputs(" struct { } none; } value;\n};\n", out);
}

/* Writes the types of a record's fields before the record.  Returns false if memory runs out. */
static bool ctf_metadata_put_record(FILE *out, const struct ctf_types *types, uint32_t record,
                                    uint8_t *is_there)
{
    const struct step_record *type = &types->definition->records[record];
    bool ok = true;
    for (size_t i = 0; i < type->field_count; i++) {
        const struct step_field *field = &type->fields[i];
        if (types->as_text[record][i] != 0 || !step_field_is_variant(field) ||
            is_there[field->record] != 0)
            continue;
        is_there[field->record] = 1;
        put_any(out, types, field->record);
    }
    fprintf(out, "struct record_%u { /* %s */\n", (unsigned) record, type->name);
    for (size_t i = 0; ok && i < type->field_count; i++)
        ok = ctf_metadata_put_field(out, types, record, i);
    fputs("};\n", out);
    return ok;
}

static bool ctf_metadata_put_records(FILE *out, const struct ctf_types *types)
{
    uint8_t *is_there =
        calloc(types->definition->record_count + 1, 1); /* by record: struct any_N was written */
    bool ok = is_there != NULL;
    for (size_t i = 0; ok && i < types->order_count; i++)
        ok = ctf_metadata_put_record(out, types, types->order[i], is_there);
    free(is_there);
    return ok;
}

/* ---- the trace ---- */

static void put_trace_and_clock(FILE *out, const struct ctf_clock *clock)
{
    fputs("trace {\n\tmajor = 1;\n\tminor = 8;\n\tbyte_order = le;\n"
          "\tpacket.header := struct { uint32 magic; uint32 stream_id; "
          "uint64 stream_instance_id; };\n};\n\n",
          out);
    if (!clock->is_there)
        return;
    fprintf(out,
            "clock {\n\tname = \"program\";\n\tdescription = \"time of the traced program\";\n"
            "\tfreq = %" PRIu64 ";\n\toffset_s = %" PRIu64 ";\n\toffset = %" PRIu64
            ";\n\tabsolute = %s;\n};\n"
            "typealias integer { size = 64; align = 8; signed = false; map = clock.program.value; }"
            " := time;\n\n",
            clock->frequency, clock->offset_s, clock->offset_cycles,
            clock->is_absolute ? "TRUE" : "FALSE");
}

static void put_stream(FILE *out, enum ctf_stream_class number, const struct ctf_clock *clock)
{
    fprintf(out,
            "stream {\n\tid = %u;\n\tpacket.context := struct { %suint64 content_size; "
            "uint64 packet_size; uint64 packet_seq_num; uint64 events_discarded; };\n"
            "\tevent.header := struct { uint32 id; %s};\n",
            (unsigned) number, clock->is_there ? "time timestamp_begin; time timestamp_end; " : "",
            clock->is_there ? "time timestamp; " : "");
    if (number == CTF_STREAM_OF_DICTIONARIES)
        fputs("\tevent.context := struct { uint64 id; };\n", out);
    fputs("};\n", out);
}

static void ctf_metadata_put_events(FILE *out, const struct step_definition *definition,
                                    enum ctf_stream_class stream)
{
    for (uint32_t i = 0; i < definition->record_count; i++)
        fprintf(out,
                "event { name = \"%s\"; id = %u; stream_id = %u; fields := struct record_%u; };\n",
                definition->records[i].name, (unsigned) i, (unsigned) stream, (unsigned) i);
}

bool ctf_metadata_put(FILE *out, const struct ctf_types *types, const struct step_reader *reader,
                      const struct ctf_clock *clock)
{
    fputs(CTF_METADATA_HEAD "\n", out);
    put_plain_types(out);
    put_trace_and_clock(out, clock);
    put_environment(out, reader);
    if (!ctf_metadata_put_records(out, types))
        return false;
    for (enum ctf_stream_class i = 0; i < CTF_STREAM_CLASSES; i++) {
        fputc('\n', out);
        put_stream(out, i, clock);
        ctf_metadata_put_events(out, types->definition, i);
    }
    return true;
}
