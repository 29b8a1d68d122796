/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cheapest plan of a field in a window, by dynamic programming (Viterbi): for each item and
 * each way in which it may be stored, what the best way to get there costs, metadata included.
 *
 * A way is an interpretation and a width.  What an interpretation's values are follows from the
 * items, so that they need no ways of their own: a default is the value at its start, a stride the
 * difference to the next item, a delta starts at the item itself.  Only a base is free; it holds
 * for the items from its start on as long as their range fits the width, so for each width the best
 * start within reach is kept (a sliding minimum).
 *
 * Default and stride store nothing, but the width that comes back after them counts: each has a way
 * for each such width.
 */
#include <stdlib.h>
#include <string.h>

#include "format/hatf/hatf_plan.h"

enum { NONES = 4, DELTAS = 3, BASES = 3, RANKS = 5 };
enum way {
    NONE = 0,
    DELTA = NONE + NONES,
    BASE = DELTA + DELTAS,
    DEFAULT = BASE + BASES,
    STRIDE_FIRST = DEFAULT + RANKS, /* the item that begins a stride */
    STRIDE = STRIDE_FIRST + RANKS,
    BASE_HELD = STRIDE + RANKS, /* the base from before the window */
    WAYS
};

#define ENTERED 0x80u /* in `from`: the interpretation was set anew */
#define NO_WAY ((int64_t) 1 << 60)

enum { COST_WIDTH = 4, COST_NONE = 4, COST_VALUE = 12, COST_STRIDE = 20 };

static const uint8_t widths[RANKS] = {0, 1, 2, 4, 8};

/* Bases of one width: the starts that may still be the best, and the extremes of the items since
 * the first start in reach.  All three are queues of item numbers. */
struct base {
    int64_t *keys; /* cost of the start, less the bytes of the items before it */
    uint32_t *starts;
    uint32_t *least;
    uint32_t *greatest;
    uint8_t *from;    /* by item: the way before it, if a base starts there */
    uint32_t *origin; /* by item: where the best base began */
    size_t start_head, start_tail, least_head, least_tail, greatest_head, greatest_tail;
    size_t reach; /* the first item that a base at hand can begin with */
};

struct search {
    const struct hatf_plan_task *task;
    const struct hatf_plan_item *items;
    const struct hatf_field_state *start;
    const struct hatf_plan *naive;
    unsigned means;
    uint8_t start_way;
    uint8_t held_rank;  /* of BASE_HELD */
    uint8_t naive_rank; /* of the width in force in the naive plan; 0: nothing is stored */
    bool naive_none;    /* the naive plan stores values as they are by now */
    size_t naive_step;
    struct hatf_state naive_state;
    int64_t costs[2][WAYS];
    int64_t class_cost[RANKS]; /* the best way with that width to come back to, and which */
    uint8_t class_way[RANKS];
    int64_t entry_cost[RANKS]; /* the best way, and a change of width if that is needed */
    uint8_t entry_way[RANKS];
    uint64_t values_before; /* of the item at hand */
    uint8_t *from;          /* by item and way */
    struct base bases[BASES];
    uint8_t *path; /* by item: the way, and ENTERED */
    void *storage;
};

/* The width that a way has, or that comes back after it. */
static inline uint8_t rank_of_way(const struct search *search, unsigned way)
{
    static const uint8_t ranks[BASE_HELD] = {1, 2, 3, 4, 1, 2, 3, 1, 2, 3, 0, 1, 2,
                                             3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4};
    return way < BASE_HELD ? ranks[way] : search->held_rank;
}

/* The way that a state is; `WAYS` for one that no plan leaves a field in. */
static uint8_t way_of_state(const struct hatf_field_state *state)
{
    unsigned rank = hatf_width_rank(state->width);
    unsigned remembered = hatf_width_rank(state->last_width);
    switch (state->interpretation) {
    case HATF_NONE:
        return (uint8_t) (rank > 0 ? NONE + rank - 1 : WAYS);
    case HATF_DELTA:
        return (uint8_t) (rank > 0 && rank <= DELTAS ? DELTA + rank - 1 : WAYS);
    case HATF_BASE_OFFSET:
        return (uint8_t) (rank > 0 ? BASE_HELD : WAYS);
    case HATF_DEFAULT:
        return (uint8_t) (DEFAULT + remembered);
    default:
        return (uint8_t) (STRIDE + remembered);
    }
}

static bool fits_signed(uint64_t difference, unsigned rank)
{
    return hatf_width_rank((uint8_t) hatf_width_of_signed(difference)) <= rank;
}

static uint64_t last_of(const struct hatf_plan_item *item)
{
    return item->has_second ? item->second : item->value;
}

static uint64_t previous_of(const struct search *search, size_t i)
{
    return i > 0 ? last_of(&search->items[i - 1]) : search->start->previous;
}

static bool is_uniform(const struct hatf_plan_item *item)
{
    return !item->has_second || item->value == item->second;
}

static void step_to(struct search *search, int64_t *now, size_t i, unsigned way, int64_t cost,
                    unsigned from)
{
    if (cost < now[way]) {
        now[way] = cost;
        search->from[i * WAYS + way] = (uint8_t) from;
    }
}

/* What it costs to come to the item at hand, by the width that one comes with. */
static void sum_up(struct search *search, const int64_t *before)
{
    int64_t best = NO_WAY;
    uint8_t best_way = WAYS;
    for (unsigned rank = 0; rank < RANKS; rank++)
        search->class_cost[rank] = NO_WAY;
    for (unsigned way = 0; way < WAYS; way++) {
        unsigned rank = rank_of_way(search, way);
        if (before[way] < search->class_cost[rank]) {
            search->class_cost[rank] = before[way];
            search->class_way[rank] = (uint8_t) way;
        }
        if (before[way] < best) {
            best = before[way];
            best_way = (uint8_t) way;
        }
    }
    for (unsigned rank = 0; rank < RANKS; rank++) {
        bool change = best + COST_WIDTH < search->class_cost[rank];
        search->entry_cost[rank] = change ? best + COST_WIDTH : search->class_cost[rank];
        search->entry_way[rank] = change ? best_way : search->class_way[rank];
    }
}

/* The naive plan up to the item at hand. */
static void follow_naive(struct search *search, const struct hatf_plan_item *item)
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

static void try_none(struct search *search, const int64_t *before, int64_t *now, size_t i)
{
    const struct hatf_plan_item *item = &search->items[i];
    uint64_t most = item->has_second && item->second > item->value ? item->second : item->value;
    unsigned needed = hatf_width_rank((uint8_t) hatf_width_of_unsigned(most));
    int64_t values = item->has_second ? 2 : 1;
    unsigned nearest = NONE;
    for (unsigned way = NONE; way < DELTA; way++)
        if (before[way] < before[nearest])
            nearest = way;
    for (unsigned rank = needed > 0 ? needed : 1; rank < RANKS; rank++) {
        bool allowed = (search->means & HATF_MEANS_WIDTHS) != 0 ||
                       (search->naive_none && rank == search->naive_rank);
        if (!allowed)
            continue;
        unsigned way = NONE + rank - 1;
        int64_t bytes = values * widths[rank];
        step_to(search, now, i, way, before[way] + bytes, way);
        step_to(search, now, i, way, before[nearest] + COST_WIDTH + bytes, nearest);
        step_to(search, now, i, way, search->entry_cost[rank] + COST_NONE + bytes,
                search->entry_way[rank] | ENTERED);
    }
}

static void try_delta(struct search *search, const int64_t *before, int64_t *now, size_t i)
{
    const struct hatf_plan_item *item = &search->items[i];
    uint64_t difference = item->value - previous_of(search, i);
    int64_t values = item->has_second ? 2 : 1;
    unsigned nearest = DELTA;
    for (unsigned way = DELTA; way < BASE; way++)
        if (before[way] < before[nearest])
            nearest = way;
    for (unsigned rank = 1; rank <= DELTAS; rank++) {
        if (item->has_second && !fits_signed(item->second - item->value, rank))
            continue;
        unsigned way = DELTA + rank - 1;
        int64_t bytes = values * widths[rank];
        if (fits_signed(difference, rank)) {
            step_to(search, now, i, way, before[way] + bytes, way);
            step_to(search, now, i, way, before[nearest] + COST_WIDTH + bytes, nearest);
        }
        step_to(search, now, i, way, search->entry_cost[rank] + COST_VALUE + bytes,
                search->entry_way[rank] | ENTERED);
    }
}

static void try_default(struct search *search, const int64_t *before, int64_t *now, size_t i)
{
    const struct hatf_plan_item *item = &search->items[i];
    uint64_t value = i > 0 ? last_of(&search->items[i - 1]) : search->start->value;
    if (!is_uniform(item))
        return;
    for (unsigned rank = 0; rank < RANKS; rank++) {
        unsigned way = DEFAULT + rank;
        if (item->value == value)
            step_to(search, now, i, way, before[way], way);
        if ((search->means & HATF_MEANS_DEFAULT) != 0)
            step_to(search, now, i, way, search->class_cost[rank] + COST_VALUE,
                    search->class_way[rank] | ENTERED);
    }
}

static void try_stride(struct search *search, const int64_t *before, int64_t *now, size_t i)
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
    for (unsigned rank = 0; rank < RANKS; rank++) {
        if (goes_on)
            step_to(search, now, i, STRIDE + rank, before[STRIDE + rank], STRIDE + rank);
        step_to(search, now, i, STRIDE + rank, before[STRIDE_FIRST + rank], STRIDE_FIRST + rank);
        if (can_begin)
            step_to(search, now, i, STRIDE_FIRST + rank, search->class_cost[rank] + COST_STRIDE,
                    search->class_way[rank] | ENTERED);
    }
}

/* ---- bases ---- */

static uint64_t least_of(const struct hatf_plan_item *item)
{
    return item->has_second && item->second < item->value ? item->second : item->value;
}

static uint64_t greatest_of(const struct hatf_plan_item *item)
{
    return item->has_second && item->second > item->value ? item->second : item->value;
}

/* The item joins the range; what the base cannot reach any more is dropped from its beginning. */
static void widen_range(struct search *search, struct base *base, size_t i, unsigned rank)
{
    const struct hatf_plan_item *items = search->items;
    while (base->least_tail > base->least_head &&
           least_of(&items[base->least[base->least_tail - 1]]) >= least_of(&items[i]))
        base->least_tail--;
    base->least[base->least_tail++] = (uint32_t) i;
    while (base->greatest_tail > base->greatest_head &&
           greatest_of(&items[base->greatest[base->greatest_tail - 1]]) <= greatest_of(&items[i]))
        base->greatest_tail--;
    base->greatest[base->greatest_tail++] = (uint32_t) i;
    while (base->reach <= i && (greatest_of(&items[base->greatest[base->greatest_head]]) -
                                least_of(&items[base->least[base->least_head]])) >>
                                       (8 * widths[rank]) !=
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

static void add_start(struct search *search, struct base *base, size_t i, unsigned rank)
{
    int64_t key = search->entry_cost[rank] + COST_VALUE -
                  (int64_t) widths[rank] * (int64_t) search->values_before;
    base->from[i] = search->entry_way[rank];
    if (base->reach > i || search->entry_cost[rank] >= NO_WAY)
        return;
    while (base->start_tail > base->start_head && base->keys[base->start_tail - 1] >= key)
        base->start_tail--;
    base->keys[base->start_tail] = key;
    base->starts[base->start_tail++] = (uint32_t) i;
}

static void try_bases(struct search *search, int64_t *now, size_t i)
{
    static const uint8_t means[BASES] = {HATF_MEANS_BASE_1, HATF_MEANS_BASE_2, HATF_MEANS_BASE_4};
    uint64_t values = search->values_before + (search->items[i].has_second ? 2 : 1);
    for (unsigned k = 0; k < BASES; k++) {
        struct base *base = &search->bases[k];
        if ((search->means & means[k]) == 0)
            continue;
        widen_range(search, base, i, k + 1);
        add_start(search, base, i, k + 1);
        if (base->start_head == base->start_tail)
            continue;
        now[BASE + k] = base->keys[base->start_head] + (int64_t) widths[k + 1] * (int64_t) values;
        base->origin[i] = base->starts[base->start_head];
    }
}

static void try_held_base(struct search *search, const int64_t *before, int64_t *now, size_t i)
{
    const struct hatf_plan_item *item = &search->items[i];
    const struct hatf_field_state *start = search->start;
    if (before[BASE_HELD] >= NO_WAY)
        return;
    unsigned rank = hatf_width_rank(start->width);
    if (!fits_signed(item->value - start->value, rank) ||
        (item->has_second && !fits_signed(item->second - start->value, rank)))
        return;
    step_to(search, now, i, BASE_HELD,
            before[BASE_HELD] + (item->has_second ? 2 : 1) * start->width, BASE_HELD);
}

/* ---- the search ---- */

static bool allocate(struct search *search, size_t count)
{
    size_t words = count * BASES;
    size_t bytes =
        words * sizeof(int64_t) + 4 * words * sizeof(uint32_t) + words + count * (WAYS + 1);
    uint8_t *at = malloc(bytes);
    search->storage = at;
    if (at == NULL)
        return false;
    for (unsigned k = 0; k < BASES; k++, at += count * sizeof(int64_t))
        search->bases[k].keys = (int64_t *) (void *) at;
    for (unsigned k = 0; k < BASES; k++) {
        uint32_t *numbers = (uint32_t *) (void *) at;
        search->bases[k].starts = numbers;
        search->bases[k].least = numbers + count;
        search->bases[k].greatest = numbers + 2 * count;
        search->bases[k].origin = numbers + 3 * count;
        at += 4 * count * sizeof(uint32_t);
    }
    for (unsigned k = 0; k < BASES; k++, at += count)
        search->bases[k].from = at;
    search->from = at;
    search->path = at + count * WAYS;
    return true;
}

static const int64_t *run(struct search *search)
{
    int64_t *before = search->costs[0];
    int64_t *now = search->costs[1];
    for (unsigned way = 0; way < WAYS; way++)
        before[way] = way == search->start_way ? 0 : NO_WAY;
    for (size_t i = 0; i < search->task->count; i++) {
        for (unsigned way = 0; way < WAYS; way++)
            now[way] = NO_WAY;
        sum_up(search, before);
        follow_naive(search, &search->items[i]);
        try_none(search, before, now, i);
        if ((search->means & HATF_MEANS_DELTA) != 0)
            try_delta(search, before, now, i);
        try_bases(search, now, i);
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

/* The way to end with: what it cost, and what going back to the naive state would. */
static unsigned choose_end(const struct search *search, const int64_t *costs)
{
    const struct hatf_field_state *target = &search->naive->end;
    unsigned target_rank = hatf_width_rank(target->last_width);
    unsigned target_way = way_of_state(target);
    unsigned best = WAYS;
    int64_t best_cost = NO_WAY;
    for (unsigned way = 0; way < WAYS; way++) {
        bool alike = way == target_way || (way < DELTA && target_way < DELTA) ||
                     (way >= DEFAULT && way < STRIDE_FIRST && target_way >= DEFAULT &&
                      target_way < STRIDE_FIRST);
        int64_t back = alike ? 0 : target->interpretation == HATF_NONE ? COST_NONE : COST_VALUE;
        if (target_rank != 0 && rank_of_way(search, way) != target_rank)
            back += COST_WIDTH;
        if (search->task->is_last)
            back = 0;
        if (costs[way] < NO_WAY && costs[way] + back < best_cost) {
            best = way;
            best_cost = costs[way] + back;
        }
    }
    return best;
}

static void trace_back(struct search *search, unsigned way)
{
    for (size_t i = search->task->count; i-- > 0;) {
        if (way >= BASE && way < DEFAULT) {
            struct base *base = &search->bases[way - BASE];
            size_t first = base->origin[i];
            for (; i > first; i--)
                search->path[i] = (uint8_t) way;
            search->path[i] = (uint8_t) (way | ENTERED);
            way = base->from[i];
            continue;
        }
        uint8_t from = search->from[i * WAYS + way];
        search->path[i] = (uint8_t) (way | (from & ENTERED));
        way = from & ~ENTERED;
    }
}

/* The base for the items from `i` on, as long as the path stays with it. */
static uint64_t base_from(const struct search *search, size_t i, unsigned rank)
{
    uint64_t least = least_of(&search->items[i]);
    for (size_t j = i + 1; j < search->task->count; j++) {
        if (search->path[j] != (search->path[i] & ~ENTERED))
            break;
        if (least_of(&search->items[j]) < least)
            least = least_of(&search->items[j]);
    }
    return least + ((uint64_t) 1 << (8 * widths[rank] - 1));
}

static void enter(const struct search *search, struct hatf_planner *planner, size_t i, unsigned way,
                  unsigned rank)
{
    const struct hatf_plan_item *item = &search->items[i];
    if (way < DELTA) {
        hatf_planner_set(planner, item->record, HATF_NONE, 0, 0);
    } else if (way < BASE) {
        hatf_planner_set(planner, item->record, HATF_DELTA, item->value, 0);
    } else if (way < DEFAULT) {
        hatf_planner_set(planner, item->record, HATF_BASE_OFFSET, base_from(search, i, rank), 0);
    } else if (way < STRIDE_FIRST) {
        hatf_planner_set(planner, item->record, HATF_DEFAULT, item->value, 0);
    } else {
        uint64_t stride = search->items[i + 1].value - item->value;
        hatf_planner_set(planner, item->record, HATF_STRIDE, item->value - stride, stride);
    }
}

static bool write_plan(const struct search *search, struct hatf_plan *plan)
{
    struct hatf_planner planner;
    hatf_planner_init(&planner, search->task, search->start, plan);
    const struct hatf_field_state *state = &planner.state.fields[search->task->field];
    for (size_t i = 0; i < search->task->count; i++) {
        unsigned way = search->path[i] & ~ENTERED;
        unsigned rank = rank_of_way(search, way);
        bool stores = way < DEFAULT;
        if (stores && state->last_width != widths[rank])
            hatf_planner_set_width(&planner, search->items[i].record, widths[rank]);
        if ((search->path[i] & ENTERED) != 0)
            enter(search, &planner, i, way, rank);
        hatf_planner_take(&planner, &search->items[i]);
    }
    return hatf_planner_end(&planner);
}

bool hatf_plan_cheapest(const struct hatf_plan_task *task, const struct hatf_field_state *start,
                        unsigned means, const struct hatf_field_state *naive_start,
                        const struct hatf_plan *naive, struct hatf_plan *plan)
{
    struct search search = {.task = task,
                            .items = task->items,
                            .start = start,
                            .naive = naive,
                            .means = means,
                            .start_way = way_of_state(start),
                            .held_rank = (uint8_t) hatf_width_rank(start->width)};
    search.naive_state.fields[task->field] = *naive_start;
    if (task->count == 0 || search.start_way == WAYS)
        return hatf_plan_follow(task, start, naive_start, naive, plan);
    if (!allocate(&search, task->count))
        return false;
    const int64_t *costs = run(&search);
    unsigned end = choose_end(&search, costs);
    bool ok;
    if (end == WAYS) {
        ok = hatf_plan_follow(task, start, naive_start, naive, plan);
    } else {
        trace_back(&search, end);
        ok = write_plan(&search, plan);
    }
    free(search.storage);
    return ok;
}
