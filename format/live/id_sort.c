/* SPDX-License-Identifier: Apache-2.0 */
/* Least-significant-digit radix sort over the digits in which the ids differ. */
#include "format/live/id_sort.h"

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

void id_sort(uint64_t *ids, uint64_t *scratch, size_t count)
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
