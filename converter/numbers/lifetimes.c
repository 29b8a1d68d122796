/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the mean and percentiles of lifetimes. */
#include "converter/numbers/lifetimes.h"

#include <math.h>
#include <stdlib.h>

bool lifetimes_grow(struct lifetimes *lifetimes, unsigned power)
{
    lifetimes->powers[power] = calloc(LIFETIME_STEPS, sizeof *lifetimes->powers[power]);
    return lifetimes->powers[power] != NULL;
}

void lifetimes_reset(struct lifetimes *lifetimes)
{
    for (unsigned i = 0; i < LIFETIME_POWERS; i++)
        free(lifetimes->powers[i]);
    *lifetimes = (struct lifetimes){.count = 0};
}

double lifetimes_mean(const struct lifetimes *lifetimes)
{
    return lifetimes->count > 0 ? lifetimes->sum / (double) lifetimes->count : 0.0;
}

static double middle_of(unsigned power, unsigned step)
{
    double width = power == 0 ? 1 : ldexp(1, (int) power - 1);
    double low = power == 0 ? step : (LIFETIME_STEPS + step) * width;
    return low + (width - 1) / 2;
}

double lifetimes_percentile(const struct lifetimes *lifetimes, double share)
{
    double wanted = share * (double) lifetimes->count, below = 0;
    for (unsigned i = 0; i < LIFETIME_POWERS; i++)
        for (unsigned k = 0; lifetimes->powers[i] != NULL && k < LIFETIME_STEPS; k++) {
            double here = (double) lifetimes->powers[i][k];
            if (here > 0 && below + here >= wanted) {
                double value = middle_of(i, k);
                return value < (double) lifetimes->most ? value : (double) lifetimes->most;
            }
            below += here;
        }
    return (double) lifetimes->most;
}

uint64_t lifetimes_of_bits(const struct lifetimes *lifetimes, unsigned bits)
{
    unsigned power = bits <= LIFETIME_STEP_BITS ? 0 : bits - LIFETIME_STEP_BITS;
    unsigned first = power > 0 || bits == 0 ? 0 : 1u << (bits - 1);
    unsigned end = power > 0 ? LIFETIME_STEPS : bits == 0 ? 1 : 1u << bits;
    uint64_t count = 0;
    for (unsigned i = first; lifetimes->powers[power] != NULL && i < end; i++)
        count += lifetimes->powers[power][i];
    return count;
}
