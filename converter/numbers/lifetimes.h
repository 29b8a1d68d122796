/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lifetimes of objects: the mean, and a histogram for percentiles.  Values below 64 have a bucket
 * each, and each power of two above is divided into 32 equal buckets.  A percentile is the middle
 * of its bucket, an error of at most 1.6 %.  The buckets of a power of two are allocated on first
 * use: 256 bytes each, at most 15 KiB.
 */
#ifndef CONVERTER_NUMBERS_LIFETIMES_H
#define CONVERTER_NUMBERS_LIFETIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIFETIME_STEP_BITS 5u
#define LIFETIME_STEPS (1u << LIFETIME_STEP_BITS) /* buckets of a power of two */
#define LIFETIME_POWERS (65u - LIFETIME_STEP_BITS)

/* To initialise, zero the structure. */
struct lifetimes {
    uint64_t count;
    double sum;
    uint64_t most;
    uint64_t *powers[LIFETIME_POWERS]; /* LIFETIME_STEPS counts each; NULL: all 0 */
};

/* Returns the power whose counts contain the value, and its index there in `step`.  Power 0 has the
 * values below LIFETIME_STEPS, power k those from LIFETIME_STEPS << (k - 1) up to twice as much. */
static inline unsigned lifetimes_power(uint64_t value, unsigned *step)
{
    unsigned bits = value < LIFETIME_STEPS ? 0 : 63u - (unsigned) __builtin_clzll(value);
    unsigned power = bits == 0 ? 0 : bits - LIFETIME_STEP_BITS + 1;
    *step = (unsigned) (power == 0 ? value : value >> (power - 1)) & (LIFETIME_STEPS - 1);
    return power;
}

/* Returns false if memory runs out. */
bool lifetimes_grow(struct lifetimes *lifetimes, unsigned power);
static inline bool lifetimes_add(struct lifetimes *lifetimes, uint64_t value)
{
    unsigned step, power = lifetimes_power(value, &step);
    if (lifetimes->powers[power] == NULL && !lifetimes_grow(lifetimes, power))
        return false;
    lifetimes->powers[power][step]++;
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
