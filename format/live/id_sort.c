/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorts object ids.  Most ids of a collection are young and thus close together, so a bitmap sorts
 * them in one pass.  If they are not, or one occurs twice: least-significant-digit radix sort over
 * the digits in which they differ.
 *
 * A collection of a large heap may free tens of millions of objects, and while the drain sorts
 * them, the program's threads fill the ring.  Both ways take time proportional to their number,
 * where qsort() would compare each about 25 times.
 */
#include "format/live/id_sort.h"

#include <stdbool.h>
#include <string.h>

#define DIGIT_BITS 11u
#define DIGITS (1u << DIGIT_BITS)

static void sort_digit(const uint64_t *from, uint64_t *to, size_t count, unsigned shift)
{
    size_t starts[DIGITS] = {0};
    for (size_t i = 0; i < count; i++)
        starts[(from[i] >> shift) & (DIGITS - 1)]++;
    size_t next = 0;
    for (size_t digit = 0; digit < DIGITS; digit++) {
        size_t here = starts[digit];
        starts[digit] = next;
        next += here;
    }
    for (size_t i = 0; i < count; i++)
        to[starts[(from[i] >> shift) & (DIGITS - 1)]++] = from[i];
}

static void range_of_ids(const uint64_t *ids, size_t count, uint64_t *least, uint64_t *most)
{
    *least = *most = ids[0];
    for (size_t i = 1; i < count; i++) {
        *least = ids[i] < *least ? ids[i] : *least;
        *most = ids[i] > *most ? ids[i] : *most;
    }
}

/* Returns false with only `bits` changed if the ids do not suit a bitmap: it has as many bits as
 * the ids span, and must fit into the scratch memory, that is, 64 bits an id at most.  Fewer bits
 * set than ids means that some id occurs twice, which a bitmap would lose. */
static bool sort_by_bits(uint64_t *ids, uint64_t *bits, size_t count)
{
    uint64_t least, most;
    range_of_ids(ids, count, &least, &most);
    if ((most - least) / 64 >= count)
        return false;
    size_t words = (size_t) ((most - least) / 64) + 1, found = 0;
    memset(bits, 0, words * sizeof *bits);
    for (size_t i = 0; i < count; i++)
        bits[(ids[i] - least) / 64] |= UINT64_C(1) << (ids[i] - least) % 64;
    for (size_t i = 0; i < words; i++)
        found += (size_t) __builtin_popcountll(bits[i]);
    if (found != count)
        return false;
    for (size_t i = 0; i < words; i++)
        for (uint64_t rest = bits[i]; rest != 0; rest &= rest - 1)
            *ids++ = least + 64 * i + (unsigned) __builtin_ctzll(rest);
    return true;
}

static void sort_by_digits(uint64_t *ids, uint64_t *scratch, size_t count)
{
    uint64_t differing = 0;
    for (size_t i = 1; i < count; i++)
        differing |= ids[i] ^ ids[0];
    uint64_t *from = ids, *to = scratch;
    for (unsigned shift = 0; shift < 64 && differing >> shift != 0; shift += DIGIT_BITS) {
        if (((differing >> shift) & (DIGITS - 1)) == 0)
            continue;
        sort_digit(from, to, count, shift);
        uint64_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != ids)
        memcpy(ids, from, count * sizeof *ids);
}

void id_sort(uint64_t *ids, uint64_t *scratch, size_t count)
{
    if (count > 1 && !sort_by_bits(ids, scratch, count))
        sort_by_digits(ids, scratch, count);
}
