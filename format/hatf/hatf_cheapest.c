/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the cheapest plan of a field in a window: runs the search, and follows its cheapest path
 * back. */
#include "format/hatf/hatf_search.h"

/* Returns the way to end with, by its cost plus the cost of returning to the naive state. */
static unsigned choose_end(const struct hatf_search *search, const int64_t *costs)
{
    const struct hatf_field_state *target = &search->naive->end;
    unsigned target_rank = hatf_width_rank(target->last_width);
    unsigned target_way = hatf_way_of_state(target);
    unsigned best = WAY_COUNT;
    int64_t best_cost = WAY_UNREACHED;
    for (unsigned way = 0; way < WAY_COUNT; way++) {
        bool alike = way == target_way || (way < WAY_DELTA && target_way < WAY_DELTA) ||
                     (way >= WAY_DEFAULT && way < WAY_STRIDE_FIRST && target_way >= WAY_DEFAULT &&
                      target_way < WAY_STRIDE_FIRST);
        int64_t back = alike ? 0 : target->interpretation == HATF_NONE ? COST_NONE : COST_VALUE;
        if (target_rank != 0 && hatf_way_rank(search, way) != target_rank)
            back += COST_WIDTH;
        if (search->task->is_last)
            back = 0;
        if (costs[way] < WAY_UNREACHED && costs[way] + back < best_cost) {
            best = way;
            best_cost = costs[way] + back;
        }
    }
    return best;
}

static void trace_back(struct hatf_search *search, unsigned way)
{
    for (size_t i = search->task->count; i-- > 0;) {
        if (way >= WAY_BASE && way < WAY_DEFAULT) {
            struct hatf_base_queues *base = &search->bases[way - WAY_BASE];
            size_t first = base->origin[i];
            for (; i > first; i--)
                search->path[i] = (uint8_t) way;
            search->path[i] = (uint8_t) (way | WAY_ENTERED);
            way = base->from[i];
            continue;
        }
        uint8_t from = search->from[i * WAY_COUNT + way];
        search->path[i] = (uint8_t) (way | (from & WAY_ENTERED));
        way = from & ~WAY_ENTERED;
    }
}

/* Returns the base for the items from `i` on while the path keeps it. */
static uint64_t base_from(const struct hatf_search *search, size_t i, unsigned rank)
{
    uint64_t least = hatf_item_least(&search->items[i]);
    for (size_t j = i + 1; j < search->task->count; j++) {
        if (search->path[j] != (search->path[i] & ~WAY_ENTERED))
            break;
        if (hatf_item_least(&search->items[j]) < least)
            least = hatf_item_least(&search->items[j]);
    }
    return least + ((uint64_t) 1 << (8 * hatf_rank_widths[rank] - 1));
}

static void enter(const struct hatf_search *search, struct hatf_planner *planner, size_t i,
                  unsigned way, unsigned rank)
{
    const struct hatf_plan_item *item = &search->items[i];
    if (way < WAY_DELTA) {
        hatf_planner_set(planner, item->record, HATF_NONE, 0, 0);
    } else if (way < WAY_BASE) {
        hatf_planner_set(planner, item->record, HATF_DELTA, item->value, 0);
    } else if (way < WAY_DEFAULT) {
        hatf_planner_set(planner, item->record, HATF_BASE_OFFSET, base_from(search, i, rank), 0);
    } else if (way < WAY_STRIDE_FIRST) {
        hatf_planner_set(planner, item->record, HATF_DEFAULT, item->value, 0);
    } else {
        uint64_t stride = search->items[i + 1].value - item->value;
        hatf_planner_set(planner, item->record, HATF_STRIDE, item->value - stride, stride);
    }
}

static bool write_plan(const struct hatf_search *search, struct hatf_plan *plan)
{
    struct hatf_planner planner;
    hatf_planner_init(&planner, search->task, search->start, plan);
    const struct hatf_field_state *state = &planner.state.fields[search->task->field];
    for (size_t i = 0; i < search->task->count; i++) {
        unsigned way = search->path[i] & ~WAY_ENTERED;
        unsigned rank = hatf_way_rank(search, way);
        bool stores = way < WAY_DEFAULT;
        if (stores && state->last_width != hatf_rank_widths[rank])
            hatf_planner_set_width(&planner, search->items[i].record, hatf_rank_widths[rank]);
        if ((search->path[i] & WAY_ENTERED) != 0)
            enter(search, &planner, i, way, rank);
        hatf_planner_take(&planner, &search->items[i]);
    }
    return hatf_planner_end(&planner);
}

bool hatf_plan_cheapest(const struct hatf_plan_task *task, const struct hatf_field_state *start,
                        unsigned means, const struct hatf_field_state *naive_start,
                        const struct hatf_plan *naive, struct hatf_plan *plan)
{
    struct hatf_search search = {.task = task,
                                 .items = task->items,
                                 .start = start,
                                 .naive = naive,
                                 .means = means,
                                 .start_way = hatf_way_of_state(start),
                                 .held_rank = (uint8_t) hatf_width_rank(start->width)};
    search.naive_state.fields[task->field] = *naive_start;
    if (task->count == 0 || search.start_way == WAY_COUNT)
        return hatf_plan_follow(task, start, naive_start, naive, plan);
    if (!hatf_search_init(&search))
        return false;
    const int64_t *costs = hatf_search_run(&search);
    unsigned end = choose_end(&search, costs);
    bool ok;
    if (end == WAY_COUNT) {
        ok = hatf_plan_follow(task, start, naive_start, naive, plan);
    } else {
        trace_back(&search, end);
        ok = write_plan(&search, plan);
    }
    hatf_search_reset(&search);
    return ok;
}
