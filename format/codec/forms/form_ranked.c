/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The form `ranked`, for values most of which are among a few hundred.  Layout: a varint with the
 * size of the table, at most 255; the table, ascending, as varints of the differences; one byte per
 * value, its index in the table or 255; for each 255, the value as a varint.
 *
 * It is what identifiers with large numbers, as methods and frames have, come to: one byte a value,
 * as the paper aims at (section 3.3), without the order of first use that the paper's numbers have.
 * The ascending table costs small differences, and neighbouring values keep neighbouring bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "format/codec/forms/form.h"
#include "format/core/bytes.h"
#include "format/core/hash.h"
#include "format/core/search.h"

enum { TABLE = 255, ESCAPE = 255, MAX_HASH_BITS = 12, MOST_DISTINCT = 1 << (MAX_HASH_BITS - 1) };
enum { SMALL = 1 << 14 };
/* If there are more values, only a sample is counted. */
enum { ENOUGH = 1 << 15 };

/* Counts of the values, or of a sample.  New values are ignored when it is full. */
struct census {
    struct tally {
        uint64_t value;
        uint32_t count; /* 0: free */
        uint32_t rank;
    } * tallies;
    unsigned bits;
    size_t distinct;
};

static uint64_t ranked_bound(uint64_t parameter, uint64_t count)
{
    (void) parameter;
    return STEP_VARINT_MAX + TABLE * STEP_VARINT_MAX + count * (1 + STEP_VARINT_MAX);
}

/* Returns the value's tally, or the free one where it belongs. */
static struct tally *form_ranked_find(const struct census *census, uint64_t value)
{
    size_t mask = ((size_t) 1 << census->bits) - 1;
    size_t i = (size_t) (step_hash(value) >> (64 - census->bits));
    while (census->tallies[i].count != 0 && census->tallies[i].value != value)
        i = (i + 1) & mask;
    return &census->tallies[i];
}

/* Counts values in a hash table that is at most half full, so probing ends soon.  When half of it
 * is used, further values are not counted: a frequent one was most likely met by then.  The table
 * is no part of the format. */
static bool take_census(struct census *census, const uint64_t *values, size_t count)
{
    census->bits = 9;
    while (census->bits < MAX_HASH_BITS && (size_t) 1 << census->bits < 2 * count)
        census->bits++;
    census->distinct = 0;
    census->tallies = calloc((size_t) 1 << census->bits, sizeof *census->tallies);
    if (census->tallies == NULL)
        return false;
    size_t most = ((size_t) 1 << census->bits) / 2;
    size_t step = count / ENOUGH + 1;
    for (size_t i = 0; i < count; i += step) {
        struct tally *tally = form_ranked_find(census, values[i]);
        if (tally->count == 0) {
            if (census->distinct == most)
                continue;
            census->distinct++;
            tally->value = values[i];
        }
        tally->count++;
    }
    return true;
}

/* Returns the smallest count that at most TABLE values reach.  A value that occurs once saves
 * nothing: in the table it takes as much as outside.  The counts are sorted, not the values, since
 * only the limit is needed. */
static uint32_t find_least(const struct census *census, uint64_t *counts)
{
    size_t size = (size_t) 1 << census->bits;
    size_t n = 0;
    for (size_t i = 0; i < size; i++)
        if (census->tallies[i].count >= 2)
            counts[n++] = census->tallies[i].count;
    if (n <= TABLE)
        return 2;
    qsort(counts, n, sizeof *counts, step_compare_numbers);
    return (uint32_t) counts[n - TABLE - 1] + 1;
}

/* Stores the most frequent values in `table`, and their ranks in the census. */
static size_t fill_table(struct census *census, uint64_t *table)
{
    uint64_t counts[MOST_DISTINCT];
    uint32_t least = find_least(census, counts);
    size_t size = (size_t) 1 << census->bits;
    size_t n = 0;
    for (size_t i = 0; i < size; i++) {
        census->tallies[i].rank = ESCAPE;
        if (census->tallies[i].count >= least && n < TABLE)
            table[n++] = census->tallies[i].value;
    }
    qsort(table, n, sizeof *table, step_compare_numbers);
    for (size_t i = 0; i < n; i++)
        form_ranked_find(census, table[i])->rank = (uint32_t) i;
    return n;
}

/* Writes the ranks.  Returns the end of the values without a rank, which are written at `at`. */
static uint8_t *put_found(const struct census *census, const uint64_t *values, size_t count,
                          uint8_t *ranks, uint8_t *at)
{
    for (size_t i = 0; i < count; i++) {
        const struct tally *tally = form_ranked_find(census, values[i]);
        ranks[i] = (uint8_t) (tally->count != 0 ? tally->rank : ESCAPE);
        if (ranks[i] == ESCAPE)
            at = step_varint_put(at, values[i]);
    }
    return at;
}

/* Like put_found() for values below SMALL, most of them by table look-up. */
static uint8_t *put_small(const uint64_t *table, size_t table_count, const uint64_t *values,
                          size_t count, uint8_t *ranks, uint8_t *at)
{
    uint8_t rank_of[SMALL];
    memset(rank_of, ESCAPE, sizeof rank_of);
    for (size_t i = 0; i < table_count; i++)
        rank_of[table[i]] = (uint8_t) i;
    for (size_t i = 0; i < count; i++) {
        ranks[i] = rank_of[values[i]];
        if (ranks[i] == ESCAPE)
            at = step_varint_put(at, values[i]);
    }
    return at;
}

static bool are_small(const uint64_t *values, size_t count)
{
    uint64_t mask = 0;
    for (size_t i = 0; i < count; i++)
        mask |= values[i];
    return mask < SMALL;
}

static size_t ranked_encode(uint64_t parameter, const uint64_t *values, size_t count, uint8_t *out)
{
    (void) parameter;
    uint64_t table[TABLE];
    struct census census;
    if (!take_census(&census, values, count))
        return STEP_FORM_NO_MEMORY;
    size_t n = fill_table(&census, table);
    uint8_t *at = step_varint_put(out, n);
    for (size_t i = 0; i < n; i++)
        at = step_varint_put(at, table[i] - (i > 0 ? table[i - 1] : 0));
    uint8_t *ranks = at;
    at += count;
    at = count >= SMALL && are_small(values, count) ? put_small(table, n, values, count, ranks, at)
                                                    : put_found(&census, values, count, ranks, at);
    free(census.tallies);
    return (size_t) (at - out);
}

static bool ranked_decode(uint64_t parameter, const uint8_t *in, size_t length, uint64_t *values,
                          size_t count)
{
    (void) parameter;
    struct step_cursor cursor = step_cursor_of(in, length);
    uint64_t table[TABLE + 1] = {0};
    uint64_t n;
    if (!step_cursor_varint(&cursor, &n) || n > TABLE)
        return false;
    uint64_t last = 0;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t beyond;
        if (!step_cursor_varint(&cursor, &beyond))
            return false;
        table[i] = last += beyond;
    }
    const uint8_t *ranks;
    if (!step_cursor_bytes(&cursor, count, &ranks))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (ranks[i] < n)
            values[i] = table[ranks[i]];
        else if (ranks[i] != ESCAPE || !step_cursor_varint(&cursor, &values[i]))
            return false;
    }
    return step_cursor_left(&cursor) == 0;
}

const struct step_form step_form_ranked = {
    .id = STEP_FORM_RANKED,
    .name = "ranked",
    .bound = ranked_bound,
    .encode = ranked_encode,
    .decode = ranked_decode,
};
