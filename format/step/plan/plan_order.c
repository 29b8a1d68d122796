/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits which columns must be decoded before others: no column depends on itself, or on a long
 * chain.
 *
 * A column coded by `age`, `given` or `linked` needs the values of another one, which may be coded
 * so as well.  A reader decodes the other one first, by recursion.  So a circle could not be
 * decoded at all, and a long chain would exhaust the stack.  A definition may ask for either, and
 * is not wrong: in rows each field measures from the record before, where no circle arises.  So one
 * column of each circle, and each one that would make a chain too long, is set apart: as a column
 * it goes without such a strategy.
 *
 * The walk is depth-first over the columns, with three marks as usual; `depth` is the length of the
 * longest chain below a column that is done.  Only writers heed `apart`: readers follow what a
 * block says, and check the limit themselves.
 */
#include <stdlib.h>

#include "format/step/layout.h"
#include "format/step/plan/plan_build.h"

/* A dependency on a column; those of one column are adjacent. */
struct need {
    uint32_t column;
    uint32_t other;
};

enum mark { UNSEEN, UNDER_WAY, DONE };

struct ordered {
    size_t first; /* its first need */
    enum mark mark;
    uint32_t depth; /* once it is done: length of the longest chain below it */
};

/* A column that is being visited, and its next need. */
struct visited {
    uint32_t column;
    size_t next;
};

struct ordering {
    struct step_plan *plan;
    struct need *needs;
    size_t need_count;
    struct ordered *columns; /* one more than the plan has */
    struct visited *path;
};

static void plan_order_add(struct ordering *ordering, uint32_t column, uint32_t other)
{
    if (other == STEP_NO_INDEX)
        return;
    if (ordering->needs != NULL)
        ordering->needs[ordering->need_count] = (struct need){column, other};
    ordering->need_count++;
}

static void plan_order_add_field(struct ordering *ordering, uint32_t record, uint32_t column,
                                 uint32_t field)
{
    if (field != STEP_NO_INDEX)
        plan_order_add(ordering, column, step_field_column(ordering->plan, record, field));
}

/* Counts the needs, and lists them if there is room.  Columns shared by several record types need
 * the other column of each of these types. */
static void list_needs(struct ordering *ordering)
{
    const struct step_plan *plan = ordering->plan;
    ordering->need_count = 0;
    for (uint32_t i = 0; i < plan->column_count; i++) {
        plan_order_add(ordering, i, plan->columns[i].age_column);
        plan_order_add(ordering, i, plan->columns[i].given_column);
        plan_order_add(ordering, i, plan->columns[i].links.newest);
    }
    for (uint32_t i = 0; i < plan->definition->record_count; i++)
        for (uint32_t k = 0; k < plan->records[i].field_count; k++) {
            uint32_t column = step_field_column(plan, i, k);
            if (column == STEP_NO_INDEX)
                continue;
            plan_order_add_field(ordering, i, column, plan->columns[column].given_field);
            plan_order_add_field(ordering, i, column, plan->columns[column].links.key);
            plan_order_add_field(ordering, i, column, plan->columns[column].links.holder);
        }
}

static int compare_needs(const void *left, const void *right)
{
    const struct need *a = left, *b = right;
    return (a->column > b->column) - (a->column < b->column);
}

static void sort_needs(struct ordering *ordering)
{
    size_t at = 0;
    qsort(ordering->needs, ordering->need_count, sizeof *ordering->needs, compare_needs);
    for (uint32_t i = 0; i <= ordering->plan->column_count; i++) {
        while (at < ordering->need_count && ordering->needs[at].column < i)
            at++;
        ordering->columns[i].first = at;
    }
}

/* The column is coded independently: its strategy works in rows, but not in columns.  Nothing that
 * needs it needs to know. */
static void set_apart(struct ordering *ordering, uint32_t column)
{
    struct step_plan_column *planned = &ordering->plan->columns[column];
    planned->apart = true;
    planned->field_coding.column.is_linked = false;
    for (enum step_targeted i = STEP_TARGETED_NONE; i < STEP_TARGETED_COUNT; i++)
        if (step_strategies[i]->needs == STEP_SERIES_LATEST ||
            step_strategies[i]->needs == STEP_SERIES_FIELD)
            step_hints_remove(&planned->field_coding.column, i);
    ordering->columns[column].depth = 1;
}

static struct visited plan_order_begin(struct ordering *ordering, uint32_t column)
{
    ordering->columns[column].mark = UNDER_WAY;
    ordering->columns[column].depth = 1;
    return (struct visited){column, ordering->columns[column].first};
}

/* Visits a column and all that it needs, without recursion because chains may be long.  If what is
 * needed is still under way, the path has come back to itself: the last column before that is set
 * apart, which cuts the circle.  A column that was set apart is done, whatever it needs. */
static void plan_order_visit(struct ordering *ordering, uint32_t start)
{
    size_t length = 1;
    ordering->path[0] = plan_order_begin(ordering, start);
    while (length > 0) {
        struct visited *last = &ordering->path[length - 1];
        struct ordered *column = &ordering->columns[last->column];
        if (ordering->plan->columns[last->column].apart || last->next == column[1].first) {
            column->mark = DONE;
            length--;
            continue;
        }
        uint32_t needed = ordering->needs[last->next].other;
        const struct ordered *other = &ordering->columns[needed];
        if (other->mark == UNSEEN) {
            ordering->path[length++] = plan_order_begin(ordering, needed);
        } else if (other->mark == UNDER_WAY || other->depth >= STEP_MAX_COLUMN_CHAIN) {
            set_apart(ordering, last->column);
        } else {
            if (other->depth >= column->depth)
                column->depth = other->depth + 1;
            last->next++;
        }
    }
}

enum step_status step_plan_order(struct step_plan *plan)
{
    struct ordering ordering = {.plan = plan};
    size_t columns = plan->column_count + (size_t) 1;
    list_needs(&ordering);
    if (ordering.need_count == 0)
        return STEP_STATUS_OK;
    ordering.needs = calloc(ordering.need_count, sizeof *ordering.needs);
    ordering.columns = calloc(columns, sizeof *ordering.columns);
    ordering.path = calloc(columns, sizeof *ordering.path);
    bool good = ordering.needs != NULL && ordering.columns != NULL && ordering.path != NULL;
    if (good) {
        list_needs(&ordering);
        sort_needs(&ordering);
        for (uint32_t i = 0; i < plan->column_count; i++)
            if (ordering.columns[i].mark == UNSEEN)
                plan_order_visit(&ordering, i);
    }
    free(ordering.needs);
    free(ordering.columns);
    free(ordering.path);
    return good ? STEP_STATUS_OK : STEP_STATUS_NO_MEMORY;
}
