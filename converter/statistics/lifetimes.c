/* SPDX-License-Identifier: Apache-2.0 */
/* Mean and percentiles of a histogram. */
#include "converter/statistics/lifetimes.h"

double lifetimes_mean(const struct lifetimes *lifetimes)
{
    return lifetimes->count > 0 ? lifetimes->sum / (double) lifetimes->count : 0.0;
}

double lifetimes_percentile(const struct lifetimes *lifetimes, double share)
{
    double wanted = share * (double) lifetimes->count;
    double below = 0;
    for (unsigned i = 0; i < LIFETIME_BUCKETS; i++) {
        double here = (double) lifetimes->buckets[i];
        if (here > 0 && below + here >= wanted) {
            double low = i == 0 ? 0.0 : (double) (UINT64_C(1) << (i - 1));
            double value = low + low * ((wanted - below) / here);
            return value < (double) lifetimes->most ? value : (double) lifetimes->most;
        }
        below += here;
    }
    return (double) lifetimes->most;
}
