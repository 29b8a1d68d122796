/* SPDX-License-Identifier: Apache-2.0 */
/* The set of values that left, kept as runs; and the transform `live`, which uses it. */
#include "format/codec/strategies/departures.h"

#include <stdlib.h>
#include <string.h>

#include "format/codec/strategies/coder.h"
#include "format/core/grow.h"

/* Waiting values become runs when a batch ends and there are at least that many, so that time stays
 * proportional to the number of values.  Beyond MOST they are forgotten, which only makes
 * predictions worse. */
enum { WAITING_LEAST = 1024, RUNS_PER_WAITING = 16, MOST = 1 << 21 };

void step_departures_reset(struct step_departures *set)
{
    free(set->runs);
    free(set->merged);
    free(set->waiting);
    *set = (struct step_departures){0};
}

void step_departures_clear(struct step_departures *set)
{
    set->run_count = set->waiting_count = set->at = 0;
    set->gone = set->base = set->last = 0;
}

static int compare_values(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *) left;
    uint64_t b = *(const uint64_t *) right;
    return (a > b) - (a < b);
}

/* Adds a run that does not begin before the existing ones. */
static void add_run(struct step_departures *set, size_t *count, uint64_t first, uint64_t last)
{
    struct step_gone_run *newest = *count > 0 ? &set->merged[*count - 1] : NULL;
    if (newest != NULL && (first <= newest->last || first == newest->last + 1)) {
        newest->last = last > newest->last ? last : newest->last;
        return;
    }
    set->merged[(*count)++] = (struct step_gone_run){first, last, 0};
}

static uint64_t count_gone(struct step_gone_run *runs, size_t count)
{
    uint64_t gone = 0;
    for (size_t i = 0; i < count; i++) {
        runs[i].before = gone;
        gone += runs[i].last - runs[i].first + 1;
    }
    return gone;
}

/* Merges the waiting values into the runs. */
static bool settle(struct step_departures *set)
{
    if (set->run_count + set->waiting_count > MOST) {
        set->waiting_count = 0;
        return true;
    }
    if (!STEP_MAKE_ROOM(set->merged, set->merged_capacity, set->run_count + set->waiting_count))
        return false;
    qsort(set->waiting, set->waiting_count, sizeof *set->waiting, compare_values);
    size_t count = 0;
    size_t next = 0;
    for (size_t i = 0; i < set->run_count; i++) {
        for (; next < set->waiting_count && set->waiting[next] < set->runs[i].first; next++)
            add_run(set, &count, set->waiting[next], set->waiting[next]);
        add_run(set, &count, set->runs[i].first, set->runs[i].last);
    }
    for (; next < set->waiting_count; next++)
        add_run(set, &count, set->waiting[next], set->waiting[next]);
    struct step_gone_run *runs = set->runs;
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
static inline bool stands_before(const struct step_gone_run *run, uint64_t key, bool by_place)
{
    return by_place ? run->first - run->before <= key : run->last < key;
}

/* Returns the first run for which stands_before() is false, searching from the last result. */
static inline size_t seek(struct step_departures *set, uint64_t key, bool by_place)
{
    const struct step_gone_run *runs = set->runs;
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
static uint64_t rank_of(struct step_departures *set, uint64_t value, bool *gone)
{
    size_t i = seek(set, value, false);
    *gone = i < set->run_count && set->runs[i].first <= value;
    if (i == set->run_count)
        return set->gone;
    return set->runs[i].before + (*gone ? value - set->runs[i].first : 0);
}

/* Returns the value with that many smaller ones in the set. */
static uint64_t value_at(struct step_departures *set, uint64_t place)
{
    size_t i = seek(set, place, true);
    return place + (i < set->run_count ? set->runs[i].before : set->gone);
}

static uint64_t gone_value(const struct step_departures *set, uint64_t rank)
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

static bool ends_batch(const struct step_departures *set, uint64_t value)
{
    return value <= set->last && set->waiting_count >= WAITING_LEAST &&
           set->waiting_count >= set->run_count / RUNS_PER_WAITING;
}

static bool wait(struct step_departures *set, uint64_t value)
{
    if (set->waiting_count == MOST)
        return true;
    if (!STEP_MAKE_ROOM(set->waiting, set->waiting_capacity, set->waiting_count + 1))
        return false;
    set->waiting[set->waiting_count++] = value;
    return true;
}

/* Records a coded value; `place` is the number of smaller values in the set, `gone` means that it
 * is not in the set. */
static bool take(struct step_departures *set, uint64_t value, uint64_t place, bool gone)
{
    if (ends_batch(set, value)) {
        if (!settle(set))
            return false;
        place = value - rank_of(set, value, &gone);
    }
    set->base = place + !gone;
    set->last = value;
    return wait(set, value);
}

bool step_departures_code(struct step_departures *set, uint64_t value, uint64_t *code)
{
    bool gone;
    uint64_t rank = rank_of(set, value, &gone);
    uint64_t place = value - rank;
    if (gone)
        *code = rank - set->gone;
    else
        *code = place - set->base - (place < set->base ? set->gone : 0);
    return take(set, value, place, gone);
}

bool step_departures_value(struct step_departures *set, uint64_t code, uint64_t *value)
{
    bool gone = set->gone > 0 && code >= 0 - set->gone;
    uint64_t place;
    if (gone) {
        uint64_t rank = code + set->gone;
        *value = gone_value(set, rank);
        place = *value - rank;
    } else {
        uint64_t above = 0 - set->gone - set->base; /* codes of values above; 0: all */
        bool ahead = set->base == 0 || code < above;
        place = ahead ? set->base + code : code - above;
        *value = value_at(set, place);
    }
    return take(set, *value, place, gone);
}

struct live {
    struct step_departures set;
    bool failed;
};

static bool live_begin(struct live *live, uint64_t parameter, unsigned bits, bool hashed)
{
    (void) parameter, (void) bits, (void) hashed;
    step_departures_clear(&live->set);
    return true;
}

static inline uint64_t live_code(struct live *live, uint64_t value, uint64_t key)
{
    (void) key;
    uint64_t code;
    live->failed = !step_departures_code(&live->set, value, &code);
    return code;
}

static inline uint64_t live_value(struct live *live, uint64_t code, uint64_t key)
{
    (void) key;
    uint64_t value;
    live->failed = !step_departures_value(&live->set, code, &value);
    return value;
}

static void live_end(struct live *live)
{
    step_departures_reset(&live->set);
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
