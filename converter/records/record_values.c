/* SPDX-License-Identifier: Apache-2.0 */
/* Formats records of any definition as JSON. */
#include "converter/records/record_values.h"

#include <inttypes.h>
#include <string.h>

void record_values_init(struct record_values *values, const struct step_reader *reader, FILE *file)
{
    *values = (struct record_values){
        .reader = reader, .definition = step_reader_borrow_definition(reader), .file = file};
    json_init(&values->json, file);
    values->json.is_compact = true;
}

static void put_name(struct record_values *values, const char *name, bool first)
{
    fprintf(values->file, "%s\"%s\":", first ? "" : ",", name);
}

static const uint64_t *put_fields(struct record_values *values, uint32_t record,
                                  const uint64_t *slots, bool entries, bool first)
{
    const struct step_record *type = &values->definition->records[record];
    for (size_t i = 0; i < type->field_count; i++) {
        const struct step_field *field = &type->fields[i];
        put_name(values, field->name, first && i == 0);
        if (step_field_is_nested(field)) {
            fputc('{', values->file);
            slots = put_fields(values, field->record, slots, entries, true);
            fputc('}', values->file);
        } else {
            record_values_put(values, field, 0, slots++, entries);
        }
    }
    return slots;
}

static void put_record(struct record_values *values, uint32_t record, const uint64_t *slots,
                       bool entries)
{
    fprintf(values->file, "{\"$record\":\"%s\"", values->definition->records[record].name);
    put_fields(values, record, slots, entries, false);
    fputc('}', values->file);
}

static void put_entry(struct record_values *values, uint32_t record, uint64_t id)
{
    const uint64_t *entry =
        id != 0 ? step_reader_dictionary_entry(values->reader, record, id) : NULL;
    if (id == 0) {
        fputs("null", values->file);
        return;
    }
    fprintf(values->file, "{\"$id\":%" PRIu64, id);
    if (entry != NULL)
        put_fields(values, record, entry, false, false);
    fputc('}', values->file);
}

static void put_array(struct record_values *values, const struct step_field *field, uint32_t depth,
                      const struct step_array *array, bool entries)
{
    bool by_value = depth + 1 == field->array_depth && field->kind == STEP_TYPE_RECORD &&
                    !step_field_is_identifier(field) && !step_field_is_variant(field);
    size_t step = by_value ? step_record_slot_count(values->definition, field->record) : 1;
    fputc('[', values->file);
    for (size_t i = 0; i < array->count; i++) {
        if (i > 0)
            fputc(',', values->file);
        record_values_put(values, field, depth + 1, array->slots + i * step, entries);
    }
    fputc(']', values->file);
}

static void put_variant(struct record_values *values, const struct step_variant *variant,
                        bool entries)
{
    if (variant->record >= values->definition->record_count)
        fputs("null", values->file);
    else
        put_record(values, variant->record, variant->slots, entries);
}

void record_values_put(struct record_values *values, const struct step_field *field, uint32_t depth,
                       const uint64_t *slots, bool entries)
{
    if (depth < field->array_depth)
        put_array(values, field, depth, step_slot_array(*slots), entries);
    else if (step_field_is_identifier(field) && entries)
        put_entry(values, field->record, *slots);
    else if (step_field_is_identifier(field))
        fprintf(values->file, "%" PRIu64, *slots);
    else if (step_field_is_variant(field))
        put_variant(values, step_slot_variant(*slots), entries);
    else if (field->kind == STEP_TYPE_STRING)
        json_bytes(&values->json, NULL, *step_slot_bytes(*slots));
    else if (field->kind == STEP_TYPE_DATA)
        json_hex(&values->json, NULL, *step_slot_bytes(*slots));
    else if (field->kind == STEP_TYPE_INT)
        fprintf(values->file, step_field_is_unsigned(field) ? "%" PRIu64 : "%" PRId64, *slots);
    else {
        fputc('{', values->file);
        put_fields(values, field->record, slots, entries, true);
        fputc('}', values->file);
    }
}

void record_values_put_line(struct record_values *values, const struct step_record_view *view)
{
    put_record(values, view->record, view->slots, true);
    fputc('\n', values->file);
}
