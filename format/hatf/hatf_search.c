/* SPDX-License-Identifier: Apache-2.0 */
/* The search for the cheapest plan, item by item: the cost of each way to store an item, and its
 * predecessor. */
#include "format/hatf/hatf_search.h"

#include <stdlib.h>

bool hatf_search_init(struct hatf_search *search)
{
    size_t count = search->task->count;
    size_t words = count * WAY_BASES;
    size_t bytes =
        words * sizeof(int64_t) + 4 * words * sizeof(uint32_t) + words + count * (WAY_COUNT + 1);
    uint8_t *at = malloc(bytes);
    search->storage = at;
    if (at == NULL)
        return false;
    for (unsigned k = 0; k < WAY_BASES; k++, at += count * sizeof(int64_t))
        search->bases[k].keys = (int64_t *) (void *) at;
    for (unsigned k = 0; k < WAY_BASES; k++) {
        uint32_t *numbers = (uint32_t *) (void *) at;
        search->bases[k].starts = numbers;
        search->bases[k].least = numbers + count;
        search->bases[k].greatest = numbers + 2 * count;
        search->bases[k].origin = numbers + 3 * count;
        at += 4 * count * sizeof(uint32_t);
    }
    for (unsigned k = 0; k < WAY_BASES; k++, at += count)
        search->bases[k].from = at;
    search->from = at;
    search->path = at + count * WAY_COUNT;
    return true;
}

void hatf_search_reset(struct hatf_search *search)
{
    free(search->storage);
}

uint8_t hatf_way_of_state(const struct hatf_field_state *state)
{
    unsigned rank = hatf_width_rank(state->width);
    unsigned remembered = hatf_width_rank(state->last_width);
    switch (state->interpretation) {
    case HATF_NONE:
        return (uint8_t) (rank > 0 ? WAY_NONE + rank - 1 : WAY_COUNT);
    case HATF_DELTA:
        return (uint8_t) (rank > 0 && rank <= WAY_DELTAS ? WAY_DELTA + rank - 1 : WAY_COUNT);
    case HATF_BASE_OFFSET:
        return (uint8_t) (rank > 0 ? WAY_BASE_HELD : WAY_COUNT);
    case HATF_DEFAULT:
        return (uint8_t) (WAY_DEFAULT + remembered);
    default:
        return (uint8_t) (WAY_STRIDE + remembered);
    }
}

static bool fits_signed(uint64_t difference, unsigned rank)
{
    return hatf_width_rank((uint8_t) hatf_width_of_signed(difference)) <= rank;
}

static uint64_t previous_of(const struct hatf_search *search, size_t i)
{
    return i > 0 ? hatf_item_last(&search->items[i - 1]) : search->start->previous;
}

static bool is_uniform(const struct hatf_plan_item *item)
{
    return !item->has_second || item->value == item->second;
}

static void step_to(struct hatf_search *search, int64_t *now, size_t i, unsigned way, int64_t cost,
                    unsigned from)
{
    if (cost < now[way]) {
        now[way] = cost;
        search->from[i * WAY_COUNT + way] = (uint8_t) from;
    }
}

/* Returns the cheapest way in `first` to `end` - 1. */
static unsigned cheapest_way(const int64_t *costs, unsigned first, unsigned end)
{
    unsigned best = first;
    for (unsigned way = first; way < end; way++)
        if (costs[way] < costs[best])
            best = way;
    return best;
}

/* Finds the cheapest predecessors of the current item, by width. */
static void sum_up(struct hatf_search *search, const int64_t *before)
{
    int64_t best = WAY_UNREACHED;
    uint8_t best_way = WAY_COUNT;
    for (unsigned rank = 0; rank < WAY_RANKS; rank++)
        search->class_cost[rank] = WAY_UNREACHED;
    for (unsigned way = 0; way < WAY_COUNT; way++) {
        unsigned rank = hatf_way_rank(search, way);
        if (before[way] < search->class_cost[rank]) {
            search->class_cost[rank] = before[way];
            search->class_way[rank] = (uint8_t) way;
        }
        if (before[way] < best) {
            best = before[way];
            best_way = (uint8_t) way;
        }
    }
    for (unsigned rank = 0; rank < WAY_RANKS; rank++) {
        bool change = best + COST_WIDTH < search->class_cost[rank];
        search->entry_cost[rank] = change ? best + COST_WIDTH : search->class_cost[rank];
        search->entry_way[rank] = change ? best_way : search->class_way[rank];
    }
}

/* Follows the naive plan up to the current item. */
static void follow_naive(struct hatf_search *search, const struct hatf_plan_item *item)
{
    const struct hatf_plan *naive = search->naive;
    for (; search->naive_step < naive->count &&
           naive->steps[search->naive_step].record <= item->record;
         search->naive_step++)
        hatf_state_apply(&search->naive_state, &naive->steps[search->naive_step].metadata);
    const struct hatf_field_state *state = &search->naive_state.fields[search->task->field];
    search->naive_none = state->interpretation == HATF_NONE;
    search->naive_rank = (uint8_t) hatf_width_rank(state->width);
}

static void try_none(struct hatf_search *search, const int64_t *before, int64_t *now, size_t i)
{
    const struct hatf_plan_item *item = &search->items[i];
    uint64_t most = item->has_second && item->second > item->value ? item->second : item->value;
    unsigned needed = hatf_width_rank((uint8_t) hatf_width_of_unsigned(most));
    int64_t values = item->has_second ? 2 : 1;
    unsigned nearest = cheapest_way(before, WAY_NONE, WAY_DELTA);
    for (unsigned rank = needed > 0 ? needed : 1; rank < WAY_RANKS; rank++) {
        bool allowed = (search->means & HATF_MEANS_WIDTHS) != 0 ||
                       (search->naive_none && rank == search->naive_rank);
        if (!allowed)
            continue;
        unsigned way = WAY_NONE + rank - 1;
        int64_t bytes = values * hatf_rank_widths[rank];
        step_to(search, now, i, way, before[way] + bytes, way);
        step_to(search, now, i, way, before[nearest] + COST_WIDTH + bytes, nearest);
        step_to(search, now, i, way, search->entry_cost[rank] + COST_NONE + bytes,
                search->entry_way[rank] | WAY_ENTERED);
    }
}

static void try_delta(struct hatf_search *search, const int64_t *before, int64_t *now, size_t i)
{
    const struct hatf_plan_item *item = &search->items[i];
    uint64_t difference = item->value - previous_of(search, i);
    int64_t values = item->has_second ? 2 : 1;
    unsigned nearest = cheapest_way(before, WAY_DELTA, WAY_BASE);
    for (unsigned rank = 1; rank <= WAY_DELTAS; rank++) {
        if (item->has_second && !fits_signed(item->second - item->value, rank))
            continue;
        unsigned way = WAY_DELTA + rank - 1;
        int64_t bytes = values * hatf_rank_widths[rank];
        if (fits_signed(difference, rank)) {
            step_to(search, now, i, way, before[way] + bytes, way);
            step_to(search, now, i, way, before[nearest] + COST_WIDTH + bytes, nearest);
        }
        step_to(search, now, i, way, search->entry_cost[rank] + COST_VALUE + bytes,
                search->entry_way[rank] | WAY_ENTERED);
    }
}

static void try_default(struct hatf_search *search, const int64_t *before, int64_t *now, size_t i)
{
    const struct hatf_plan_item *item = &search->items[i];
    uint64_t value = i > 0 ? hatf_item_last(&search->items[i - 1]) : search->start->value;
    if (!is_uniform(item))
        return;
    for (unsigned rank = 0; rank < WAY_RANKS; rank++) {
        unsigned way = WAY_DEFAULT + rank;
        if (item->value == value)
            step_to(search, now, i, way, before[way], way);
        if ((search->means & HATF_MEANS_DEFAULT) != 0)
            step_to(search, now, i, way, search->class_cost[rank] + COST_VALUE,
                    search->class_way[rank] | WAY_ENTERED);
    }
}

static void try_stride(struct hatf_search *search, const int64_t *before, int64_t *now, size_t i)
{
    const struct hatf_plan_item *item = &search->items[i];
    if (item->has_second)
        return;
    uint64_t difference = item->value - previous_of(search, i);
    uint64_t stride = i > 0 ? previous_of(search, i) - previous_of(search, i - 1) : 0;
    if (i == 0)
        stride = search->start->stride;
    else if (i == 1)
        stride = search->items[0].value - search->start->previous;
    bool goes_on = difference == stride && (i == 0 || !search->items[i - 1].has_second);
    bool can_begin = (search->means & HATF_MEANS_STRIDE) != 0 && i + 1 < search->task->count &&
                     !search->items[i + 1].has_second;
    for (unsigned rank = 0; rank < WAY_RANKS; rank++) {
        if (goes_on)
            step_to(search, now, i, WAY_STRIDE + rank, before[WAY_STRIDE + rank],
                    WAY_STRIDE + rank);
        step_to(search, now, i, WAY_STRIDE + rank, before[WAY_STRIDE_FIRST + rank],
                WAY_STRIDE_FIRST + rank);
        if (can_begin)
            step_to(search, now, i, WAY_STRIDE_FIRST + rank, search->class_cost[rank] + COST_STRIDE,
                    search->class_way[rank] | WAY_ENTERED);
    }
}

static void try_held_base(struct hatf_search *search, const int64_t *before, int64_t *now, size_t i)
{
    const struct hatf_plan_item *item = &search->items[i];
    const struct hatf_field_state *start = search->start;
    if (before[WAY_BASE_HELD] >= WAY_UNREACHED)
        return;
    unsigned rank = hatf_width_rank(start->width);
    if (!fits_signed(item->value - start->value, rank) ||
        (item->has_second && !fits_signed(item->second - start->value, rank)))
        return;
    step_to(search, now, i, WAY_BASE_HELD,
            before[WAY_BASE_HELD] + (item->has_second ? 2 : 1) * start->width, WAY_BASE_HELD);
}

const int64_t *hatf_search_run(struct hatf_search *search)
{
    int64_t *before = search->costs[0];
    int64_t *now = search->costs[1];
    for (unsigned way = 0; way < WAY_COUNT; way++)
        before[way] = way == search->start_way ? 0 : WAY_UNREACHED;
    for (size_t i = 0; i < search->task->count; i++) {
        for (unsigned way = 0; way < WAY_COUNT; way++)
            now[way] = WAY_UNREACHED;
        sum_up(search, before);
        follow_naive(search, &search->items[i]);
        try_none(search, before, now, i);
        if ((search->means & HATF_MEANS_DELTA) != 0)
            try_delta(search, before, now, i);
        hatf_bases_try(search, now, i);
        try_default(search, before, now, i);
        try_stride(search, before, now, i);
        try_held_base(search, before, now, i);
        search->values_before += search->items[i].has_second ? 2 : 1;
        int64_t *swap = before;
        before = now;
        now = swap;
    }
    return before;
}
