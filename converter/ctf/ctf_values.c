/* SPDX-License-Identifier: Apache-2.0 */
/* What the metadata of ctf_metadata.c says, value by value. */
#include "converter/ctf/ctf_values.h"

#include <stdlib.h>
#include <string.h>

bool ctf_values_init(struct ctf_values *values, const struct ctf_types *types,
                     const struct step_reader *reader)
{
    *values = (struct ctf_values){.types = types};
    FILE *file = open_memstream(&values->text, &values->text_length);
    record_values_init(&values->json, reader, file);
    return file != NULL;
}

void ctf_values_reset(struct ctf_values *values)
{
    if (values->json.file != NULL)
        fclose(values->json.file);
    free(values->text);
    *values = (struct ctf_values){.types = NULL};
}

bool ctf_put_number(struct step_buffer *out, uint64_t value, size_t bytes)
{
    uint8_t little[8];
    for (size_t i = 0; i < sizeof little; i++)
        little[i] = (uint8_t) (value >> 8 * i);
    return step_buffer_append(out, little, bytes);
}

static bool put_bytes(const void *data, size_t length, struct step_buffer *out)
{
    return length <= UINT32_MAX && ctf_put_number(out, length, 4) &&
           step_buffer_append(out, data, length);
}

/* It ends with a zero; one within is C0 80, as in class files. */
static bool put_text(const uint8_t *text, size_t length, struct step_buffer *out)
{
    bool ok = true;
    for (const uint8_t *zero; ok && length > 0 && (zero = memchr(text, 0, length)) != NULL;
         text = zero + 1) {
        ok = step_buffer_append(out, text, (size_t) (zero - text)) &&
             step_buffer_append(out, "\xc0\x80", 2);
        length -= (size_t) (zero - text) + 1;
    }
    return ok && step_buffer_append(out, text, length) && ctf_put_number(out, 0, 1);
}

static bool put_json(struct ctf_values *values, const struct step_field *field,
                     const uint64_t *slots, struct step_buffer *out)
{
    rewind(values->json.file);
    record_values_put(&values->json, field, 0, slots, false);
    return fflush(values->json.file) == 0 &&
           put_text((const uint8_t *) values->text, values->text_length, out);
}

static bool put_value(struct ctf_values *values, const struct step_field *field, uint32_t depth,
                      const uint64_t *slots, struct step_buffer *out);

static bool put_array(struct ctf_values *values, const struct step_field *field, uint32_t depth,
                      const struct step_array *array, struct step_buffer *out)
{
    bool in_place = depth + 1 == field->array_depth && ctf_holds_record(field);
    size_t step = in_place ? step_record_slot_count(values->types->definition, field->record) : 1;
    bool ok = array->count <= UINT32_MAX && ctf_put_number(out, array->count, 4);
    for (size_t i = 0; ok && i < array->count; i++)
        ok = put_value(values, field, depth + 1, array->slots + i * step, out);
    return ok;
}

static bool put_variant(struct ctf_values *values, const struct step_variant *variant,
                        struct step_buffer *out)
{
    size_t count = values->types->definition->record_count;
    if (variant->record >= count)
        return ctf_put_number(out, count, 4);
    return ctf_put_number(out, variant->record, 4) &&
           ctf_values_put(values, variant->record, variant->slots, out);
}

static bool put_value(struct ctf_values *values, const struct step_field *field, uint32_t depth,
                      const uint64_t *slots, struct step_buffer *out)
{
    if (depth < field->array_depth)
        return put_array(values, field, depth, step_slot_array(*slots), out);
    if (field->kind == STEP_TYPE_INT || step_field_is_identifier(field))
        return ctf_put_number(out, *slots, 8);
    if (step_field_is_variant(field))
        return put_variant(values, step_slot_variant(*slots), out);
    if (field->kind == STEP_TYPE_RECORD)
        return ctf_values_put(values, field->record, slots, out);
    const struct step_bytes *bytes = step_slot_bytes(*slots);
    return field->kind == STEP_TYPE_STRING ? put_text(bytes->data, bytes->length, out)
                                           : put_bytes(bytes->data, bytes->length, out);
}

bool ctf_values_put(struct ctf_values *values, uint32_t record, const uint64_t *slots,
                    struct step_buffer *out)
{
    const struct step_definition *definition = values->types->definition;
    const struct step_record *type = &definition->records[record];
    bool ok = true;
    for (size_t i = 0; ok && i < type->field_count; i++) {
        const struct step_field *field = &type->fields[i];
        ok = values->types->as_text[record][i] != 0 ? put_json(values, field, slots, out)
                                                    : put_value(values, field, 0, slots, out);
        slots +=
            step_field_is_nested(field) ? step_record_slot_count(definition, field->record) : 1;
    }
    return ok;
}
