/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the columns that a column's encoding refers to: `given`, `stack`, `age`.
 *
 * A reference that is not found is dropped, and the field is encoded without it: attributes are
 * hints, and what they ask for may not exist in a record that inherits them.  (stepc checks
 * definitions for it.) `given` may only name an earlier field: in rows, where values are read one
 * after the other, a later one would not be known.  `stack` and `age` name records anywhere in the
 * definition, so they are resolved after all records.
 */
#include "format/codec/strategies/policy.h"
#include "format/language/dl_tree.h"
#include "format/step/plan/plan_build.h"

/* Returns true if it refers to another field of the record, as `given` does. */
static bool names_field(const struct step_field_coding *field_coding)
{
    return field_coding->given != NULL && !step_policy_follows(&field_coding->policy) &&
           step_strategies[field_coding->given_by]->needs == STEP_SERIES_FIELD;
}

/* Finds the field that a field is `given`: an earlier, single-valued one of its record, whose
 * fields have these nodes.  Returns its index, or STEP_NO_INDEX. */
static uint32_t given_field(struct step_plan *plan, const struct step_record *record, size_t field,
                            const uint32_t *nodes)
{
    const struct step_plan_node *node = &plan->nodes[nodes[field]];
    if (node->kind != STEP_NODE_VALUE || !names_field(&plan->columns[node->column].field_coding))
        return STEP_NO_INDEX;
    struct step_field_coding *coding = &plan->columns[node->column].field_coding;
    size_t i = dl_find_field(record, coding->given, coding->given_length);
    if (i >= field || plan->nodes[nodes[i]].kind != STEP_NODE_VALUE)
        return STEP_NO_INDEX;
    step_hints_add(&coding->column, coding->given_by, 0);
    coding->column.given_identifier =
        plan->columns[plan->nodes[nodes[i]].column].field_coding.column.identifier;
    return (uint32_t) i;
}

void step_plan_resolve_nested(struct step_plan_builder *builder, const struct step_record *record,
                              size_t field, uint32_t first_child)
{
    struct step_plan *plan = builder->plan;
    const uint32_t *nodes = plan->children + first_child;
    uint32_t other = given_field(plan, record, field, nodes);
    if (other != STEP_NO_INDEX)
        plan->columns[plan->nodes[nodes[field]].column].given_column =
            plan->nodes[nodes[other]].column;
}

void step_plan_resolve_given(struct step_plan_builder *builder, const uint32_t *field_nodes)
{
    struct step_plan *plan = builder->plan;
    const struct step_record *record = &builder->definition->records[builder->record];
    const struct step_plan_node *node = &plan->nodes[field_nodes[builder->field]];
    if (node->kind == STEP_NODE_VALUE && plan->columns[node->column].record == builder->record)
        plan->columns[node->column].given_field =
            given_field(plan, record, builder->field, field_nodes);
}

/* Returns true if the column has the values of a record's own field.  Columns of nested fields are
 * not counted per record, so as columns nothing is pushed for them, and they have no latest value
 * (docs/formats/step.md): only rows use the strategy. */
static bool is_own_field(const struct step_plan *plan, const struct step_plan_column *column)
{
    const struct step_plan_record *record = &plan->records[column->record];
    const struct step_plan_node *node = &plan->nodes[record->field_nodes[column->field]];
    return node->kind == STEP_NODE_VALUE && &plan->columns[node->column] == column;
}

uint32_t step_plan_column_of(const struct step_plan *plan, uint32_t near, const char *name,
                             size_t length)
{
    size_t field = 0;
    while (length > 0 && name[length - 1] != '.') {
        length--;
        field++;
    }
    uint32_t record = STEP_NO_INDEX;
    if (length > 0)
        record = dl_find_record(plan->definition,
                                plan->definition->records[plan->columns[near].record].name, name,
                                length - 1);
    if (record == STEP_NO_INDEX)
        return STEP_NO_INDEX;
    const struct step_record *type = &plan->definition->records[record];
    size_t i = dl_find_field(type, name + length, field);
    if (i == SIZE_MAX)
        return STEP_NO_INDEX;
    const struct step_plan_node *node = &plan->nodes[plan->records[record].field_nodes[i]];
    return node->kind == STEP_NODE_VALUE && node->column != near ? node->column : STEP_NO_INDEX;
}

/* Finds the targets of `stack` and `age` after all records are planned; nonexistent ones are
 * ignored. */
void step_plan_resolve_followed(struct step_plan *plan, struct step_plan_column *column)
{
    struct step_field_coding *field_coding = &column->field_coding;
    const char *name = field_coding->given;
    size_t length = field_coding->given_length;
    bool stack = step_policy_strategy(&field_coding->policy)->needs == STEP_SERIES_PUSHES;
    if (!column->in_array && stack && length > 0)
        column->stack_record = dl_find_record(
            plan->definition, plan->definition->records[column->record].name, name, length);
    else if (!column->in_array)
        column->age_column =
            step_plan_column_of(plan, (uint32_t) (column - plan->columns), name, length);
    if (column->stack_record == STEP_NO_INDEX && column->age_column == STEP_NO_INDEX)
        field_coding->policy.targeted = STEP_TARGETED_NONE;
    else if (is_own_field(plan, column))
        step_hints_add(&field_coding->column, field_coding->policy.targeted, 0);
}
