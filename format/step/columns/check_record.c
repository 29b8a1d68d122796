/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks a record against its definition: walks its slots and checks each value.
 *
 * Values are compared as the file will have them, that is, rounded to the resolution of their field
 * (round first, then compare).  A constant that differs only in digits that the file drops is still
 * constant.
 *
 * The slots come from a caller, and may be any graph: a value of a tree may even contain itself.
 * Arrays and records nest as deep as the definition says, which STEP_MAX_NESTING limits.  Trees
 * nest as deep as their values, so check_inner() counts depth and values.  That ends the walk over
 * a circle, bounds the recursion, and refuses what a reader would refuse (block_link.c).
 */
#include "format/step/columns/check_record.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/step/layout.h"
#include "format/step/plan/charset.h"
#include "steptrace/value.h"

struct checking {
    struct step_check *check;
    const struct step_plan *plan;
    uint32_t record;
    struct step_error *error;
    struct checked_tree *tree; /* the current one */
};

struct checked_tree {
    const struct step_plan_node *node;
    uint32_t depth;
    uint64_t values;
};

void step_check_reset(struct step_check *check)
{
    for (size_t i = 0; check->values != NULL && i < check->node_count; i++)
        step_buffer_reset(&check->values[i]);
    free(check->values);
    step_buffer_reset(&check->value);
    step_pending_reset(&check->rows);
    free(check->constants);
    free(check->known);
    free(check->learnt);
    *check = (struct step_check){0};
}

/* Names the faulty value: "java.ObjectAlloc.size", with the part of the field: lengths, elements,
 * fields of records. */
static enum step_status check_record_refuse(const struct checking *checking, uint32_t index,
                                            const char *what)
{
    const struct step_plan_column *column = &checking->plan->columns[index];
    const struct step_definition *definition = checking->plan->definition;
    const struct step_record *owner = &definition->records[column->record];
    const char *part = column->kind == STEP_COLUMN_LENGTHS ? ".length"
                       : column->in_array                  ? ".element"
                                                           : "";
    return step_error_set(checking->error, STEP_STATUS_INVALID, NULL, STEP_NO_OFFSET,
                          "a record %.60s against its definition: field %.60s%s %s",
                          definition->records[checking->record].name,
                          owner->fields[column->field].name, part, what);
}

/* A fixed size limits what is written, and a field with a resolution is written as quotients
 * (strategies/scale.h): 60,000 with `resolution=1000` needs one byte.  `value` must be rounded, as
 * others than multiples have quotients that use the high bits. */
static uint64_t stored_value(const struct step_policy *policy, uint64_t value)
{
    if (policy->resolution <= 1)
        return value;
    struct step_scale scale = step_scale_of(policy->resolution);
    return step_scale_down(&scale, value);
}

/* Constants are remembered by column.  Record types that inherit a field unchanged share its
 * column, and hence its constant, just as they share the encoder of rows.  A writer has one struct
 * step_check for all its streams: encoders begin anew with each block, and alone would accept a
 * different constant in each.  (STEP paper, appendix B.1: a value that differs from the initial one
 * is an error.) */
static enum step_status check_value(const struct checking *checking, uint32_t index, uint64_t value)
{
    const struct step_policy *policy = &checking->plan->columns[index].field_coding.policy;
    struct step_check *check = checking->check;
    char what[120];
    value = step_field_coding_round(&checking->plan->columns[index].field_coding, value);
    if (policy->size == STEP_SIZE_FIXED &&
        step_policy_width(policy, stored_value(policy, value)) > policy->bytes) {
        snprintf(what, sizeof what, "is 0x%" PRIx64 ", which needs more than its %u bytes", value,
                 policy->bytes);
        return check_record_refuse(checking, index, what);
    }
    if (policy->general != STEP_CONSTANT)
        return STEP_STATUS_OK;
    if (!check->known[index]) {
        check->known[index] = 1;
        check->constants[index] = value;
        check->learnt[check->learnt_count++] = index;
    }
    if (check->constants[index] == value)
        return STEP_STATUS_OK;
    snprintf(what, sizeof what, "is constant, and changes from 0x%" PRIx64 " to 0x%" PRIx64,
             check->constants[index], value);
    return check_record_refuse(checking, index, what);
}

static enum step_status check_node(const struct checking *checking,
                                   const struct step_plan_node *node, const uint64_t *slots);

static enum step_status check_bytes(const struct checking *checking,
                                    const struct step_plan_node *node, uint64_t slot)
{
    const struct step_bytes *bytes = step_slot_bytes(slot);
    enum step_charset charset = checking->plan->columns[node->column].field_coding.charset;
    if (bytes != NULL && !step_charset_valid(charset, bytes->data, bytes->length))
        return check_record_refuse(checking, node->column,
                                   "has bytes that are not text in its charset");
    return check_value(checking, node->column, bytes != NULL ? bytes->length : 0);
}

/* A NULL slot is an empty value, here as in pending_records.c, which stores a length of 0 for it.
 * So NULL satisfies a constant length of 0, and learns it. */
static enum step_status check_array(const struct checking *checking,
                                    const struct step_plan_node *node, uint64_t slot)
{
    const struct step_plan *plan = checking->plan;
    const struct step_array *array = step_slot_array(slot);
    const struct step_plan_node *element = step_node_child(plan, node, 0);
    enum step_status status = check_value(checking, node->column, array != NULL ? array->count : 0);
    for (size_t i = 0; array != NULL && i < array->count && status == STEP_STATUS_OK; i++)
        status = check_node(checking, element, array->slots + i * element->slot_count);
    return status;
}

/* The record type of a variant selects the child that describes its slots.  If the plan has no
 * child for the type, its slots cannot be interpreted, so the walk must end here. */
static enum step_status check_variant(const struct checking *checking,
                                      const struct step_plan_node *node,
                                      const struct step_variant *variant)
{
    const struct step_plan *plan = checking->plan;
    if (variant == NULL)
        return STEP_STATUS_OK;
    uint32_t place = step_node_variant(plan, node, variant->record);
    if (place == STEP_NO_INDEX)
        return check_record_refuse(checking, node->column,
                                   "has a value of a type that does not extend its own");
    return check_node(checking, step_node_child(plan, node, place), variant->slots);
}

/*
 * Puts all parts of the value into check->value.
 *
 * The value is first taken apart as the writer would do it (step_pending_append_value()), and the
 * words are then rounded (step_words_append()).  The bytes are prefix-free, so equal bytes are
 * equal values, and one comparison of memory suffices for any nesting.  Within a tree, the values
 * that this one holds are not part of its own words.  They are in rows->tree, and their words
 * follow in that order; without the loop a constant could change below its first level.
 */
static enum step_status check_record_take_value(const struct checking *checking,
                                                const struct step_plan_node *node,
                                                const uint64_t *slots)
{
    static const uint8_t nothing[1] = {0};
    struct step_check *check = checking->check;
    const struct step_plan *plan = checking->plan;
    const struct step_plan_node *element =
        checking->tree != NULL ? step_node_child(plan, checking->tree->node, 0) : NULL;
    struct step_pending *rows = &check->rows;
    step_pending_clear(rows);
    check->value.length = 0;
    enum step_status status = step_pending_append_value(rows, plan, node, element, slots);
    struct step_word_source source = {rows->words,
                                      rows->bytes.data != NULL ? rows->bytes.data : nothing};
    bool good = status != STEP_STATUS_OK || step_words_append(plan, node, &source, &check->value);
    for (size_t i = 0;
         status == STEP_STATUS_OK && node->holds_inner && good && i < rows->tree_count; i++)
        good = step_words_append(plan, element, &source, &check->value);
    return good ? status : STEP_STATUS_NO_MEMORY;
}

/* Checks a compound value that is constant as a whole.  One that cannot be stored at all is left to
 * the other checks, which run later and name the reason: check_node() goes on into the value, and
 * step_pending_append() refuses what is too large.  A first value becomes the constant by exchange
 * of the two buffers; the old storage serves the next value. */
static enum step_status check_constant(const struct checking *checking,
                                       const struct step_plan_node *node, const uint64_t *slots)
{
    struct step_check *check = checking->check;
    size_t index = (size_t) (node - checking->plan->nodes);
    size_t place = checking->plan->column_count + index;
    struct step_buffer *value = &check->value, *constant = &check->values[index];
    enum step_status status = check_record_take_value(checking, node, slots);
    if (status != STEP_STATUS_OK)
        return status == STEP_STATUS_NO_MEMORY ? status : STEP_STATUS_OK;
    if (!check->known[place]) {
        struct step_buffer other = *constant;
        *constant = *value;
        *value = other;
        check->known[place] = 1;
        check->learnt[check->learnt_count++] = (uint32_t) place;
        return STEP_STATUS_OK;
    }
    if (value->length == constant->length &&
        (value->length == 0 || memcmp(value->data, constant->data, value->length) == 0))
        return STEP_STATUS_OK;
    while (node->kind == STEP_NODE_RECORD && node->child_count > 0) /* has no column itself */
        node = step_node_child(checking->plan, node, 0);
    return check_record_refuse(checking, node->column, "is constant, and changes");
}

/* Checks a value of a tree: it has `type`, or a type that extends it, or is none. */
static enum step_status check_inner(const struct checking *checking, uint32_t type,
                                    const struct step_variant *variant)
{
    const struct step_plan *plan = checking->plan;
    struct checked_tree *tree = checking->tree;
    const struct step_plan_node *element = step_node_child(plan, tree->node, 0);
    if (tree->values++ == STEP_MAX_TREE_VALUES)
        return check_record_refuse(checking, tree->node->column,
                                   "holds more values than 1,048,576");
    if (tree->depth == STEP_MAX_TREE_DEPTH)
        return check_record_refuse(checking, tree->node->column,
                                   "holds values more than 1,000 deep");
    if (variant == NULL || variant->record == STEP_NO_RECORD)
        return STEP_STATUS_OK;
    if (variant->record >= plan->definition->record_count ||
        !step_record_extends(plan->definition, variant->record, type))
        return check_record_refuse(checking, tree->node->column,
                                   "has a value of a type that does not extend its own");
    tree->depth++;
    enum step_status status = check_variant(checking, element, variant);
    tree->depth--;
    return status;
}

/* Values and depth of a tree are limited: they are counted for each tree anew.  The
 * counters belong to this call, as a record may have several trees. */
static enum step_status check_tree(const struct checking *checking,
                                   const struct step_plan_node *node, uint64_t slot)
{
    struct checked_tree tree = {node, 0, 0};
    struct checking inner = *checking;
    inner.tree = &tree;
    return check_inner(&inner, node->record, step_slot_variant(slot));
}

/* The constant as a whole comes first, then the parts.  A compound constant that changes is thus
 * reported for its field, and not for a part that happens to have a limit of its own. */
static enum step_status check_node(const struct checking *checking,
                                   const struct step_plan_node *node, const uint64_t *slots)
{
    const struct step_plan *plan = checking->plan;
    enum step_status status = STEP_STATUS_OK;
    if (node->constant)
        status = check_constant(checking, node, slots);
    if (status != STEP_STATUS_OK)
        return status;
    switch (node->kind) {
    case STEP_NODE_VALUE:
        return check_value(checking, node->column, slots[0]);
    case STEP_NODE_BYTES:
        return check_bytes(checking, node, slots[0]);
    case STEP_NODE_ARRAY:
        return check_array(checking, node, slots[0]);
    case STEP_NODE_VARIANT:
        return check_variant(checking, node, step_slot_variant(slots[0]));
    case STEP_NODE_TREE:
        return check_tree(checking, node, slots[0]);
    case STEP_NODE_INNER:
        return check_inner(checking, node->record, step_slot_variant(slots[0]));
    case STEP_NODE_NUMBERED:
        return check_node(checking, step_node_child(plan, node, 0), slots);
    case STEP_NODE_RECORD:
        break;
    }
    for (uint32_t i = 0; i < node->child_count && status == STEP_STATUS_OK; i++) {
        const struct step_plan_node *child = step_node_child(plan, node, i);
        status = check_node(checking, child, slots);
        slots += child->slot_count;
    }
    return status;
}

/* The first value of a constant is learnt from the record that has it.  If that record is
 * refused by a later check, the value must be forgotten: `learnt` says which were new in the
 * last record. */
void step_check_forget(struct step_check *check)
{
    while (check->learnt_count > 0)
        check->known[check->learnt[--check->learnt_count]] = 0;
}

/* Storage is allocated with the first record that needs a check; a definition may have none.
 * `learnt` cannot overflow: a place is added when its `known` turns from 0 to 1, and there is room
 * for each place once.  After a refusal everything learnt from this record is forgotten, or the
 * next record would be compared with a value that is not in the trace.  Callers that refuse the
 * record later, for its size or the dictionary's, call step_check_forget() themselves. */
enum step_status step_check_record(struct step_check *check, const struct step_plan *plan,
                                   uint32_t record, const uint64_t *slots, struct step_error *error)
{
    struct checking checking = {check, plan, record, error, NULL};
    const struct step_plan_record *planned = &plan->records[record];
    if (check->constants == NULL)
        check->constants = calloc(plan->column_count + 1u, sizeof *check->constants);
    size_t places = plan->column_count + (size_t) plan->node_count + 1;
    check->node_count = plan->node_count;
    if (check->values == NULL)
        check->values = calloc(plan->node_count + (size_t) 1, sizeof *check->values);
    if (check->known == NULL)
        check->known = calloc(places, sizeof *check->known);
    if (check->learnt == NULL)
        check->learnt = calloc(places, sizeof *check->learnt);
    if (check->constants == NULL || check->known == NULL || check->values == NULL ||
        check->learnt == NULL)
        return STEP_STATUS_NO_MEMORY;
    check->learnt_count = 0;
    enum step_status status = STEP_STATUS_OK;
    for (uint32_t i = 0; i < planned->field_count && status == STEP_STATUS_OK; i++) {
        const struct step_plan_node *node = &plan->nodes[planned->field_nodes[i]];
        status = check_node(&checking, node, slots);
        slots += node->slot_count;
    }
    if (status != STEP_STATUS_OK)
        step_check_forget(check);
    return status;
}
