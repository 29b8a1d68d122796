/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting and binary search of arrays of numbers.  An inline header, as all layers may use it. */
#ifndef FORMAT_CORE_SEARCH_H
#define FORMAT_CORE_SEARCH_H

#include <stddef.h>
#include <stdint.h>

/* The order of two uint64_t, for qsort(). */
static inline int step_compare_numbers(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *) left;
    uint64_t b = *(const uint64_t *) right;
    return (a > b) - (a < b);
}

/* Returns the index of the first number that is not less than the value. */
static inline size_t step_lower_bound(const uint64_t *numbers, size_t count, uint64_t value)
{
    size_t from = 0, to = count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (numbers[middle] < value)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

#endif
