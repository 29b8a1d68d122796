/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prediction tables shared by the transforms of columns and the encoders of rows.  Tables have
 * 2^bits entries, all 0 at the start, and are indexed without checking the key: a collision only
 * makes predictions worse.  Storing keys would double the tables, for values that are mostly
 * guessed right anyway.
 *
 * A table is as large as the number of values asks for, within a limit: it is cleared for each
 * block, and a small block must not pay for a large table.  Readers learn its size from the
 * directory.
 */
#ifndef FORMAT_CODEC_STRATEGIES_PREDICTOR_H
#define FORMAT_CODEC_STRATEGIES_PREDICTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format/codec/strategies/strategy_table.h"
#include "format/core/hash.h"

enum { STEP_TABLE_BITS_MAX = 20, STEP_CONTEXT_MAX = 4, STEP_RECENT_MAX = 16 };

/* Returns the bits of a table for that many values. */
static inline unsigned step_table_bits(size_t count, unsigned most)
{
    unsigned bits = 4;
    while (bits < most && (size_t) 1 << bits < count)
        bits++;
    return bits;
}

/* Returns the top bits of a hash; shift is 64 less the table's bits. */
static inline size_t step_top_bits(uint64_t key, unsigned shift)
{
    return (size_t) (step_hash(key) >> shift);
}

/* Returns the table index for another field's value: its low bits (identifiers), or its hash. */
static inline size_t step_given_entry(uint64_t key, bool hashed, unsigned bits)
{
    return hashed ? step_top_bits(key, 64 - bits) : (size_t) (key & ((UINT64_C(1) << bits) - 1));
}

/* A prediction table.  Zero-initialise for no entries. */
struct step_table {
    uint64_t *entries;
    size_t capacity;
    unsigned bits;
};

/* Sets all entries to 0.  Returns false if out of memory. */
static inline bool step_table_start(struct step_table *table, unsigned bits)
{
    size_t size = (size_t) 1 << bits;
    table->bits = bits;
    if (size <= table->capacity) {
        memset(table->entries, 0, size * sizeof *table->entries);
        return true;
    }
    free(table->entries);
    table->entries = calloc(size, sizeof *table->entries);
    table->capacity = table->entries != NULL ? size : 0;
    return table->entries != NULL;
}

static inline void step_table_reset(struct step_table *table)
{
    free(table->entries);
    *table = (struct step_table){0};
}

/* The last values, the newest first; values beyond the order stay 0. */
struct step_context {
    uint64_t last[STEP_CONTEXT_MAX];
    size_t order;
    unsigned shift;
};

static inline size_t step_context_entry(const struct step_context *context)
{
    uint64_t key = context->last[0] + 1;
    for (size_t i = 1; i < context->order; i++)
        key = step_hash(key ^ key >> 32) + context->last[i];
    return step_top_bits(key ^ key >> 29, context->shift);
}

static inline void step_context_push(struct step_context *context, uint64_t value)
{
    for (size_t i = context->order - 1; i > 0; i--)
        context->last[i] = context->last[i - 1];
    context->last[0] = value;
}

/* Codes the guessed value as 0 and moves smaller ones up by one.  So a right guess is 0, whatever
 * the value, each value keeps a code of its own, and no code is more than 1 above its value. */
static inline uint64_t step_front_code(uint64_t value, uint64_t guess)
{
    return value == guess ? 0 : value + (value < guess);
}

static inline uint64_t step_front_value(uint64_t code, uint64_t guess)
{
    return code == 0 ? guess : code - (code <= guess);
}

/* The last distinct values, the newest first; at most `size` are kept. */
struct step_recent {
    uint64_t values[STEP_RECENT_MAX];
    size_t size;
    size_t count;
};

/* Moves the value at `place` to the front; `place` == count: it is new. */
static inline void step_recent_push(struct step_recent *recent, size_t place, uint64_t value)
{
    if (place == recent->count && recent->count < recent->size)
        recent->count++;
    else if (place == recent->count)
        place--;
    for (; place > 0; place--)
        recent->values[place] = recent->values[place - 1];
    recent->values[0] = value;
}

/* Codes a listed value as its place.  Codes from `count` on are all other values, in their order: a
 * value is moved up by the listed values that are larger, which it would otherwise leave unused.
 * Adding `count` and taking off the smaller ones says the same without a branch for each. */
static inline uint64_t step_recent_code(struct step_recent *recent, uint64_t value)
{
    size_t place = 0;
    uint64_t code = value + recent->count;
    for (; place < recent->count && recent->values[place] != value; place++)
        code -= recent->values[place] < value;
    if (place < recent->count)
        code = place;
    step_recent_push(recent, place, value);
    return code;
}

/* The inverse needs the listed values in order: each that is not above the value so far is put
 * back. */
static inline uint64_t step_recent_value(struct step_recent *recent, uint64_t code)
{
    uint64_t sorted[STEP_RECENT_MAX];
    uint64_t value = code - recent->count;
    if (code < recent->count) {
        value = recent->values[code];
        step_recent_push(recent, (size_t) code, value);
        return value;
    }
    for (size_t i = 0; i < recent->count; i++) {
        size_t at = i;
        for (; at > 0 && sorted[at - 1] > recent->values[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = recent->values[i];
    }
    for (size_t i = 0; i < recent->count && sorted[i] <= value; i++)
        value++;
    step_recent_push(recent, recent->count, value);
    return value;
}

/* The series of `linked` and `listed` at the current value. */
struct linked_series {
    struct step_series series[STEP_LINKED_SERIES];
};

/* In their parameter 0: the key's field in the low bits; above them 1 plus the holder's field, or
 * 0. */
enum { LINKED_HOLDER_SHIFT = 24 };

static inline struct linked_series linked_series_start(const struct step_series *series)
{
    struct linked_series at;
    for (size_t i = 0; i < STEP_LINKED_SERIES; i++)
        at.series[i] = series->linked[i];
    return at;
}

static inline void linked_series_advance(struct linked_series *at)
{
    for (size_t i = 0; i < STEP_LINKED_SERIES; i++)
        at->series[i].values += at->series[i].step;
}

static inline uint64_t linked_series_now(const struct linked_series *at,
                                         enum step_linked_series which)
{
    return *at->series[which].values;
}

#endif
