/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The transform and the strategy `live`: a set of values that leave, each once, in ascending
 * batches, as the identifiers of objects that die together.  A value's code is the number of
 * remaining values that it skips; values that left in earlier batches do not count, so neighbours
 * among the survivors are 0 apart.
 *
 * Any value has a code, and any code a value (docs/formats/step.md has the rule): negative codes,
 * in two's complement, start a new batch, or are for values that left already.  With g values gone
 * and b remaining ones up to the last value, the 2^64 codes are divided in three ranges without
 * gaps: from 0 on the values ahead, below -g the b remaining values behind, and the last g codes
 * the values that are gone.  That is why the transform cannot fail on values that are no departures
 * at all.
 *
 * Values that leave are collected in `waiting` and merged into the runs only when a batch ends.  A
 * set that changed with each value would need a tree; runs are a sorted array, which a search that
 * starts at the last place passes in small steps, as the values of a batch ascend.
 */
#include <stdlib.h>
#include <string.h>

#include "format/codec/strategies/coder.h"
#include "format/core/grow.h"
#include "format/core/search.h"

/* Waiting values become runs when a batch ends and there are at least that many, and a 16th of the
 * runs: a merge passes all runs, so its cost must be spread over a part of their number.  Beyond
 * MOST values are forgotten, which only makes predictions worse.  Reader and writer count alike, so
 * these numbers are part of the format. */
enum { WAITING_LEAST = 1024, RUNS_PER_WAITING = 16, MOST = 1 << 21 };

/* Values from first to last that left, and the number of smaller ones that left. */
struct gone_run {
    uint64_t first;
    uint64_t last;
    uint64_t before;
};

/* The set. */
struct live {
    struct gone_run *runs; /* ascending, not adjacent */
    size_t run_count;
    size_t run_capacity;
    struct gone_run *merged; /* buffer for merging */
    size_t merged_capacity;
    uint64_t gone;     /* values in the runs */
    size_t at;         /* where the last search ended */
    uint64_t *waiting; /* values since the runs were made */
    size_t waiting_count;
    size_t waiting_capacity;
    uint64_t base; /* number of values in the set that are not above the last value */
    uint64_t last;
    bool failed;
};

/* Adds a run that does not begin before the existing ones. */
static void add_run(struct live *set, size_t *count, uint64_t first, uint64_t last)
{
    struct gone_run *newest = *count > 0 ? &set->merged[*count - 1] : NULL;
    if (newest != NULL && (first <= newest->last || first == newest->last + 1)) {
        newest->last = last > newest->last ? last : newest->last;
        return;
    }
    set->merged[(*count)++] = (struct gone_run){first, last, 0};
}

static uint64_t count_gone(struct gone_run *runs, size_t count)
{
    uint64_t gone = 0;
    for (size_t i = 0; i < count; i++) {
        runs[i].before = gone;
        gone += runs[i].last - runs[i].first + 1;
    }
    return gone;
}

/* Merges the waiting values into the runs: both are sorted, and add_run() joins what touches.
 * `before` is then summed up, which turns ranks and places into each other by one search. */
static bool departures_settle(struct live *set)
{
    if (set->run_count + set->waiting_count > MOST) {
        set->waiting_count = 0;
        return true;
    }
    if (!STEP_MAKE_ROOM(set->merged, set->merged_capacity, set->run_count + set->waiting_count))
        return false;
    qsort(set->waiting, set->waiting_count, sizeof *set->waiting, step_compare_numbers);
    size_t count = 0;
    size_t next = 0;
    for (size_t i = 0; i < set->run_count; i++) {
        for (; next < set->waiting_count && set->waiting[next] < set->runs[i].first; next++)
            add_run(set, &count, set->waiting[next], set->waiting[next]);
        add_run(set, &count, set->runs[i].first, set->runs[i].last);
    }
    for (; next < set->waiting_count; next++)
        add_run(set, &count, set->waiting[next], set->waiting[next]);
    struct gone_run *runs = set->runs;
    size_t capacity = set->run_capacity;
    set->runs = set->merged;
    set->run_capacity = set->merged_capacity;
    set->merged = runs;
    set->merged_capacity = capacity;
    set->run_count = count;
    set->waiting_count = set->at = 0;
    set->gone = count_gone(set->runs, count);
    return true;
}

/* Returns true if the whole run is before the value, or before the place among the remaining
 * values. */
static inline bool stands_before(const struct gone_run *run, uint64_t key, bool by_place)
{
    return by_place ? run->first - run->before <= key : run->last < key;
}

/* Returns the first run for which stands_before() is false, searching from the last result. */
static inline size_t seek(struct live *set, uint64_t key, bool by_place)
{
    const struct gone_run *runs = set->runs;
    size_t low = set->at;
    size_t high = set->run_count;
    if (low > 0 && !stands_before(&runs[low - 1], key, by_place)) {
        high = low - 1;
        low = 0;
    }
    for (size_t step = 1; low + step < high; step *= 2) {
        if (!stands_before(&runs[low + step], key, by_place)) {
            high = low + step;
            break;
        }
        low += step;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (stands_before(&runs[middle], key, by_place))
            low = middle + 1;
        else
            high = middle;
    }
    return set->at = low;
}

/* Returns how many smaller values have left, and whether this one has. */
static uint64_t rank_of(struct live *set, uint64_t value, bool *gone)
{
    size_t i = seek(set, value, false);
    *gone = i < set->run_count && set->runs[i].first <= value;
    if (i == set->run_count)
        return set->gone;
    return set->runs[i].before + (*gone ? value - set->runs[i].first : 0);
}

/* Returns the value with that many smaller ones in the set. */
static uint64_t departures_value_at(struct live *set, uint64_t place)
{
    size_t i = seek(set, place, true);
    return place + (i < set->run_count ? set->runs[i].before : set->gone);
}

static uint64_t gone_value(const struct live *set, uint64_t rank)
{
    size_t low = 0;
    size_t high = set->run_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (set->runs[middle].before <= rank)
            low = middle;
        else
            high = middle;
    }
    return set->runs[low].first + (rank - set->runs[low].before);
}

static bool ends_batch(const struct live *set, uint64_t value)
{
    return value <= set->last && set->waiting_count >= WAITING_LEAST &&
           set->waiting_count >= set->run_count / RUNS_PER_WAITING;
}

static bool wait(struct live *set, uint64_t value)
{
    if (set->waiting_count == MOST)
        return true;
    if (!STEP_MAKE_ROOM(set->waiting, set->waiting_capacity, set->waiting_count + 1))
        return false;
    set->waiting[set->waiting_count++] = value;
    return true;
}

/* Records a coded value; `place` is the number of smaller values in the set, `gone` means that it
 * is not in the set.  If the value begins a batch, the set changes first, and its place in the new
 * set counts for the next value.  The code was made with the old set, since a reader learns only
 * from the code that a batch begins. */
static bool departures_take(struct live *set, uint64_t value, uint64_t place, bool gone)
{
    if (ends_batch(set, value)) {
        if (!departures_settle(set))
            return false;
        place = value - rank_of(set, value, &gone);
    }
    set->base = place + !gone;
    set->last = value;
    return wait(set, value);
}

static bool live_begin(struct live *set, uint64_t parameter, unsigned bits, bool hashed)
{
    (void) parameter, (void) bits, (void) hashed;
    set->run_count = set->waiting_count = set->at = 0;
    set->gone = set->base = set->last = 0;
    return true;
}

static inline uint64_t live_code(struct live *set, uint64_t value, uint64_t key)
{
    (void) key;
    bool gone;
    uint64_t rank = rank_of(set, value, &gone);
    uint64_t place = value - rank;
    uint64_t code =
        gone ? rank - set->gone : place - set->base - (place < set->base ? set->gone : 0);
    set->failed = !departures_take(set, value, place, gone);
    return code;
}

/* Finds out in which of the three ranges a code is.  `above` is how many codes the values ahead
 * have; it is 0 for all 2^64, when nothing has left and nothing is behind. */
static inline uint64_t live_value(struct live *set, uint64_t code, uint64_t key)
{
    (void) key;
    bool gone = set->gone > 0 && code >= 0 - set->gone;
    uint64_t place, value;
    if (gone) {
        uint64_t rank = code + set->gone;
        value = gone_value(set, rank);
        place = value - rank;
    } else {
        uint64_t above = 0 - set->gone - set->base; /* codes of values above; 0: all */
        bool ahead = set->base == 0 || code < above;
        place = ahead ? set->base + code : code - above;
        value = departures_value_at(set, place);
    }
    set->failed = !departures_take(set, value, place, gone);
    return value;
}

static void live_end(struct live *set)
{
    free(set->runs);
    free(set->merged);
    free(set->waiting);
}

STEP_COLUMN_CODER(live, live, false, 0, 0, false)

static void live_propose(const struct step_trial *trial)
{
    const struct step_coding_hints *hints = trial->hints;
    bool delta = step_hints_name(hints, STEP_DELTA) || step_hints_name(hints, STEP_WINDOW);
    if (trial->round == STEP_ROUND_CHEAP &&
        (step_hints_name(hints, STEP_LIVE) || (trial->thorough && delta)))
        step_trial_add(trial, &step_transform_live, 0, 0, 0);
}

const struct step_transform step_transform_live = {
    .id = STEP_TRANSFORM_LIVE,
    .name = "live",
    .forward = live_forward,
    .inverse = live_inverse,
    .propose = live_propose,
};

/* Strategy `live`: values that leave a set in ascending batches. */
STEP_ROW_CODER(live, live, true);
const struct step_strategy step_strategy_live = {
    .name = "live",
    .wants_long_sample = true,
    .rows = &live_rows,
};
