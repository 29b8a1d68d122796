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
#ifndef FORMAT_HATF_HATF_SEARCH_H
#define FORMAT_HATF_HATF_SEARCH_H

#include "format/hatf/hatf_plan.h"

enum { WAY_NONES = 4, WAY_DELTAS = 3, WAY_BASES = 3, WAY_RANKS = 5 };
enum way {
    WAY_NONE = 0,
    WAY_DELTA = WAY_NONE + WAY_NONES,
    WAY_BASE = WAY_DELTA + WAY_DELTAS,
    WAY_DEFAULT = WAY_BASE + WAY_BASES,
    WAY_STRIDE_FIRST = WAY_DEFAULT + WAY_RANKS, /* the item that begins a stride */
    WAY_STRIDE = WAY_STRIDE_FIRST + WAY_RANKS,
    WAY_BASE_HELD = WAY_STRIDE + WAY_RANKS, /* the base from before the window */
    WAY_COUNT
};

#define WAY_ENTERED 0x80u                 /* in `from`: the interpretation was set anew */
#define WAY_UNREACHED ((int64_t) 1 << 60) /* a cost: no way leads there */

/* What metadata cost, in bytes: a width, the interpretation "none", one with a value, a stride. */
enum { COST_WIDTH = 4, COST_NONE = 4, COST_VALUE = 12, COST_STRIDE = 20 };

/* Bytes by rank. */
static const uint8_t hatf_rank_widths[WAY_RANKS] = {0, 1, 2, 4, 8};

/* Bases of one width: the starts that may still be the best, and the extremes of the items since
 * the first start in reach.  All three are queues of item numbers. */
struct hatf_base_queues {
    int64_t *keys; /* cost of the start, less the bytes of the items before it */
    uint32_t *starts;
    uint32_t *least;
    uint32_t *greatest;
    uint8_t *from;    /* by item: the way before it, if a base starts there */
    uint32_t *origin; /* by item: where the best base began */
    size_t start_head, start_tail, least_head, least_tail, greatest_head, greatest_tail;
    size_t reach; /* the first item that a base at hand can begin with */
};

struct hatf_search {
    const struct hatf_plan_task *task;
    const struct hatf_plan_item *items;
    const struct hatf_field_state *start;
    const struct hatf_plan *naive;
    unsigned means;
    uint8_t start_way;
    uint8_t held_rank;  /* of WAY_BASE_HELD */
    uint8_t naive_rank; /* of the width in force in the naive plan; 0: nothing is stored */
    bool naive_none;    /* the naive plan stores values as they are by now */
    size_t naive_step;
    struct hatf_state naive_state;
    int64_t costs[2][WAY_COUNT];
    int64_t class_cost[WAY_RANKS]; /* the best way with that width to come back to, and which */
    uint8_t class_way[WAY_RANKS];
    int64_t entry_cost[WAY_RANKS]; /* the best way, and a change of width if that is needed */
    uint8_t entry_way[WAY_RANKS];
    uint64_t values_before; /* of the item at hand */
    uint8_t *from;          /* by item and way */
    struct hatf_base_queues bases[WAY_BASES];
    uint8_t *path; /* by item: the way, and WAY_ENTERED */
    void *storage;
};

/* The width that a way has, or that comes back after it. */
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

/* `task`, `items`, `start`, `naive`, `means` and `naive_state` are set.  False: out of memory. */
bool hatf_search_init(struct hatf_search *search);
void hatf_search_reset(struct hatf_search *search);
/* The way that a state is; WAY_COUNT for one that no plan leaves a field in. */
uint8_t hatf_way_of_state(const struct hatf_field_state *state);
/* What the cheapest way to the end is for each way to end with, by way; the search's own. */
const int64_t *hatf_search_run(struct hatf_search *search);

/* hatf_bases.c: bases that may be in force at item `i`, and what they cost. */
void hatf_bases_try(struct hatf_search *search, int64_t *now, size_t i);

#endif
