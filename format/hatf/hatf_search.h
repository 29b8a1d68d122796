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
#ifndef FORMAT_HATF_HATF_SEARCH_H
#define FORMAT_HATF_HATF_SEARCH_H

#include "format/hatf/hatf_plan.h"

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

/* `task`, `items`, `start`, `naive`, `means` and `naive_state` are set by the caller.  Returns
 * false if out of memory. */
bool hatf_search_init(struct hatf_search *search);
void hatf_search_reset(struct hatf_search *search);
/* Returns the way of a state, or WAY_COUNT if no plan leaves a field in that state. */
uint8_t hatf_way_of_state(const struct hatf_field_state *state);
/* Runs the search.  Returns the cost of the cheapest path to the end by its last way; the search
 * owns the array. */
const int64_t *hatf_search_run(struct hatf_search *search);

/* hatf_bases.c: updates the costs with the bases that may apply to item `i`. */
void hatf_bases_try(struct hatf_search *search, int64_t *now, size_t i);

#endif
