/* SPDX-License-Identifier: Apache-2.0 */
/* Values for records of any definition, and their comparison. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/format/definitions/values.h"

/* Arrays beyond are empty. */
enum { MOST_VALUES = 1 << 19, MOST_DEPTH = 3 };

static void *allocations[2 * MOST_VALUES];
static size_t allocation_count;
static unsigned variant_depth; /* variants around the value at hand */

static void *take(size_t size)
{
    void *memory = calloc(1, size + 1);
    if (memory == NULL || allocation_count == sizeof allocations / sizeof allocations[0])
        abort();
    allocations[allocation_count++] = memory;
    return memory;
}

void values_release(void)
{
    while (allocation_count > 0)
        free(allocations[--allocation_count]);
}

static uint64_t mix(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *seed >> 17;
}

static uint64_t make_number(bool is_unsigned, uint64_t *seed)
{
    static const uint64_t edges[] = {0, 1, 127, 128, 255, 65536, UINT64_C(1) << 40};
    uint64_t number = edges[mix(seed) % (sizeof edges / sizeof edges[0])] + mix(seed) % 3;
    if (!is_unsigned && mix(seed) % 3 == 0)
        return UINT64_C(0) - number;
    return is_unsigned && mix(seed) % 7 == 0 ? UINT64_MAX - number : number;
}

/* What a field of `size=N` bytes holds. */
static uint64_t fit(const struct step_field *field, uint64_t number)
{
    const char *argument;
    size_t length;
    if (!step_attributes_rule(&field->attributes, "encoding", "size", &argument, &length) ||
        length != 1 || *argument < '1' || *argument > '7')
        return number;
    unsigned bits = 8u * (unsigned) (*argument - '0');
    if (step_field_is_unsigned(field))
        return number & ((UINT64_C(1) << bits) - 1);
    return (uint64_t) ((int64_t) (number << (64 - bits)) >> (64 - bits));
}

static uint64_t make_bytes(uint64_t *seed)
{
    struct step_bytes *bytes = take(sizeof *bytes);
    bytes->length = mix(seed) % 6;
    uint8_t *data = take(bytes->length);
    for (size_t i = 0; i < bytes->length; i++)
        data[i] = (uint8_t) ('a' + mix(seed) % 26);
    bytes->data = data;
    return step_slot_of_bytes(bytes);
}

static size_t element_slots(const struct step_definition *definition,
                            const struct step_field *field, uint32_t depth)
{
    bool in_place = depth == field->array_depth && field->kind == STEP_TYPE_RECORD &&
                    !step_field_is_identifier(field) && !step_field_is_variant(field);
    return in_place ? step_record_slot_count(definition, field->record) : 1;
}

static uint64_t *make_record(const struct step_definition *definition, uint32_t record,
                             uint64_t *slots, uint64_t *seed);

/* Of the field's type, or one that extends it; none where values are deep enough. */
static uint64_t make_variant(const struct step_definition *definition,
                             const struct step_field *field, uint64_t *seed)
{
    if (variant_depth == MOST_DEPTH || allocation_count >= MOST_VALUES)
        return 0;
    struct step_variant *variant = take(sizeof *variant);
    uint32_t record = (uint32_t) (mix(seed) % definition->record_count);
    variant->record =
        step_record_extends(definition, record, field->record) ? record : field->record;
    uint64_t *slots =
        take((step_record_slot_count(definition, variant->record) + 1) * sizeof *slots);
    variant_depth++;
    make_record(definition, variant->record, slots, seed);
    variant_depth--;
    variant->slots = slots;
    return step_slot_of_variant(variant);
}

/* A value, or the elements of one, `depth` arrays below the field. */
static uint64_t *make_value(const struct step_definition *definition,
                            const struct step_field *field, uint32_t depth, uint64_t *slots,
                            uint64_t *seed)
{
    if (depth < field->array_depth) {
        struct step_array *array = take(sizeof *array);
        array->count = allocation_count < MOST_VALUES ? mix(seed) % 4 : 0;
        uint64_t *at =
            take(array->count * element_slots(definition, field, depth + 1) * sizeof *at);
        array->slots = at;
        for (size_t i = 0; i < array->count; i++)
            at = make_value(definition, field, depth + 1, at, seed);
        *slots++ = step_slot_of_array(array);
    } else if (step_field_is_identifier(field)) {
        *slots++ = mix(seed) % 4;
    } else if (step_field_is_variant(field)) {
        *slots++ = make_variant(definition, field, seed);
    } else if (field->kind == STEP_TYPE_RECORD) {
        slots = make_record(definition, field->record, slots, seed);
    } else {
        *slots++ = field->kind == STEP_TYPE_INT
                       ? fit(field, make_number(step_field_is_unsigned(field), seed))
                       : make_bytes(seed);
    }
    return slots;
}

static uint64_t *make_record(const struct step_definition *definition, uint32_t record,
                             uint64_t *slots, uint64_t *seed)
{
    for (size_t i = 0; i < definition->records[record].field_count; i++)
        slots = make_value(definition, &definition->records[record].fields[i], 0, slots, seed);
    return slots;
}

uint64_t *values_make(const struct step_definition *definition, uint32_t record, uint64_t seed)
{
    uint64_t *slots = take((step_record_slot_count(definition, record) + 1) * sizeof *slots);
    seed = seed * 1000003 + record;
    make_record(definition, record, slots, &seed);
    return slots;
}

bool same_bytes(const struct step_bytes *left, uint64_t slot)
{
    const struct step_bytes *right = step_slot_bytes(slot);
    return left->length == right->length &&
           (left->length == 0 || memcmp(left->data, right->data, left->length) == 0);
}

static bool same_value(const struct step_definition *definition, const struct step_field *field,
                       uint32_t depth, const uint64_t *left, const uint64_t *right);

bool values_same_elements(const struct step_definition *definition, const struct step_field *field,
                          uint32_t depth, const struct step_array *left,
                          const struct step_array *right)
{
    size_t step = element_slots(definition, field, depth + 1);
    bool same = left->count == right->count;
    for (size_t i = 0; same && i < left->count; i++)
        same = same_value(definition, field, depth + 1, left->slots + i * step,
                          right->slots + i * step);
    return same;
}

/* None reads as that in a tree, and as a record of the field's type elsewhere. */
static bool same_variant(const struct step_definition *definition, const struct step_field *field,
                         const struct step_variant *left, const struct step_variant *right)
{
    if (left != NULL && left->record == STEP_NO_RECORD)
        left = NULL;
    if (right != NULL && right->record == STEP_NO_RECORD)
        right = NULL;
    if (left == NULL || right == NULL)
        return left == right || (left != NULL ? left : right)->record == field->record;
    return left->record == right->record &&
           values_same(definition, left->record, left->slots, right->slots);
}

static bool same_value(const struct step_definition *definition, const struct step_field *field,
                       uint32_t depth, const uint64_t *left, const uint64_t *right)
{
    if (depth < field->array_depth)
        return values_same_elements(definition, field, depth, step_slot_array(*left),
                                    step_slot_array(*right));
    if (step_field_is_identifier(field) || field->kind == STEP_TYPE_INT)
        return *left == *right;
    if (step_field_is_variant(field))
        return same_variant(definition, field, step_slot_variant(*left), step_slot_variant(*right));
    return field->kind == STEP_TYPE_RECORD ? values_same(definition, field->record, left, right)
                                           : same_bytes(step_slot_bytes(*left), *right);
}

bool values_same(const struct step_definition *definition, uint32_t record, const uint64_t *left,
                 const uint64_t *right)
{
    bool same = true;
    for (size_t i = 0; same && i < definition->records[record].field_count; i++) {
        const struct step_field *field = &definition->records[record].fields[i];
        size_t slots = element_slots(definition, field, 0);
        same = same_value(definition, field, 0, left, right);
        left += slots;
        right += slots;
    }
    return same;
}
