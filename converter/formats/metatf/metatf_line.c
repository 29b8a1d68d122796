/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a record by walking over its fields and values, with a printer for each form. */
#include "converter/formats/metatf/metatf_trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "converter/cli/csv_output.h"
#include "converter/cli/error_report.h"
#include "format/core/grow.h"
#include "format/json/json_output.h"
#include "steptrace/show.h"

/* The remaining values of a record. */
struct values {
    const struct metatf_record *record;
    const struct metatf_value *at, *end;
};

static bool mtf_line_is_text(struct step_bytes bytes)
{
    size_t length = 0;
    for (size_t at = 0; at < bytes.length; at += length)
        if ((length = step_show_length(bytes.data + at, bytes.length - at)) == 0)
            return false;
    return true;
}

static void put_hex(struct step_bytes bytes, FILE *out)
{
    for (size_t i = 0; i < bytes.length; i++)
        fprintf(out, "%02x", bytes.data[i]);
}

/* Returns the next value of the field.  Events of a trace have all their values. */
static struct metatf_value mtf_line_take(struct values *values)
{
    return values->at < values->end ? *values->at++ : (struct metatf_value){.number = 0};
}

/* ---- text ---- */

void metatf_name_put(const struct metatf_section *section, const struct metatf_record *record,
                     FILE *out)
{
    if (section->name[0] != '\0')
        fprintf(out, "%s.", section->name);
    fputs(record->name, out);
}

static void put_quoted(struct step_bytes text, FILE *out)
{
    fputc('"', out);
    for (size_t i = 0; i < text.length; i++) {
        if (text.data[i] == '"' || text.data[i] == '\\')
            fputc('\\', out);
        fputc(text.data[i], out);
    }
    fputc('"', out);
}

static void mtf_line_put_bytes(struct step_bytes bytes, FILE *out)
{
    if (mtf_line_is_text(bytes)) {
        put_quoted(bytes, out);
        return;
    }
    fputs("x'", out);
    put_hex(bytes, out);
    fputc('\'', out);
}

static void mtf_line_put_fields(struct values *values, uint32_t first, uint32_t count, FILE *out)
{
    for (uint32_t i = first; i < first + count; i++) {
        const struct metatf_field *field = &values->record->fields[i];
        struct metatf_value value = mtf_line_take(values);
        fprintf(out, "%s%s=", i > first ? " " : "", field->path);
        if (field->kind == METATF_BYTES)
            mtf_line_put_bytes(value.bytes, out);
        else
            fprintf(out, "%" PRIu64, value.number);
        for (uint64_t k = 0; field->repeat > 0 && k < value.number && values->at < values->end;
             k++) {
            fputs(" [", out);
            mtf_line_put_fields(values, i + 1, field->repeat, out);
            fputc(']', out);
        }
        i += field->repeat;
    }
}

static const struct metatf_record *record_with_tag(const struct metatf_section *section,
                                                   uint64_t tag)
{
    for (uint32_t i = 0; i < section->record_count; i++)
        if (section->records[i].tag == tag)
            return &section->records[i];
    return NULL;
}

static void mtf_line_put_metadata(const struct metatf_event *event, FILE *out)
{
    const struct metatf_metadata *metadata = &event->metadata;
    const struct metatf_record *record = record_with_tag(event->section, metadata->tag);
    uint8_t interpretation = metatf_property_interpretation(metadata->property);
    if (record == NULL || metadata->field >= record->field_count)
        return;
    fputs("# set ", out);
    metatf_name_put(event->section, record, out);
    fprintf(out, ".%s ", record->fields[metadata->field].path);
    if (metadata->property == METATF_PROPERTY_WIDTH)
        fprintf(out, "width %" PRIu64 "\n", metadata->value);
    else if (interpretation == STEP_FIELD_NONE)
        fputs("interpretation none\n", out);
    else if (interpretation == STEP_FIELD_STRIDE || interpretation == STEP_FIELD_SECTION_STRIDE)
        fprintf(out, "interpretation %s %" PRIu64 " %" PRId64 "\n",
                metatf_interpretation_name(interpretation), metadata->value,
                (int64_t) metadata->stride);
    else
        fprintf(out, "interpretation %s %" PRIu64 "\n", metatf_interpretation_name(interpretation),
                metadata->value);
}

static void put_comment(const struct metatf_event *event, FILE *out)
{
    struct step_bytes text = {NULL, 0};
    if (event->value_count > 0)
        text = event->values[event->value_count - 1].bytes;
    fputs("# ", out);
    print_shown(text, out);
    fputc('\n', out);
}

void metatf_line_put(const struct metatf_event *event, FILE *out)
{
    struct values values = {event->record, event->values + 1, event->values + event->value_count};
    switch (event->record->role) {
    case METATF_COMMENT:
        put_comment(event, out);
        return;
    case METATF_METADATA:
        mtf_line_put_metadata(event, out);
        return;
    case METATF_SECTION:
        return;
    case METATF_DATA:
        break;
    }
    metatf_name_put(event->section, event->record, out);
    if (event->record->field_count > 1)
        fputc(' ', out);
    mtf_line_put_fields(&values, 1, event->record->field_count - 1, out);
    fputc('\n', out);
}

/* ---- JSON ---- */

static void put_json_value(struct json_output *json, const struct metatf_field *field,
                           const struct metatf_value *value)
{
    if (field->kind == METATF_NUMBER) {
        json_number(json, field->path, value->number);
    } else if (mtf_line_is_text(value->bytes)) {
        json_bytes(json, field->path, value->bytes);
    } else {
        json_hex(json, field->path, value->bytes);
    }
}

static void put_json_fields(struct json_output *json, struct values *values, uint32_t first,
                            uint32_t count);

static void put_json_elements(struct json_output *json, struct values *values, uint32_t field,
                              uint64_t times, const char *key)
{
    json_begin_array(json, key);
    for (uint64_t k = 0; k < times && values->at < values->end; k++) {
        /* nested too deeply: the values are skipped */
        bool fits = json->depth + 2 < JSON_DEPTH_MAX;
        if (fits)
            json_begin_object(json, NULL);
        if (fits)
            put_json_fields(json, values, field + 1, values->record->fields[field].repeat);
        else
            values->at = values->end;
        if (fits)
            json_end_object(json);
    }
    json_end_array(json);
}

static void put_json_fields(struct json_output *json, struct values *values, uint32_t first,
                            uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++) {
        const struct metatf_field *field = &values->record->fields[i];
        struct metatf_value value = mtf_line_take(values);
        put_json_value(json, field, &value);
        if (field->repeat > 0) {
            char key[4200];
            snprintf(key, sizeof key, "elements of %s", field->path);
            put_json_elements(json, values, i, value.number, key);
        }
        i += field->repeat;
    }
}

void metatf_json_put(const struct metatf_event *event, FILE *out)
{
    struct values values = {event->record, event->values + 1, event->values + event->value_count};
    struct json_output json;
    json_init(&json, out);
    json.is_compact = true;
    json_begin_object(&json, NULL);
    json_text(&json, "section", event->section->name);
    json_text(&json, "record", event->record->name);
    put_json_fields(&json, &values, 1, event->record->field_count - 1);
    json_end_object(&json);
    fputc('\n', out);
}

/* ---- a table ---- */

static bool add_path(struct metatf_columns *columns, const char *path, size_t *capacity)
{
    for (size_t i = 0; i < columns->count; i++)
        if (strcmp(columns->paths[i], path) == 0)
            return true;
    if (!STEP_MAKE_ROOM(columns->paths, *capacity, columns->count + 1))
        return false;
    columns->paths[columns->count++] = path;
    return true;
}

bool metatf_columns_init(struct metatf_columns *columns, const struct metatf_dtd *dtd)
{
    size_t capacity = 0;
    *columns = (struct metatf_columns){.count = 0};
    columns->starts = calloc(METATF_FIELD_LIMIT, sizeof *columns->starts);
    if (columns->starts == NULL)
        return false;
    for (uint32_t s = 0; s < dtd->section_count; s++)
        for (uint32_t r = 0; r < dtd->sections[s].record_count; r++) {
            const struct metatf_record *record = &dtd->sections[s].records[r];
            for (uint32_t f = 1; record->role == METATF_DATA && f < record->field_count; f++) {
                if (!add_path(columns, record->fields[f].path, &capacity))
                    return false;
                f += record->fields[f].repeat;
            }
        }
    return true;
}

void metatf_columns_reset(struct metatf_columns *columns)
{
    free(columns->paths);
    free(columns->starts);
    *columns = (struct metatf_columns){.count = 0};
}

void metatf_columns_put_head(const struct metatf_columns *columns, FILE *out)
{
    fputs("section,record", out);
    for (size_t i = 0; i < columns->count; i++)
        fprintf(out, ",%s", columns->paths[i]);
    fputc('\n', out);
}

/* A count and the repeated elements: [{...},{...}]. */
static void put_cell_elements(struct values *values, uint32_t field, uint64_t times, FILE *out)
{
    struct json_output json;
    char *text = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&text, &length);
    if (memory == NULL)
        return;
    json_init(&json, memory);
    json.is_compact = true;
    put_json_elements(&json, values, field, times, NULL);
    fclose(memory);
    csv_put_text((struct step_bytes){(const uint8_t *) text, length}, out);
    free(text);
}

static void mtf_line_put_cell(struct values values, uint32_t field, FILE *out)
{
    const struct metatf_field *model = &values.record->fields[field];
    struct metatf_value value = mtf_line_take(&values);
    if (model->repeat > 0)
        put_cell_elements(&values, field, value.number, out);
    else if (model->kind == METATF_NUMBER)
        fprintf(out, "%" PRIu64, value.number);
    else if (mtf_line_is_text(value.bytes))
        csv_put_text(value.bytes, out);
    else
        put_hex(value.bytes, out);
}

static void pass_over(struct values *values, uint32_t first, uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++) {
        uint32_t repeat = values->record->fields[i].repeat;
        uint64_t times = mtf_line_take(values).number;
        for (uint64_t k = 0; repeat > 0 && k < times && values->at < values->end; k++)
            pass_over(values, i + 1, repeat);
        i += repeat;
    }
}

/* Fields of one name may be in different orders in different records. */
void metatf_columns_put(const struct metatf_columns *columns, const struct metatf_event *event,
                        FILE *out)
{
    const struct metatf_record *record = event->record;
    struct values values = {record, event->values + 1, event->values + event->value_count};
    for (uint32_t f = 1; f < record->field_count; f += 1 + record->fields[f].repeat) {
        columns->starts[f] = values.at;
        pass_over(&values, f, 1);
    }
    fprintf(out, "%s,%s", event->section->name, record->name);
    for (size_t i = 0; i < columns->count; i++) {
        fputc(',', out);
        for (uint32_t f = 1; f < record->field_count; f += 1 + record->fields[f].repeat)
            if (strcmp(record->fields[f].path, columns->paths[i]) == 0)
                mtf_line_put_cell((struct values){record, columns->starts[f], values.end}, f, out);
    }
    fputc('\n', out);
}
