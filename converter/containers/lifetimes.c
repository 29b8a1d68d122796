/* SPDX-License-Identifier: Apache-2.0 */
/* Finds buckets by bisection; computes the mean and percentiles of lifetimes. */
#include "converter/containers/lifetimes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns the index of the first entry whose bucket is not below `bucket`. */
static uint32_t index_of(const struct lifetimes *lifetimes, unsigned bucket)
{
    uint32_t low = 0, high = lifetimes->used;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (lifetimes_bucket_at(lifetimes, middle) < bucket)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Grows by half: most sites have few lifetimes. */
static bool lifetimes_grow(struct lifetimes *lifetimes)
{
    uint32_t wanted = lifetimes->capacity + lifetimes->capacity / 2 + 4;
    uint64_t *grown = realloc(lifetimes->buckets, wanted * sizeof *grown);
    if (grown == NULL)
        return false;
    lifetimes->buckets = grown;
    lifetimes->capacity = wanted;
    return true;
}

bool lifetimes_find(struct lifetimes *lifetimes, unsigned bucket)
{
    uint32_t at = index_of(lifetimes, bucket);
    if (at == lifetimes->used || lifetimes_bucket_at(lifetimes, at) != bucket) {
        if (lifetimes->used == lifetimes->capacity && !lifetimes_grow(lifetimes))
            return false;
        memmove(&lifetimes->buckets[at + 1], &lifetimes->buckets[at],
                (lifetimes->used - at) * sizeof *lifetimes->buckets);
        lifetimes->buckets[at] = (uint64_t) bucket << LIFETIME_COUNT_BITS;
        lifetimes->used++;
    }
    lifetimes->last = at;
    return true;
}

void lifetimes_reset(struct lifetimes *lifetimes)
{
    free(lifetimes->buckets);
    *lifetimes = (struct lifetimes){.count = 0};
}

double lifetimes_mean(const struct lifetimes *lifetimes)
{
    return lifetimes->count > 0 ? lifetimes->sum / (double) lifetimes->count : 0.0;
}

uint64_t lifetimes_least_of(unsigned bucket)
{
    unsigned power = bucket / LIFETIME_STEPS, step = bucket % LIFETIME_STEPS;
    return power == 0 ? step : (uint64_t) (LIFETIME_STEPS + step) << (power - 1);
}

static double middle_of(unsigned bucket)
{
    unsigned power = bucket / LIFETIME_STEPS;
    double width = power == 0 ? 1 : ldexp(1, (int) power - 1);
    return (double) lifetimes_least_of(bucket) + (width - 1) / 2;
}

double lifetimes_percentile(const struct lifetimes *lifetimes, double share)
{
    double wanted = share * (double) lifetimes->count, below = 0;
    for (uint32_t i = 0; i < lifetimes->used; i++) {
        below += (double) lifetimes_count_at(lifetimes, i);
        if (below >= wanted) {
            double value = middle_of(lifetimes_bucket_at(lifetimes, i));
            return value < (double) lifetimes->most ? value : (double) lifetimes->most;
        }
    }
    return (double) lifetimes->most;
}

uint64_t lifetimes_of_bits(const struct lifetimes *lifetimes, unsigned bits)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < lifetimes->used; i++) {
        uint64_t least = lifetimes_least_of(lifetimes_bucket_at(lifetimes, i));
        unsigned here = least == 0 ? 0 : 64u - (unsigned) __builtin_clzll(least);
        count += here == bits ? lifetimes_count_at(lifetimes, i) : 0;
    }
    return count;
}
