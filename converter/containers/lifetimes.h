/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A histogram of lifetimes, for their mean and percentiles.  Values below 32 have a bucket each,
 * and each power of two above is divided into 32 equal buckets.  A percentile is the middle of its
 * bucket, an error of at most 1.6 %.  Only buckets in use take memory: 8 bytes each, at most
 * 15 KiB.
 */
#ifndef CONVERTER_CONTAINERS_LIFETIMES_H
#define CONVERTER_CONTAINERS_LIFETIMES_H

#include <stdbool.h>
#include <stdint.h>

#define LIFETIME_STEP_BITS 5u
#define LIFETIME_STEPS (1u << LIFETIME_STEP_BITS) /* buckets of a power of two */
#define LIFETIME_POWERS (65u - LIFETIME_STEP_BITS)
#define LIFETIME_BUCKETS (LIFETIME_POWERS * LIFETIME_STEPS)
#define LIFETIME_ERROR_PERCENT 1.6

/* To initialise, zero the structure. */
struct lifetimes {
    uint64_t count;
    double sum;
    uint64_t most;
    /* Sorted by bucket: the bucket's number above LIFETIME_COUNT_BITS bits for the count. */
    uint64_t *buckets;
    uint32_t used, capacity;
    uint32_t last; /* index of the bucket of the last value, which is often that of the next */
};

#define LIFETIME_COUNT_BITS 52u

/* Returns the number of the bucket of a value.  Buckets are numbered in the order of values. */
static inline unsigned lifetimes_bucket(uint64_t value)
{
    if (value < LIFETIME_STEPS)
        return (unsigned) value;
    unsigned power = 64u - (unsigned) __builtin_clzll(value) - LIFETIME_STEP_BITS;
    return power * LIFETIME_STEPS + ((unsigned) (value >> (power - 1)) & (LIFETIME_STEPS - 1));
}

/* Returns the least value of a bucket. */
uint64_t lifetimes_least_of(unsigned bucket);

/* The bucket number and the count of entry `i` of `used`. */
static inline unsigned lifetimes_bucket_at(const struct lifetimes *lifetimes, uint32_t i)
{
    return (unsigned) (lifetimes->buckets[i] >> LIFETIME_COUNT_BITS);
}
static inline uint64_t lifetimes_count_at(const struct lifetimes *lifetimes, uint32_t i)
{
    return lifetimes->buckets[i] & ((UINT64_C(1) << LIFETIME_COUNT_BITS) - 1);
}

/* Makes `last` the index of that bucket.  Returns false if out of memory. */
bool lifetimes_find(struct lifetimes *lifetimes, unsigned bucket);

/* Returns false if out of memory. */
static inline bool lifetimes_add(struct lifetimes *lifetimes, uint64_t value)
{
    unsigned bucket = lifetimes_bucket(value);
    if ((lifetimes->used == 0 || lifetimes_bucket_at(lifetimes, lifetimes->last) != bucket) &&
        !lifetimes_find(lifetimes, bucket))
        return false;
    lifetimes->buckets[lifetimes->last]++;
    lifetimes->count++;
    lifetimes->sum += (double) value;
    if (value > lifetimes->most)
        lifetimes->most = value;
    return true;
}
void lifetimes_reset(struct lifetimes *lifetimes);

double lifetimes_mean(const struct lifetimes *lifetimes);
/* Returns the value that `share` (0 to 1) of the lifetimes do not exceed, within 1.6 %. */
double lifetimes_percentile(const struct lifetimes *lifetimes, double share);
/* Returns the number of values with this many bits.  0 counts the value 0, k those from 2^(k-1) up
 * to 2^k. */
uint64_t lifetimes_of_bits(const struct lifetimes *lifetimes, unsigned bits);

#endif
