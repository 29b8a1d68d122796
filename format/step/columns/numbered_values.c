/* SPDX-License-Identifier: Apache-2.0 */
/* Numbering of values, compared as bytes. */
#include "format/step/columns/numbered_values.h"

#include <stdlib.h>

#include "format/codec/strategies/packed_strings.h"
#include "format/codec/strategies/scale.h"

struct step_numbered_values {
    struct step_buffer bytes; /* of the stored values, one after the other */
    struct step_string_numbers numbers;
    bool repeats;
};

bool step_numbered_create(uint32_t column_count, struct step_numbered_values **out)
{
    *out = calloc(column_count + (size_t) 1, sizeof **out);
    return *out != NULL;
}

void step_numbered_destroy(struct step_numbered_values *values, uint32_t column_count)
{
    for (uint32_t i = 0; values != NULL && i < column_count; i++) {
        step_buffer_reset(&values[i].bytes);
        step_string_numbers_reset(&values[i].numbers);
    }
    free(values);
}

void step_numbered_clear(struct step_numbered_values *values, uint32_t column)
{
    values[column].bytes.length = 0;
    values[column].repeats = false;
    step_string_numbers_clear(&values[column].numbers);
}

/* Returns the value that the file will have. */
static uint64_t rounded(const struct step_plan *plan, const struct step_plan_node *node,
                        uint64_t word)
{
    const struct step_field_coding *field_coding = &plan->columns[node->column].field_coding;
    return node->kind == STEP_NODE_VALUE && field_coding->resolution > 1
               ? step_scale_floor(field_coding->resolution, word, field_coding->column.is_signed)
               : word;
}

/* Appends the words and bytes of a value.  They are prefix-free, so different values differ. */
static bool append_value(const struct step_plan *plan, const struct step_plan_node *node,
                         struct step_word_source *source, struct step_buffer *out)
{
    bool good = true;
    if (!step_node_has_column(node) || node->kind == STEP_NODE_NUMBERED) {
        for (uint32_t i = 0; i < node->child_count && good; i++)
            good = append_value(plan, step_node_child(plan, node, i), source, out);
        return good;
    }
    uint64_t word = rounded(plan, node, *source->words++);
    if (!step_buffer_append(out, &word, sizeof word))
        return false;
    if (node->kind == STEP_NODE_BYTES) {
        const uint8_t *bytes = source->bytes;
        source->bytes += word;
        return step_buffer_append(out, bytes, (size_t) word);
    }
    if (node->kind == STEP_NODE_VARIANT)
        return append_value(plan, step_node_child(plan, node, step_node_variant(plan, node, word)),
                            source, out);
    if (node->kind == STEP_NODE_ARRAY || node->kind == STEP_NODE_TREE)
        for (uint64_t i = 0; i < word && good; i++)
            good = append_value(plan, step_node_child(plan, node, 0), source, out);
    return good;
}

bool step_numbered_find(struct step_numbered_values *values, const struct step_plan *plan,
                        const struct step_plan_node *node, struct step_word_source *source,
                        uint64_t *number)
{
    struct step_numbered_values *known = &values[node->column];
    size_t start = known->bytes.length, count = known->numbers.count;
    if (!append_value(plan, step_node_child(plan, node, 0), source, &known->bytes) ||
        !step_string_number(&known->numbers, known->bytes.data, start, known->bytes.length - start,
                            number))
        return false;
    if (known->numbers.count > count)
        return true;
    known->repeats = known->repeats || *number != 0;
    known->bytes.length = start;
    return true;
}

bool step_numbered_repeats(const struct step_numbered_values *values, uint32_t column)
{
    return values[column].repeats;
}
