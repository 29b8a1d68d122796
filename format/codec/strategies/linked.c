/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The transform `linked`, for numbers of objects that refer to each other.  Most values followed
 * the same values with the same key before, or were met recently, in this or another field of the
 * record.  Other values are coded relative to a field of another record.
 *
 * For each value a list of candidates is made, without duplicates; a listed value becomes its
 * place.  Guesses come first, then what was met, the newest first, so likely values have small
 * codes.  In java.step the key of a store is its field, so each field has a memory of its own; and
 * the holder of a store is met before its target, as both are often new.
 *
 * Only packing tries it: four tables and a new list for each value make it slow, in readers too.
 */
#include <stdlib.h>

#include "format/codec/strategies/candidates.h"
#include "format/codec/strategies/predictor.h"

enum { GUESSES = 3, LIST = GUESSES + STEP_RECENT_MAX };

/* Parameters: fields of the record; 1 plus the reference column, or 0; bits of the tables. */
static bool linked_valid(const uint64_t *parameters)
{
    return parameters[0] >> (2 * LINKED_HOLDER_SHIFT) == 0 && parameters[2] >= 1 &&
           parameters[2] <= STEP_TABLE_BITS_MAX;
}

/* Tables by key: the last value and the one before it.  Tables by value: successors of the last
 * value, and of the last two. */
enum table { LAST, BEFORE, AFTER_ONE, AFTER_TWO, TABLES };

struct linked {
    uint64_t *tables[TABLES];
    size_t by_key; /* entries for the current value */
    size_t by_one;
    size_t by_two;
    unsigned shift;
    bool has_holder;
    struct step_recent recent;
    uint64_t list[LIST]; /* distinct candidates for the current value */
    size_t count;
};

static bool linked_start(struct linked *linked, const uint64_t *parameters)
{
    size_t size = (size_t) 1 << parameters[2];
    uint64_t *tables = calloc(TABLES * size, sizeof *tables);
    *linked = (struct linked){.shift = 64 - (unsigned) parameters[2],
                              .has_holder = parameters[0] >> LINKED_HOLDER_SHIFT != 0,
                              .recent.size = STEP_RECENT_MAX};
    for (size_t i = 0; tables != NULL && i < TABLES; i++)
        linked->tables[i] = tables + i * size;
    return tables != NULL;
}

static inline void meet(struct step_recent *recent, uint64_t value)
{
    size_t place = 0;
    while (place < recent->count && recent->values[place] != value)
        place++;
    step_recent_push(recent, place, value);
}

static inline void find_entries(struct linked *linked, uint64_t key)
{
    uint64_t hash = key + 1;
    linked->by_key = step_top_bits(hash ^ hash >> 29, linked->shift);
    hash = step_hash(hash ^ hash >> 32) + linked->tables[LAST][linked->by_key];
    linked->by_one = step_top_bits(hash ^ hash >> 29, linked->shift);
    hash = step_hash(hash ^ hash >> 32) + linked->tables[BEFORE][linked->by_key];
    linked->by_two = step_top_bits(hash ^ hash >> 29, linked->shift);
}

/* Lists the candidates: successors of one value and of two, the last value itself, and values met
 * recently. */
static inline void list_values(struct linked *linked)
{
    uint64_t *list = linked->list;
    uint64_t one = linked->tables[AFTER_ONE][linked->by_one];
    uint64_t two = linked->tables[AFTER_TWO][linked->by_two];
    uint64_t last = linked->tables[LAST][linked->by_key];
    size_t count = 0;
    list[count++] = one;
    list[count] = two;
    count += two != one;
    list[count] = last;
    count += last != one && last != two;
    for (size_t i = 0; i < linked->recent.count; i++) {
        uint64_t value = linked->recent.values[i];
        list[count] = value;
        count += value != one && value != two && value != last;
    }
    linked->count = count;
}

static inline void linked_expect(struct linked *linked, uint64_t key, uint64_t holder)
{
    if (linked->has_holder)
        meet(&linked->recent, holder);
    find_entries(linked, key);
    list_values(linked);
}

static inline void learn(struct linked *linked, uint64_t value)
{
    linked->tables[AFTER_ONE][linked->by_one] = value;
    linked->tables[AFTER_TWO][linked->by_two] = value;
    linked->tables[BEFORE][linked->by_key] = linked->tables[LAST][linked->by_key];
    linked->tables[LAST][linked->by_key] = value;
    meet(&linked->recent, value);
}

/* A value that is not listed is coded by its distance from the newest object.  Codes below the
 * length of the list are taken, and the distances of listed values would be unused.  So distances
 * are counted without those of listed values: codes stay without gaps, and any 64-bit number has
 * one. */
static inline uint64_t linked_code_of(const struct linked *linked, uint64_t value, uint64_t newest)
{
    size_t place = 0;
    while (place < linked->count && linked->list[place] != value)
        place++;
    if (place < linked->count)
        return place;
    uint64_t distance = step_zigzag(newest - value);
    uint64_t code = distance + linked->count;
    for (size_t i = 0; i < linked->count; i++)
        code -= step_zigzag(newest - linked->list[i]) < distance;
    return code;
}

/* The inverse: each listed distance that is not above the one so far is put back, in ascending
 * order. */
static inline uint64_t linked_value_of(const struct linked *linked, uint64_t code, uint64_t newest)
{
    uint64_t sorted[LIST];
    if (code < linked->count)
        return linked->list[code];
    uint64_t distance = code - linked->count;
    for (size_t i = 0; i < linked->count; i++) {
        uint64_t listed = step_zigzag(newest - linked->list[i]);
        size_t at = i;
        for (; at > 0 && sorted[at - 1] > listed; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = listed;
    }
    for (size_t i = 0; i < linked->count && sorted[i] <= distance; i++)
        distance++;
    return newest - step_unzigzag(distance);
}

static enum step_status linked_forward(const uint64_t *parameters, const struct step_series *series,
                                       const uint64_t *in, uint64_t *out, size_t count)
{
    struct linked linked;
    struct linked_series at = linked_series_start(series);
    if (!linked_start(&linked, parameters))
        return STEP_STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++, linked_series_advance(&at)) {
        uint64_t value = in[i];
        linked_expect(&linked, linked_series_now(&at, STEP_LINKED_KEY),
                      linked_series_now(&at, STEP_LINKED_HOLDER));
        out[i] = linked_code_of(&linked, value, linked_series_now(&at, STEP_LINKED_NEWEST));
        learn(&linked, value);
    }
    free(linked.tables[0]);
    return STEP_STATUS_OK;
}

static enum step_status linked_inverse(const uint64_t *parameters, const struct step_series *series,
                                       uint64_t *values, size_t count)
{
    struct linked linked;
    struct linked_series at = linked_series_start(series);
    if (!linked_start(&linked, parameters))
        return STEP_STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++, linked_series_advance(&at)) {
        linked_expect(&linked, linked_series_now(&at, STEP_LINKED_KEY),
                      linked_series_now(&at, STEP_LINKED_HOLDER));
        values[i] = linked_value_of(&linked, values[i], linked_series_now(&at, STEP_LINKED_NEWEST));
        learn(&linked, values[i]);
    }
    free(linked.tables[0]);
    return STEP_STATUS_OK;
}

static void linked_propose(const struct step_trial *trial)
{
    const struct step_coding_hints *hints = trial->hints;
    if (trial->round == STEP_ROUND_KEYED && hints->is_linked && trial->thorough)
        step_trial_add(trial, &step_transform_linked, hints->linked[0], hints->linked[1],
                       trial->bits);
}

const struct step_transform step_transform_linked = {
    .id = STEP_TRANSFORM_LINKED,
    .name = "linked",
    .parameter_count = 3,
    .series = STEP_SERIES_LINKED,
    .valid = linked_valid,
    .forward = linked_forward,
    .inverse = linked_inverse,
    .propose = linked_propose,
};
