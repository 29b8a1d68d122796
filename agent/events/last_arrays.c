/* SPDX-License-Identifier: Apache-2.0 */
/* Subset sums: for each sum, the least and the greatest number of arrays that have it. */
#include "agent/events/last_arrays.h"

#include <string.h>

/* In words of 8 bytes, of which all sizes are multiples. */
#define SUM_MOST 65536u
#define STEPS_MOST ((uint64_t) 2 << 20) /* some milliseconds: the program stands still */
#define NO_NUMBER UINT16_MAX

void last_arrays_add(struct last_arrays *arrays, uint64_t bytes)
{
    if (arrays->count < LAST_ARRAYS_MOST)
        arrays->words[arrays->count] = bytes / 8 < UINT32_MAX ? (uint32_t) (bytes / 8) : UINT32_MAX;
    arrays->count++;
    arrays->bytes += bytes;
}

static struct {
    uint16_t least[SUM_MOST + 1], most[SUM_MOST + 1];
} numbers;

/* From the greatest sum down, so that each array counts once. */
static void add_to_sums(uint32_t words, uint32_t sum)
{
    for (uint32_t at = sum; at >= words; at--) {
        uint32_t before = at - words;
        if (numbers.least[before] == NO_NUMBER)
            continue;
        uint16_t least = (uint16_t) (numbers.least[before] + 1);
        uint16_t most = (uint16_t) (numbers.most[before] + 1);
        if (numbers.least[at] == NO_NUMBER || numbers.most[at] < most)
            numbers.most[at] = most;
        if (numbers.least[at] > least)
            numbers.least[at] = least;
    }
}

/* Choosing some arrays and leaving out the others is the same: the smaller sum is looked for, in
 * which few arrays can be. */
bool last_arrays_choose(const struct last_arrays *arrays, uint64_t bytes, uint64_t *count)
{
    if (arrays->count > LAST_ARRAYS_MOST || bytes > arrays->bytes || bytes % 8 != 0)
        return false;
    bool leaves_out = arrays->bytes - bytes < bytes;
    uint64_t sum = (leaves_out ? arrays->bytes - bytes : bytes) / 8;
    if (sum > SUM_MOST || sum * arrays->count > STEPS_MOST)
        return false;
    memset(numbers.least, 0xff, ((size_t) sum + 1) * sizeof numbers.least[0]);
    numbers.least[0] = numbers.most[0] = 0;
    for (size_t i = 0; i < arrays->count; i++)
        if (arrays->words[i] != 0)
            add_to_sums(arrays->words[i], (uint32_t) sum);
    uint16_t number = numbers.least[sum];
    *count = leaves_out ? arrays->count - number : number;
    return number != NO_NUMBER && number == numbers.most[sum];
}
