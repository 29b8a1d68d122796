/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the columns that a column's encoding refers to: `given`, `stack`, `age`. */
#include <string.h>

#include "format/codec/strategies/policy.h"
#include "format/step/plan/plan_build.h"

/* Returns true if it refers to another field of the record, as `given` does. */
static bool names_field(const struct step_field_coding *field_coding)
{
    return field_coding->given != NULL && !step_policy_follows(&field_coding->policy) &&
           step_strategies[field_coding->given_by]->needs == STEP_SERIES_FIELD;
}

/* `given` in a nested record: only an earlier, single-valued field of it. */
void step_plan_resolve_nested(struct step_plan_builder *builder, const struct step_record *record,
                              size_t field, uint32_t first_child)
{
    struct step_plan *plan = builder->plan;
    const struct step_plan_node *node = &plan->nodes[plan->children[first_child + field]];
    if (node->kind != STEP_NODE_VALUE || !names_field(&plan->columns[node->column].field_coding))
        return;
    struct step_plan_column *column = &plan->columns[node->column];
    for (size_t i = 0; i < field; i++) {
        const char *name = record->fields[i].name;
        const struct step_plan_node *other = &plan->nodes[plan->children[first_child + i]];
        if (strlen(name) != column->field_coding.given_length ||
            memcmp(name, column->field_coding.given, column->field_coding.given_length) != 0 ||
            other->kind != STEP_NODE_VALUE)
            continue;
        column->given_column = other->column;
        step_hints_add(&column->field_coding.column, column->field_coding.given_by, 0);
        column->field_coding.column.given_identifier =
            plan->columns[other->column].field_coding.column.identifier;
    }
}

/* `given` in a record: only an earlier, single-valued field of it. */
void step_plan_resolve_given(struct step_plan_builder *builder, const uint32_t *field_nodes)
{
    struct step_plan *plan = builder->plan;
    const struct step_record *record = &builder->definition->records[builder->record];
    const struct step_plan_node *node = &plan->nodes[field_nodes[builder->field]];
    if (node->kind != STEP_NODE_VALUE)
        return;
    struct step_plan_column *column = &plan->columns[node->column];
    if (column->record != builder->record || !names_field(&column->field_coding))
        return;
    for (uint32_t i = 0; i < builder->field; i++) {
        const char *name = record->fields[i].name;
        const struct step_plan_node *other = &plan->nodes[field_nodes[i]];
        if (strlen(name) != column->field_coding.given_length ||
            memcmp(name, column->field_coding.given, column->field_coding.given_length) != 0 ||
            other->kind != STEP_NODE_VALUE)
            continue;
        column->given_field = i;
        step_hints_add(&column->field_coding.column, column->field_coding.given_by, 0);
        column->field_coding.column.given_identifier =
            plan->columns[other->column].field_coding.column.identifier;
    }
}

/* Finds a record by absolute name, or by name in the package of `near`. */
static uint32_t find_record(const struct step_definition *definition, uint32_t near,
                            const char *name, size_t length)
{
    const char *package = definition->records[near].name;
    const char *dot = strrchr(package, '.');
    size_t prefix = dot != NULL ? (size_t) (dot + 1 - package) : 0;
    for (uint32_t i = 0; i < definition->record_count; i++) {
        const char *other = definition->records[i].name;
        if (strlen(other) == length && memcmp(other, name, length) == 0)
            return i;
        if (strlen(other) == prefix + length && memcmp(other, package, prefix) == 0 &&
            memcmp(other + prefix, name, length) == 0)
            return i;
    }
    return STEP_NO_INDEX;
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
        record = find_record(plan->definition, plan->columns[near].record, name, length - 1);
    if (record == STEP_NO_INDEX)
        return STEP_NO_INDEX;
    const struct step_record *type = &plan->definition->records[record];
    uint32_t found = STEP_NO_INDEX;
    for (uint32_t i = 0; i < type->field_count; i++) {
        const struct step_plan_node *node = &plan->nodes[plan->records[record].field_nodes[i]];
        if (strlen(type->fields[i].name) == field &&
            memcmp(type->fields[i].name, name + length, field) == 0 &&
            node->kind == STEP_NODE_VALUE && node->column != near)
            found = node->column;
    }
    return found;
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
        column->stack_record = find_record(plan->definition, column->record, name, length);
    else if (!column->in_array)
        column->age_column =
            step_plan_column_of(plan, (uint32_t) (column - plan->columns), name, length);
    if (column->stack_record == STEP_NO_INDEX && column->age_column == STEP_NO_INDEX)
        field_coding->policy.targeted = STEP_TARGETED_NONE;
    else if (is_own_field(plan, column))
        step_hints_add(&field_coding->column, field_coding->policy.targeted, 0);
}
