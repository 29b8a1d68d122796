/* SPDX-License-Identifier: Apache-2.0 */
/* A definition may have 65,535 records, and as many variants: so each search costs what it finds,
 * and not the number of records. */
#include "format/step/plan/plan_types.h"

#include <stdlib.h>
#include <string.h>

enum { LISTED = 1, WALKED = 2, EXPANDED = 4 };
enum { ARRAYS = 4 };

void step_plan_types_reset(struct step_plan_types *types)
{
    free(types->memory);
    free(types->marks);
    *types = (struct step_plan_types){.definition = NULL};
}

/* Lists of the records that extend each.  Backwards, so that they ascend. */
static void link_children(struct step_plan_types *types)
{
    const struct step_definition *definition = types->definition;
    for (size_t i = 0; i < definition->record_count; i++)
        types->child[i] = types->sibling[i] = STEP_NO_RECORD;
    for (uint32_t i = (uint32_t) definition->record_count; i-- > 0;) {
        uint32_t parent = definition->records[i].parent;
        if (parent == STEP_NO_RECORD)
            continue;
        types->sibling[i] = types->child[parent];
        types->child[parent] = i;
    }
}

static bool plan_types_begin(struct step_plan_types *types,
                             const struct step_definition *definition)
{
    size_t count = definition->record_count;
    if (types->definition != NULL)
        return true;
    types->memory = calloc(count + 1, ARRAYS * sizeof *types->memory);
    types->marks = calloc(count + 1, sizeof *types->marks);
    if (types->memory == NULL || types->marks == NULL)
        return false;
    types->definition = definition;
    types->child = types->memory;
    types->sibling = types->child + count;
    types->places = types->sibling + count;
    types->stack = types->places + count;
    link_children(types);
    return true;
}

static void look_into(struct step_plan_types *types, uint32_t record)
{
    if ((types->marks[record] & WALKED) != 0)
        return;
    types->marks[record] |= WALKED;
    types->places[types->count++] = record;
}

/* Adds all types that a variant of `type` may have.  Of a type that was added (EXPANDED), those
 * that extend it were, too. */
static void plan_types_expand(struct step_plan_types *types, uint32_t type)
{
    size_t depth = 0;
    types->stack[depth++] = type;
    while (depth > 0) {
        uint32_t at = types->stack[--depth];
        if ((types->marks[at] & EXPANDED) != 0)
            continue;
        types->marks[at] |= EXPANDED | LISTED;
        look_into(types, at);
        for (uint32_t i = types->child[at]; i != STEP_NO_RECORD; i = types->sibling[i])
            types->stack[depth++] = i;
    }
}

static void plan_types_walk(struct step_plan_types *types, const struct step_record *record)
{
    for (size_t i = 0; i < record->field_count; i++) {
        const struct step_field *field = &record->fields[i];
        if (field->kind != STEP_TYPE_RECORD || step_field_is_identifier(field) ||
            field->record >= types->definition->record_count)
            continue;
        if (!step_field_is_variant(field)) {
            look_into(types, field->record);
            continue;
        }
        types->found = types->found || field->record == types->sought;
        plan_types_expand(types, field->record);
    }
}

static int plan_types_by_number(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *) left, b = *(const uint32_t *) right;
    return (a > b) - (a < b);
}

/* Copies those of the first `count` places that are LISTED, and ends the search. */
static bool plan_types_take(struct step_plan_types *types, size_t count, uint32_t **list,
                            size_t *taken)
{
    *taken = 0;
    *list = malloc((count + 1) * sizeof **list);
    for (size_t i = 0; i < count && *list != NULL; i++)
        if ((types->marks[types->places[i]] & LISTED) != 0)
            (*list)[(*taken)++] = types->places[i];
    for (size_t i = 0; i < types->count; i++)
        types->marks[types->places[i]] = 0;
    if (*taken > 1)
        qsort(*list, *taken, sizeof **list, plan_types_by_number);
    return *list != NULL;
}

/* It is a search over record types, each of which is walked once (WALKED): a variant leads to all
 * types that extend its own, a record by value to that record.  Only variants can close a circle
 * without making records of infinite size, as each may also be none. */
bool step_plan_types_find(struct step_plan_types *types, const struct step_definition *definition,
                          uint32_t type, uint32_t **list, size_t *count, bool *is_tree)
{
    *list = NULL;
    *count = 0;
    *is_tree = false;
    if (!plan_types_begin(types, definition))
        return false;
    if (type >= definition->record_count)
        return true;
    types->count = 0;
    types->sought = type;
    types->found = false;
    plan_types_expand(types, type);
    size_t own = types->count;
    for (size_t i = 0; i < types->count; i++)
        plan_types_walk(types, &definition->records[types->places[i]]);
    *is_tree = types->found;
    return plan_types_take(types, types->found ? types->count : own, list, count);
}
