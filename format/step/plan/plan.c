/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the plan of a definition, record by record.
 *
 * Records come in the order of the definition, parents before children.  So when an inherited field
 * is met, the record that declares it has its nodes already, and the field shares them unless it
 * was modified: subtypes put the values of an inherited field into one column, in the order of the
 * records.  That is what makes `time` of all events a single sorted column.  Columns are thus
 * ascending by record, field and leaf, and found by binary search.
 *
 * References to columns of other records (`age`, `linked`) are resolved when all records are done,
 * since they may name later ones.  At last step_plan_order() cuts the circles that they may form.
 */
#include "format/step/plan/plan.h"

#include <stdlib.h>
#include <string.h>

#include "format/codec/strategies/policy.h"
#include "format/core/step_no_memory.h"
#include "format/step/layout.h"
#include "format/step/plan/plan_build.h"

/* Makes the node of a record's field: its own, or the one shared with the declaring record.  A
 * definition may come from a compiled table, which no parser has checked.  So what the sharing
 * relies on is checked: an inherited field must exist in the record that it names, and have the
 * same type there. */
static uint32_t build_field(struct step_plan_builder *builder)
{
    const struct step_definition *definition = builder->definition;
    const struct step_record *record = &definition->records[builder->record];
    const struct step_field *field = &record->fields[builder->field];
    if (record->parent != STEP_NO_RECORD && field->declaring_record != builder->record &&
        builder->field < definition->records[record->parent].field_count &&
        step_field_is_variant(field) !=
            step_field_is_variant(&definition->records[record->parent].fields[builder->field]))
        return step_plan_fail(builder, STEP_STATUS_INVALID,
                              "only the record that declares it may say whether its type varies");
    if (field->modified || field->declaring_record == builder->record) {
        struct step_plan_scope scope = {field, "", NULL, definition};
        return step_plan_element(builder, &scope, field->array_depth, false, 0);
    }
    if (field->declaring_record > builder->record ||
        builder->field >= definition->records[field->declaring_record].field_count)
        return step_plan_fail(builder, STEP_STATUS_INVALID,
                              "inherited from a record that lacks it");
    const struct step_field *origin =
        &definition->records[field->declaring_record].fields[builder->field];
    if (origin->kind != field->kind || origin->record != field->record ||
        origin->array_depth != field->array_depth ||
        origin->declaring_record != field->declaring_record)
        return step_plan_fail(builder, STEP_STATUS_INVALID, "differs from the inherited field");
    return builder->plan->records[field->declaring_record].field_nodes[builder->field];
}

/* A record is checked value by value (check_record.h) only if its definition can be violated at
 * all.  Most cannot, and take the fast way through the writer. */
static bool needs_check(const struct step_plan *plan, const struct step_plan_node *node)
{
    if (node->constant)
        return true;
    if (step_node_has_column(node)) {
        const struct step_field_coding *field_coding = &plan->columns[node->column].field_coding;
        if (field_coding->policy.general == STEP_CONSTANT ||
            field_coding->policy.size == STEP_SIZE_FIXED ||
            field_coding->charset != STEP_CHARSET_ANY || node->kind == STEP_NODE_VARIANT ||
            node->kind == STEP_NODE_TREE)
            return true;
    }
    for (uint32_t i = 0; i < node->child_count; i++)
        if (needs_check(plan, step_node_child(plan, node, i)))
            return true;
    return false;
}

/* Leaves are counted anew for each field, so a column's name in the file depends on its field only,
 * and not on the columns of other fields.  `slot_columns` has an entry for each field, which is one
 * for each slot if the record is flat; it means nothing otherwise. */
static void plan_record(struct step_plan_builder *builder, uint32_t **storage)
{
    const struct step_record *record = &builder->definition->records[builder->record];
    struct step_plan_record *planned = &builder->plan->records[builder->record];
    uint32_t *field_nodes = *storage;
    planned->field_nodes = field_nodes;
    planned->field_count = (uint32_t) record->field_count;
    planned->flat = true;
    *storage += record->field_count;
    uint32_t *slot_columns = *storage;
    planned->slot_columns = slot_columns;
    *storage += record->field_count;
    for (builder->field = 0; builder->field < record->field_count; builder->field++) {
        uint32_t i = builder->field;
        builder->leaf = 0;
        field_nodes[i] = build_field(builder);
        if (builder->status != STEP_STATUS_OK)
            return;
        step_plan_resolve_given(builder, field_nodes);
        const struct step_plan_node *node = &builder->plan->nodes[field_nodes[i]];
        planned->slot_count += node->slot_count;
        planned->flat = planned->flat && node->kind == STEP_NODE_VALUE;
        planned->checked = planned->checked || needs_check(builder->plan, node);
        slot_columns[i] = node->column;
    }
}

static enum step_status count_fields(struct step_plan_builder *builder, size_t *count)
{
    const struct step_definition *definition = builder->definition;
    *count = 0;
    if (definition->record_count == 0 || definition->record_count > STEP_MAX_RECORD_TYPES)
        return step_error_set(builder->error, STEP_STATUS_LIMIT, NULL, STEP_NO_OFFSET,
                              "the definition has %zu record types; 1 to %u are possible",
                              definition->record_count, STEP_MAX_RECORD_TYPES);
    for (size_t i = 0; i < definition->record_count; i++) {
        if (definition->records[i].field_count > STEP_MAX_FIELDS - *count)
            return step_error_set(builder->error, STEP_STATUS_LIMIT, NULL, STEP_NO_OFFSET,
                                  "the definition has too many fields");
        *count += definition->records[i].field_count;
    }
    return STEP_STATUS_OK;
}

/* A value that is measured from the latest one of another column is not rounded: the difference
 * from one that was not rounded the same way is no multiple.  A `given` whose field was not found
 * is dropped. */
static enum step_status build(struct step_plan_builder *builder)
{
    struct step_plan *plan = builder->plan;
    size_t count;
    enum step_status status = count_fields(builder, &count);
    if (status != STEP_STATUS_OK)
        return status;
    plan->records = calloc(builder->definition->record_count, sizeof *plan->records);
    plan->storage = calloc(2 * count + 1, sizeof *plan->storage);
    if (plan->records == NULL || plan->storage == NULL)
        return STEP_STATUS_NO_MEMORY;
    uint32_t *storage = plan->storage;
    uint32_t record_count = (uint32_t) builder->definition->record_count;
    for (uint32_t i = 0; i < record_count && builder->status == STEP_STATUS_OK; i++) {
        builder->record = i;
        plan_record(builder, &storage);
    }
    if (builder->status != STEP_STATUS_OK)
        return builder->status;
    for (uint32_t i = 0; i < plan->column_count; i++) {
        struct step_plan_column *column = &plan->columns[i];
        bool given = column->given_field != STEP_NO_INDEX || column->given_column != STEP_NO_INDEX;
        if (step_policy_follows(&column->field_coding.policy))
            step_plan_resolve_followed(plan, column);
        step_plan_resolve_linked(plan, i);
        struct step_policy *policy = &column->field_coding.policy;
        enum step_series_kind needs = step_policy_strategy(policy)->needs;
        if (needs == STEP_SERIES_LATEST) /* the reference value is not rounded the same way */
            policy->resolution = 0;
        if (needs == STEP_SERIES_FIELD && !given)
            policy->targeted = STEP_TARGETED_NONE;
    }
    return step_plan_order(plan);
}

static enum step_status plan_create(const struct step_definition *definition,
                                    struct step_plan **out, struct step_plan_place *place,
                                    struct step_error *error)
{
    *out = NULL;
    struct step_plan *plan = calloc(1, sizeof *plan);
    if (plan == NULL)
        return step_no_memory(error, NULL);
    plan->definition = definition;
    struct step_plan_builder builder = {.plan = plan, .definition = definition, .error = error};
    enum step_status status = build(&builder);
    step_plan_types_reset(&builder.types);
    *place = (struct step_plan_place){builder.record, builder.field};
    if (status == STEP_STATUS_OK) {
        *out = plan;
        return status;
    }
    if (status == STEP_STATUS_NO_MEMORY)
        step_no_memory(error, NULL);
    step_plan_destroy(plan);
    return status;
}

enum step_status step_plan_create(const struct step_definition *definition, struct step_plan **out,
                                  struct step_error *error)
{
    struct step_plan_place place;
    return plan_create(definition, out, &place, error);
}

enum step_status step_plan_check(const struct step_definition *definition,
                                 struct step_plan_place *place, struct step_error *error)
{
    struct step_plan *plan;
    enum step_status status = plan_create(definition, &plan, place, error);
    step_plan_destroy(plan);
    return status;
}

void step_plan_destroy(struct step_plan *plan)
{
    if (plan == NULL)
        return;
    free(plan->columns);
    free(plan->nodes);
    free(plan->children);
    free(plan->records);
    free(plan->storage);
    free(plan);
}

/* Columns are in order of record, field and leaf. */
uint32_t step_plan_find_column(const struct step_plan *plan, uint64_t record, uint64_t field,
                               uint64_t leaf)
{
    uint32_t low = 0;
    uint32_t high = plan->column_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct step_plan_column *column = &plan->columns[middle];
        if (column->record == record && column->field == field && column->leaf == leaf)
            return middle;
        bool before = column->record != record ? column->record < record
                      : column->field != field ? column->field < field
                                               : column->leaf < leaf;
        if (before)
            low = middle + 1;
        else
            high = middle;
    }
    return STEP_NO_INDEX;
}
