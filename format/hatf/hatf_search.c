/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the cheapest plan of a field in a window by dynamic programming (Viterbi): for each item
 * and each way to store it, the cost of the best path there, metadata included.
 *
 * A way is an interpretation and a width.  The parameters of an interpretation follow from the
 * items, so they need no separate ways: a default is the value at its start, a stride the
 * difference to the next item, a delta starts at the item itself.  Only a base is free.  It holds
 * for the items from its start on, as long as their range fits the width, so for each width the
 * best start within reach is kept (a sliding minimum).
 *
 * Default and stride store nothing, but the width in force after them matters: each has a way for
 * each such width.
 */
#include "format/hatf/hatf_plan.h"

#include <stdlib.h>

enum { WAY_NONES = 4, WAY_DELTAS = 3, WAY_BASES = 3, WAY_RANKS = 5 };
enum way {
    WAY_NONE = 0,
    WAY_DELTA = WAY_NONE + WAY_NONES,
    WAY_BASE = WAY_DELTA + WAY_DELTAS,
    WAY_DEFAULT = WAY_BASE + WAY_BASES,
    WAY_STRIDE_FIRST = WAY_DEFAULT + WAY_RANKS, /* the first item of a stride */
    WAY_STRIDE = WAY_STRIDE_FIRST + WAY_RANKS,
    WAY_BASE_HELD = WAY_STRIDE + WAY_RANKS, /* the base in force before the window */
    WAY_COUNT
};

#define WAY_ENTERED 0x80u                 /* in `from`: the interpretation is set at this item */
#define WAY_UNREACHED ((int64_t) 1 << 60) /* cost of a way that no path reaches */

/* Bytes of metadata: for a width, for the interpretation "none", for one with a value, for a
 * stride. */
enum { COST_WIDTH = 4, COST_NONE = 4, COST_VALUE = 12, COST_STRIDE = 20 };

/* Width in bytes, by rank. */
static const uint8_t hatf_rank_widths[WAY_RANKS] = {0, 1, 2, 4, 8};

/* Bases of one width: the starts that may still be best, and the extremes of the items since the
 * first reachable start.  All three are queues of item numbers. */
struct hatf_base_queues {
    int64_t *keys; /* cost of the start, less the bytes of the items before it */
    uint32_t *starts;
    uint32_t *least;
    uint32_t *greatest;
    uint8_t *from;    /* by item: the preceding way, if a base starts there */
    uint32_t *origin; /* by item: start of the best base */
    size_t start_head, start_tail, least_head, least_tail, greatest_head, greatest_tail;
    size_t reach; /* the first item at which a base for the current item can start */
};

struct hatf_search {
    const struct hatf_plan_task *task;
    const struct hatf_plan_item *items;
    const struct hatf_field_state *start;
    const struct hatf_plan *naive;
    unsigned means;
    uint8_t start_way;
    uint8_t held_rank;  /* of WAY_BASE_HELD */
    uint8_t naive_rank; /* of the current width in the naive plan; 0: nothing is stored */
    bool naive_none;    /* the naive plan stores values with `none` now */
    size_t naive_step;
    struct hatf_state naive_state;
    int64_t costs[2][WAY_COUNT];
    int64_t class_cost[WAY_RANKS]; /* cost of the best way with that later width, and the way */
    uint8_t class_way[WAY_RANKS];
    int64_t entry_cost[WAY_RANKS]; /* the same, including a change of width if that is needed */
    uint8_t entry_way[WAY_RANKS];
    uint64_t values_before; /* of the current item */
    uint8_t *from;          /* by item and way */
    struct hatf_base_queues bases[WAY_BASES];
    uint8_t *path; /* by item: the way, and WAY_ENTERED */
    void *storage;
};

/* Returns the rank of the way's width, or of the width in force after it. */
static inline uint8_t hatf_way_rank(const struct hatf_search *search, unsigned way)
{
    static const uint8_t ranks[WAY_BASE_HELD] = {1, 2, 3, 4, 1, 2, 3, 1, 2, 3, 0, 1, 2,
                                                 3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4};
    return way < WAY_BASE_HELD ? ranks[way] : search->held_rank;
}

static inline uint64_t hatf_item_least(const struct hatf_plan_item *item)
{
    return item->has_second && item->second < item->value ? item->second : item->value;
}

static inline uint64_t hatf_item_greatest(const struct hatf_plan_item *item)
{
    return item->has_second && item->second > item->value ? item->second : item->value;
}

static inline uint64_t hatf_item_last(const struct hatf_plan_item *item)
{
    return item->has_second ? item->second : item->value;
}

/* Adds the item to the range, and removes starts that are too far away for the base. */
static void widen_range(struct hatf_search *search, struct hatf_base_queues *base, size_t i,
                        unsigned rank)
{
    const struct hatf_plan_item *items = search->items;
    while (base->least_tail > base->least_head &&
           hatf_item_least(&items[base->least[base->least_tail - 1]]) >= hatf_item_least(&items[i]))
        base->least_tail--;
    base->least[base->least_tail++] = (uint32_t) i;
    while (base->greatest_tail > base->greatest_head &&
           hatf_item_greatest(&items[base->greatest[base->greatest_tail - 1]]) <=
               hatf_item_greatest(&items[i]))
        base->greatest_tail--;
    base->greatest[base->greatest_tail++] = (uint32_t) i;
    while (base->reach <= i && (hatf_item_greatest(&items[base->greatest[base->greatest_head]]) -
                                hatf_item_least(&items[base->least[base->least_head]])) >>
                                       (8 * hatf_rank_widths[rank]) !=
                                   0) {
        base->reach++;
        while (base->least_head < base->least_tail && base->least[base->least_head] < base->reach)
            base->least_head++;
        while (base->greatest_head < base->greatest_tail &&
               base->greatest[base->greatest_head] < base->reach)
            base->greatest_head++;
        if (base->reach > i)
            break;
    }
    while (base->start_head < base->start_tail && base->starts[base->start_head] < base->reach)
        base->start_head++;
}

static void add_start(struct hatf_search *search, struct hatf_base_queues *base, size_t i,
                      unsigned rank)
{
    int64_t key = search->entry_cost[rank] + COST_VALUE -
                  (int64_t) hatf_rank_widths[rank] * (int64_t) search->values_before;
    base->from[i] = search->entry_way[rank];
    if (base->reach > i || search->entry_cost[rank] >= WAY_UNREACHED)
        return;
    while (base->start_tail > base->start_head && base->keys[base->start_tail - 1] >= key)
        base->start_tail--;
    base->keys[base->start_tail] = key;
    base->starts[base->start_tail++] = (uint32_t) i;
}

/* Updates the costs with the bases that may apply to item `i`. */
static void hatf_bases_try(struct hatf_search *search, int64_t *now, size_t i)
{
    static const uint8_t means[WAY_BASES] = {HATF_MEANS_BASE_1, HATF_MEANS_BASE_2,
                                             HATF_MEANS_BASE_4};
    uint64_t values = search->values_before + (search->items[i].has_second ? 2 : 1);
    for (unsigned k = 0; k < WAY_BASES; k++) {
        struct hatf_base_queues *base = &search->bases[k];
        if ((search->means & means[k]) == 0)
            continue;
        widen_range(search, base, i, k + 1);
        add_start(search, base, i, k + 1);
        if (base->start_head == base->start_tail)
            continue;
        now[WAY_BASE + k] =
            base->keys[base->start_head] + (int64_t) hatf_rank_widths[k + 1] * (int64_t) values;
        base->origin[i] = base->starts[base->start_head];
    }
}

/* `task`, `items`, `start`, `naive`, `means` and `naive_state` are set by the caller.  Returns
 * false if out of memory. */
static bool hatf_search_init(struct hatf_search *search)
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

static void hatf_search_reset(struct hatf_search *search)
{
    free(search->storage);
}

/* Returns the way of a state, or WAY_COUNT if no plan leaves a field in that state. */
static uint8_t hatf_way_of_state(const struct hatf_field_state *state)
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
static void hatf_search_sum_up(struct hatf_search *search, const int64_t *before)
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

/* Runs the search.  Returns the cost of the cheapest path to the end by its last way; the search
 * owns the array. */
static const int64_t *hatf_search_run(struct hatf_search *search)
{
    int64_t *before = search->costs[0];
    int64_t *now = search->costs[1];
    for (unsigned way = 0; way < WAY_COUNT; way++)
        before[way] = way == search->start_way ? 0 : WAY_UNREACHED;
    for (size_t i = 0; i < search->task->count; i++) {
        for (unsigned way = 0; way < WAY_COUNT; way++)
            now[way] = WAY_UNREACHED;
        hatf_search_sum_up(search, before);
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

static void hatf_search_enter(const struct hatf_search *search, struct hatf_planner *planner,
                              size_t i, unsigned way, unsigned rank)
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
            hatf_search_enter(search, &planner, i, way, rank);
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
