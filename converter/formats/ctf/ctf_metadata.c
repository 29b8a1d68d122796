/* SPDX-License-Identifier: Apache-2.0 */
/* Writes CTF metadata: types, clock, streams, and an event class for each record type.  Field names
 * begin with an underscore, which readers remove, so that none is a keyword of TSDL.  Names that
 * other types refer to have no underscore, because babeltrace2 removes it from named types. */
#include "converter/formats/ctf/ctf_metadata.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "converter/base/trace_ticks.h"
#include "steptrace/show.h"

enum { PROPERTIES_MOST = 256 };
#define NS_PER_S UINT64_C(1000000000)

/* ---- clock ---- */

static uint64_t number_of(const struct step_reader *reader, const char *key, uint64_t missing)
{
    const char *text = step_reader_property(reader, key);
    uint64_t number = text != NULL ? strtoull(text, NULL, 10) : 0;
    return number != 0 ? number : missing;
}

void ctf_clock_init(struct ctf_clock *clock, const struct step_reader *reader)
{
    const struct step_definition *definition = step_reader_borrow_definition(reader);
    uint64_t resolution_ns = trace_resolution_ns(reader);
    uint64_t start_ns = number_of(reader, "start-time-ns", 0);
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

static bool is_address(const struct step_field *field)
{
    bool found = step_attributes_rule(&field->attributes, "property", "address", NULL, NULL);
    for (size_t i = 0; i < field->sub_attribute_count && field->array_depth > 0; i++)
        found = found || step_attributes_rule(&field->sub_attributes[i].attributes, "property",
                                              "address", NULL, NULL);
    return found;
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
        fputs(is_address(field)               ? "address"
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

static bool put_field(FILE *out, const struct ctf_types *types, uint32_t record, size_t i)
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
static bool put_record(FILE *out, const struct ctf_types *types, uint32_t record, uint8_t *is_there)
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
        ok = put_field(out, types, record, i);
    fputs("};\n", out);
    return ok;
}

static bool put_records(FILE *out, const struct ctf_types *types)
{
    uint8_t *is_there =
        calloc(types->definition->record_count + 1, 1); /* by record: struct any_N was written */
    bool ok = is_there != NULL;
    for (size_t i = 0; ok && i < types->order_count; i++)
        ok = put_record(out, types, types->order[i], is_there);
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

static void put_events(FILE *out, const struct step_definition *definition,
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
    if (!put_records(out, types))
        return false;
    for (enum ctf_stream_class i = 0; i < CTF_STREAM_CLASSES; i++) {
        fputc('\n', out);
        put_stream(out, i, clock);
        put_events(out, types->definition, i);
    }
    return true;
}
