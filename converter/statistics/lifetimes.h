/* SPDX-License-Identifier: Apache-2.0 */
/* How long objects lived: a histogram whose buckets double, and the mean. */
#ifndef CONVERTER_STATISTICS_LIFETIMES_H
#define CONVERTER_STATISTICS_LIFETIMES_H

#include <stdint.h>

#define LIFETIME_BUCKETS 65u

struct lifetimes {
    uint64_t count;
    double sum;
    uint64_t most;
    uint64_t buckets[LIFETIME_BUCKETS]; /* 0: lifetime 0; k: from 2^(k-1) up to 2^k */
};

static inline void lifetimes_add(struct lifetimes *lifetimes, uint64_t value)
{
    lifetimes->count++;
    lifetimes->sum += (double) value;
    if (value > lifetimes->most)
        lifetimes->most = value;
    lifetimes->buckets[value == 0 ? 0 : 64 - __builtin_clzll(value)]++;
}

double lifetimes_mean(const struct lifetimes *lifetimes);
/* The value that `share` (0 to 1) of the lifetimes do not exceed, as well as the buckets tell. */
double lifetimes_percentile(const struct lifetimes *lifetimes, double share);

#endif
