/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of metadata: helpers for all plans, and the naive plan. */
#include "format/hatf/hatf_plan.h"

#include <stdlib.h>
#include <string.h>

#include "format/core/grow.h"

enum { WIDTHS = 7, START = WIDTHS, WAYS };
enum { COST_WIDTH = 4, COST_NONE = 4 };

#define NO_WAY ((int64_t) 1 << 60)

static const uint8_t widths[WIDTHS] = {HATF_WIDTH_0, HATF_WIDTH_1,  HATF_WIDTH_2, HATF_WIDTH_4,
                                       HATF_WIDTH_8, HATF_WIDTH_V1, HATF_WIDTH_V2};

static int64_t hatf_plan_bytes_of(unsigned way, uint64_t length)
{
    switch (widths[way]) {
    case HATF_WIDTH_V1:
        return length <= UINT8_MAX ? (int64_t) length + 1 : NO_WAY;
    case HATF_WIDTH_V2:
        return length <= UINT16_MAX ? (int64_t) length + 2 : NO_WAY;
    default:
        return length == widths[way] ? (int64_t) length : NO_WAY;
    }
}

static unsigned way_of_state(const struct hatf_field_state *state)
{
    if (state->interpretation == HATF_DEFAULT)
        return START;
    unsigned way = 0;
    while (way < WIDTHS && widths[way] != state->width)
        way++;
    return way;
}

/* Computes the costs of all ways after one more item, and the predecessor of each. */
static void hatf_plan_advance(const int64_t *before, int64_t *now, uint8_t *from, uint64_t length,
                              uint8_t remembered)
{
    unsigned nearest = 0;
    for (unsigned way = 1; way < WIDTHS; way++)
        if (before[way] < before[nearest])
            nearest = way;
    for (unsigned way = 0; way < WIDTHS; way++) {
        int64_t bytes = hatf_plan_bytes_of(way, length);
        int64_t change = widths[way] == remembered ? COST_NONE : COST_WIDTH + COST_NONE;
        now[way] = before[way];
        from[way] = (uint8_t) way;
        if (before[nearest] + COST_WIDTH < now[way]) {
            now[way] = before[nearest] + COST_WIDTH;
            from[way] = (uint8_t) nearest;
        }
        if (before[START] + change < now[way] && widths[way] != 0) {
            now[way] = before[START] + change;
            from[way] = START;
        }
        now[way] = now[way] + bytes < NO_WAY ? now[way] + bytes : NO_WAY;
    }
    now[START] = length == 0 ? before[START] : NO_WAY;
    from[START] = START;
}

static void write_plan(const struct hatf_plan_task *task, const uint8_t *path,
                       struct hatf_planner *planner)
{
    const struct hatf_field_state *state = &planner->state.fields[HATF_ATTRIBUTES];
    for (size_t i = 0; i < task->count; i++) {
        uint32_t record = task->items[i].record;
        if (path[i] != START) {
            uint8_t width = widths[path[i]];
            bool leaves = state->interpretation != HATF_NONE;
            if ((leaves ? state->last_width : state->width) != width)
                hatf_planner_set_width(planner, record, width);
            if (leaves)
                hatf_planner_set(planner, record, HATF_NONE, 0, 0);
        }
        hatf_planner_take(planner, &task->items[i]);
    }
}

bool hatf_plan_attributes(const struct hatf_plan_task *task, const struct hatf_field_state *start,
                          struct hatf_plan *plan)
{
    struct hatf_planner planner;
    hatf_planner_init(&planner, task, start, plan);
    if (task->count == 0)
        return hatf_planner_end(&planner);
    uint8_t *from = malloc(task->count * (WAYS + 1));
    if (from == NULL)
        return false;
    uint8_t *path = from + task->count * WAYS;
    int64_t costs[2][WAYS];
    unsigned start_way = way_of_state(start);
    for (unsigned way = 0; way < WAYS; way++)
        costs[0][way] = way == start_way ? 0 : NO_WAY;
    for (size_t i = 0; i < task->count; i++)
        hatf_plan_advance(costs[i & 1], costs[(i + 1) & 1], from + i * WAYS, task->items[i].value,
                          start->last_width);
    const int64_t *end = costs[task->count & 1];
    unsigned way = 0;
    for (unsigned other = 1; other < WAYS; other++)
        if (end[other] < end[way])
            way = other;
    for (size_t i = task->count; i-- > 0; way = from[i * WAYS + way])
        path[i] = (uint8_t) way;
    write_plan(task, path, &planner);
    free(from);
    return hatf_planner_end(&planner);
}

#define METADATA_BYTES 4u
#define VALUE_BYTES 8u

void hatf_plan_reset(struct hatf_plan *plan)
{
    free(plan->steps);
    *plan = (struct hatf_plan){0};
}

void hatf_planner_init(struct hatf_planner *planner, const struct hatf_plan_task *task,
                       const struct hatf_field_state *start, struct hatf_plan *plan)
{
    planner->field = task->field;
    planner->plan = plan;
    planner->failed = false;
    planner->state.fields[task->field] = *start;
    plan->count = 0;
    plan->cost = 0;
}

static void add_step(struct hatf_planner *planner, uint32_t record,
                     const struct hatf_metadata *metadata)
{
    struct hatf_plan *plan = planner->plan;
    if (!STEP_MAKE_ROOM(plan->steps, plan->capacity, plan->count + 1)) {
        planner->failed = true;
        return;
    }
    plan->steps[plan->count++] = (struct hatf_plan_step){record, *metadata};
    plan->cost += METADATA_BYTES +
                  VALUE_BYTES * hatf_metadata_values(metadata->operation, metadata->argument);
    hatf_state_apply(&planner->state, metadata);
}

void hatf_planner_set_width(struct hatf_planner *planner, uint32_t record, uint8_t width)
{
    const struct hatf_metadata metadata = {
        .operation = HATF_SET_WIDTH, .field = (uint8_t) planner->field, .argument = width};
    add_step(planner, record, &metadata);
}

void hatf_planner_set(struct hatf_planner *planner, uint32_t record, uint8_t interpretation,
                      uint64_t value, uint64_t stride)
{
    const struct hatf_metadata metadata = {.operation = HATF_SET_INTERPRETATION,
                                           .field = (uint8_t) planner->field,
                                           .argument = interpretation,
                                           .value = value,
                                           .stride = stride};
    add_step(planner, record, &metadata);
}

void hatf_planner_take(struct hatf_planner *planner, const struct hatf_plan_item *item)
{
    struct hatf_field_state *state = &planner->state.fields[planner->field];
    if (planner->field == HATF_ATTRIBUTES) {
        bool counted = state->width == HATF_WIDTH_V1 || state->width == HATF_WIDTH_V2;
        planner->plan->cost += counted ? state->width - 8u + item->value : state->width;
        return;
    }
    planner->plan->cost += item->has_second ? 2u * state->width : state->width;
    state->previous = item->has_second ? item->second : item->value;
}

bool hatf_planner_end(struct hatf_planner *planner)
{
    planner->plan->end = planner->state.fields[planner->field];
    return !planner->failed;
}

/* ---- from state to state ---- */

static bool stores_nothing(const struct hatf_field_state *state)
{
    return state->interpretation == HATF_DEFAULT || state->interpretation == HATF_STRIDE;
}

/* Returns true if both states give the same values, whatever the width. */
static bool is_like(enum hatf_field field, const struct hatf_field_state *a,
                    const struct hatf_field_state *b)
{
    if (a->interpretation != b->interpretation)
        return false;
    switch (a->interpretation) {
    case HATF_DEFAULT:
        return field == HATF_ATTRIBUTES || a->value == b->value;
    case HATF_BASE_OFFSET:
        return a->value == b->value;
    case HATF_STRIDE:
        return a->stride == b->stride;
    default:
        return true;
    }
}

/* Returns the width that matters: the current one, or the one in force after DEFAULT or STRIDE. */
static uint8_t width_to_come(const struct hatf_field_state *state)
{
    return stores_nothing(state) ? state->last_width : state->width;
}

static void switch_to(struct hatf_planner *planner, uint32_t record,
                      const struct hatf_field_state *to)
{
    const struct hatf_field_state *now = &planner->state.fields[planner->field];
    uint8_t width = width_to_come(to);
    bool remembered = width != 0 || !stores_nothing(to); /* a width of 0 is not remembered */
    bool is_new = !is_like(planner->field, now, to);
    if (is_new)
        hatf_planner_set(planner, record, to->interpretation,
                         to->interpretation == HATF_DELTA || to->interpretation == HATF_STRIDE
                             ? now->previous
                             : to->value,
                         to->stride);
    if (remembered && width_to_come(now) != width)
        hatf_planner_set_width(planner, record, width);
}

uint64_t hatf_plan_distance(enum hatf_field field, const struct hatf_field_state *from,
                            const struct hatf_field_state *to)
{
    bool is_new = !is_like(field, from, to);
    uint8_t width = width_to_come(to);
    uint8_t now = is_new || stores_nothing(from) ? from->last_width : from->width;
    uint64_t cost = 0;
    if (is_new)
        cost += METADATA_BYTES +
                VALUE_BYTES * hatf_metadata_values(HATF_SET_INTERPRETATION, to->interpretation);
    if ((width != 0 || !stores_nothing(to)) && now != width)
        cost += METADATA_BYTES;
    return cost;
}

bool hatf_plan_follow(const struct hatf_plan_task *task, const struct hatf_field_state *start,
                      const struct hatf_field_state *other_start, const struct hatf_plan *other,
                      struct hatf_plan *plan)
{
    struct hatf_planner planner;
    hatf_planner_init(&planner, task, start, plan);
    if (task->count > 0)
        switch_to(&planner, task->items[0].record, other_start);
    for (size_t i = 0, step = 0; i < task->count; i++) {
        for (; step < other->count && other->steps[step].record == task->items[i].record; step++)
            add_step(&planner, other->steps[step].record, &other->steps[step].metadata);
        hatf_planner_take(&planner, &task->items[i]);
    }
    return hatf_planner_end(&planner);
}

/* ---- the naive plan ---- */

static uint8_t naive_width(enum hatf_field field, uint64_t value)
{
    if (field == HATF_ATTRIBUTES)
        return HATF_WIDTH_V2;
    uint8_t width = (uint8_t) hatf_width_of_unsigned(value);
    if (width < HATF_WIDTH_1)
        width = HATF_WIDTH_1;
    /* times grow: skip the intermediate widths */
    return field == HATF_TIME && width < HATF_WIDTH_4 ? HATF_WIDTH_4 : width;
}

/* Attributes: as soon as one record of the window has some, all of its records may have them. */
static bool has_attributes(const struct hatf_plan_task *task)
{
    for (size_t i = 0; task->field == HATF_ATTRIBUTES && i < task->count; i++)
        if (task->items[i].value > 0)
            return true;
    return false;
}

static bool hatf_plan_fits(enum hatf_field field, const struct hatf_field_state *state,
                           uint64_t value)
{
    if (field == HATF_ATTRIBUTES)
        return state->width == HATF_WIDTH_V2 || value == 0;
    if (state->interpretation == HATF_DEFAULT)
        return value == state->value;
    return (uint8_t) hatf_width_of_unsigned(value) <= state->width;
}

bool hatf_plan_naive(const struct hatf_plan_task *task, const struct hatf_field_state *start,
                     struct hatf_plan *plan)
{
    struct hatf_planner planner;
    hatf_planner_init(&planner, task, start, plan);
    const struct hatf_field_state *state = &planner.state.fields[task->field];
    bool needs_attributes = has_attributes(task);
    for (size_t i = 0; i < task->count; i++) {
        const struct hatf_plan_item *item = &task->items[i];
        uint64_t most = item->value;
        if (needs_attributes)
            most = HATF_ATTRIBUTES_MAX;
        else if (item->has_second && item->second > most)
            most = item->second;
        if (!hatf_plan_fits(task->field, state, most)) {
            hatf_planner_set_width(&planner, item->record, naive_width(task->field, most));
            if (state->interpretation != HATF_NONE)
                hatf_planner_set(&planner, item->record, HATF_NONE, 0, 0);
        }
        hatf_planner_take(&planner, item);
    }
    return hatf_planner_end(&planner);
}
