/* SPDX-License-Identifier: Apache-2.0 */
/* The cheapest widths of attributes in a window, by dynamic programming over the seven widths.  A
 * trace starts with `default`, which has no attributes; a plan never returns to it. */
#include <stdlib.h>
#include <string.h>

#include "format/hatf/hatf_plan.h"

enum { WIDTHS = 7, START = WIDTHS, WAYS };
enum { COST_WIDTH = 4, COST_NONE = 4 };

#define NO_WAY ((int64_t) 1 << 60)

static const uint8_t widths[WIDTHS] = {HATF_WIDTH_0, HATF_WIDTH_1,  HATF_WIDTH_2, HATF_WIDTH_4,
                                       HATF_WIDTH_8, HATF_WIDTH_V1, HATF_WIDTH_V2};

static int64_t bytes_of(unsigned way, uint64_t length)
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
static void advance(const int64_t *before, int64_t *now, uint8_t *from, uint64_t length,
                    uint8_t remembered)
{
    unsigned nearest = 0;
    for (unsigned way = 1; way < WIDTHS; way++)
        if (before[way] < before[nearest])
            nearest = way;
    for (unsigned way = 0; way < WIDTHS; way++) {
        int64_t bytes = bytes_of(way, length);
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
        advance(costs[i & 1], costs[(i + 1) & 1], from + i * WAYS, task->items[i].value,
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
