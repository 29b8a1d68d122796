/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The transform `listed`, for numbers of objects that refer to each other, by lists of recent
 * values per key.  Most values are among the last values met, or among recent values of the same
 * key.  Other values are coded relative to a field of another record.  It uses the series of
 * `linked`.
 *
 * It is the fast one of the two: no hashing and no tables of successors, but a few words in a row
 * that are compared with the value.  So writers try it for each block, with short lists.  A value
 * found among those met does not touch the key's list, which makes the frequent case short.
 */
#include <stdlib.h>

#include "format/codec/strategies/candidates.h"
#include "format/codec/strategies/predictor.h"

enum {
    KEPT_MAX = 64,
    ENTRIES_BITS = 20 /* limit for all lists together */
};

/* Parameter 2: the number of lists, in bits; the numbers of recent values and of list entries
 * kept. */
static uint64_t sizes_of(unsigned bits, unsigned met, unsigned kept)
{
    return bits | (uint64_t) met << 8 | (uint64_t) kept << 16;
}

static inline unsigned bits_of(uint64_t sizes)
{
    return (unsigned) (sizes & 0xff);
}

static inline size_t met_of(uint64_t sizes)
{
    return (size_t) (sizes >> 8 & 0xff);
}

static inline size_t kept_of(uint64_t sizes)
{
    return (size_t) (sizes >> 16);
}

/* Parameters: fields of the record; 1 plus the reference column, or 0; sizes. */
static bool listed_valid(const uint64_t *parameters)
{
    uint64_t sizes = parameters[2];
    return parameters[0] >> (2 * LINKED_HOLDER_SHIFT) == 0 && bits_of(sizes) <= ENTRIES_BITS &&
           met_of(sizes) <= STEP_RECENT_MAX && kept_of(sizes) >= 1 && sizes >> 16 <= KEPT_MAX &&
           kept_of(sizes) << bits_of(sizes) <= 1 << ENTRIES_BITS;
}

/* Places 0, 1, ... are the values met last, then the key's list.  A value found among the former
 * does not change the list, so most values need only a search of the few. */
struct listed {
    uint64_t met[STEP_RECENT_MAX];
    uint64_t *kept; /* list of the key */
    size_t met_count;
    size_t kept_count;
    size_t places;
    uint64_t newest;
};

/* The lists of all keys. */
struct lists {
    uint64_t *values;
    uint64_t mask;
};

static bool listed_start(struct listed *listed, struct lists *lists, const uint64_t *parameters)
{
    uint64_t sizes = parameters[2];
    *listed = (struct listed){.met_count = met_of(sizes),
                              .kept_count = kept_of(sizes),
                              .places = met_of(sizes) + kept_of(sizes)};
    lists->mask = (UINT64_C(1) << bits_of(sizes)) - 1;
    lists->values = calloc((size_t) (lists->mask + 1) * listed->kept_count, sizeof(uint64_t));
    return lists->values != NULL;
}

static inline size_t listed_find(const uint64_t *values, size_t count, uint64_t value)
{
    size_t place = 0;
    while (place < count && values[place] != value)
        place++;
    return place;
}

/* Moves a value to the front and returns its old index.  A value that was not in the list replaces
 * the last. */
static inline size_t bring(uint64_t *values, size_t count, uint64_t value)
{
    uint64_t before = value;
    for (size_t place = 0; place < count; place++) {
        uint64_t here = values[place];
        values[place] = before;
        if (here == value)
            return place;
        before = here;
    }
    return count;
}

/* Returns the index of a value, or the number of entries if it is missing. */
static inline size_t listed_place_of(const struct listed *listed, uint64_t value)
{
    size_t place = listed_find(listed->met, listed->met_count, value);
    return place < listed->met_count ? place
                                     : place + listed_find(listed->kept, listed->kept_count, value);
}

static inline uint64_t listed_value_at(const struct listed *listed, size_t place)
{
    return place < listed->met_count ? listed->met[place] : listed->kept[place - listed->met_count];
}

/* Returns true if the place is a code that is in use: the value there has no earlier place.  Only 0
 * can occur twice in a list, as lists begin with zeros; and a value can be both among those met and
 * in the key's list. */
static inline bool is_used(const struct listed *listed, uint64_t place)
{
    if (place >= listed->places)
        return false;
    uint64_t value = listed_value_at(listed, (size_t) place);
    if (value == 0)
        return listed_place_of(listed, value) == (size_t) place;
    return place < listed->met_count ||
           listed_find(listed->met, listed->met_count, value) == listed->met_count;
}

static inline uint64_t distant_code(const struct listed *listed, uint64_t value)
{
    return step_zigzag(listed->newest - value) + listed->places;
}

static inline uint64_t distant_value(const struct listed *listed, uint64_t code)
{
    return listed->newest - step_unzigzag(code - listed->places);
}

/*
 * Codes of unlisted values start after the places.  If that overflows, they skip the places in use.
 *
 * The distance of a value is any number below 2^64, so the last `places` distances overflow into
 * the codes of places.  Such a code is free unless the place is in use.  In that case the listed
 * value, which has the place as its code, leaves its own distant code unused: that one is taken
 * over, and if it is a place in use as well, the next.  The chain ends, as distances are one to one
 * and it started at a value that no place has.  listed_value_of() walks it in the opposite
 * direction.
 */
static __attribute__((noinline)) uint64_t overflown_code(const struct listed *listed,
                                                         uint64_t value)
{
    size_t place = listed_place_of(listed, value);
    if (place < listed->places)
        return place;
    uint64_t code = distant_code(listed, value);
    while (is_used(listed, code))
        code = distant_code(listed, listed_value_at(listed, (size_t) code));
    return code;
}

/* Returns the code of a value, and adds the value to the lists. */
static inline uint64_t listed_take(struct listed *listed, uint64_t value)
{
    uint64_t distant = distant_code(listed, value);
    if (__builtin_expect(distant < listed->places, 0)) {
        struct listed copy = *listed; /* a copy without pointers to it can stay in registers */
        distant = overflown_code(&copy, value);
    }
    size_t met = bring(listed->met, listed->met_count, value);
    if (met < listed->met_count)
        return met;
    size_t kept = bring(listed->kept, listed->kept_count, value);
    return kept < listed->kept_count ? listed->met_count + kept : distant;
}

static inline uint64_t listed_value_of(const struct listed *listed, uint64_t code)
{
    if (is_used(listed, code))
        return listed_value_at(listed, (size_t) code);
    uint64_t value = distant_value(listed, code);
    for (size_t place; (place = listed_place_of(listed, value)) < listed->places;)
        value = distant_value(listed, place);
    return value;
}

static inline void listed_expect(struct listed *listed, const struct lists *lists,
                                 const struct linked_series *at, bool has_holder)
{
    listed->newest = linked_series_now(at, STEP_LINKED_NEWEST);
    listed->kept = lists->values + (size_t) (linked_series_now(at, STEP_LINKED_KEY) & lists->mask) *
                                       listed->kept_count;
    if (has_holder)
        bring(listed->met, listed->met_count, linked_series_now(at, STEP_LINKED_HOLDER));
}

static enum step_status listed_forward(const uint64_t *parameters, const struct step_series *series,
                                       const uint64_t *in, uint64_t *out, size_t count)
{
    struct listed listed;
    struct lists lists;
    struct linked_series at = linked_series_start(series);
    bool has_holder = parameters[0] >> LINKED_HOLDER_SHIFT != 0;
    if (!listed_start(&listed, &lists, parameters))
        return STEP_STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++, linked_series_advance(&at)) {
        listed_expect(&listed, &lists, &at, has_holder);
        out[i] = listed_take(&listed, in[i]);
    }
    free(lists.values);
    return STEP_STATUS_OK;
}

static enum step_status listed_inverse(const uint64_t *parameters, const struct step_series *series,
                                       uint64_t *values, size_t count)
{
    struct listed listed;
    struct lists lists;
    struct linked_series at = linked_series_start(series);
    bool has_holder = parameters[0] >> LINKED_HOLDER_SHIFT != 0;
    if (!listed_start(&listed, &lists, parameters))
        return STEP_STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++, linked_series_advance(&at)) {
        listed_expect(&listed, &lists, &at, has_holder);
        values[i] = listed_value_of(&listed, values[i]);
        if (bring(listed.met, listed.met_count, values[i]) == listed.met_count)
            bring(listed.kept, listed.kept_count, values[i]);
    }
    free(lists.values);
    return STEP_STATUS_OK;
}

static void propose(const struct step_trial *trial, unsigned most_bits, unsigned met, unsigned kept)
{
    unsigned bits = trial->bits < most_bits ? trial->bits : most_bits;
    step_trial_add(trial, &step_transform_listed, trial->hints->linked[0], trial->hints->linked[1],
                   sizes_of(bits, met, kept));
}

static void listed_propose(const struct step_trial *trial)
{
    if (trial->round != STEP_ROUND_KEYED || !trial->hints->is_linked)
        return;
    propose(trial, 12, 2, 4);
    propose(trial, 12, 4, 16);
    if (trial->thorough)
        propose(trial, 14, STEP_RECENT_MAX, KEPT_MAX);
}

const struct step_transform step_transform_listed = {
    .id = STEP_TRANSFORM_LISTED,
    .name = "listed",
    .parameter_count = 3,
    .series = STEP_SERIES_LINKED,
    .valid = listed_valid,
    .forward = listed_forward,
    .inverse = listed_inverse,
    .propose = listed_propose,
};
