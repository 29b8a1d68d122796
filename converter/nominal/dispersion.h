/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dispersion of lifetimes: their Gini coefficient, where each byte counts with the lifetime of
 * its object.  Lifetimes are in two histograms, which keep the sum of each bucket, so that only
 * differences inside of a bucket are lost.  Memory is 60 KiB.
 */
#ifndef CONVERTER_NOMINAL_DISPERSION_H
#define CONVERTER_NOMINAL_DISPERSION_H

#include <stdbool.h>
#include <stdint.h>

#include "converter/base/lifetimes.h"

struct lives {
    double bytes;
    double lived; /* sum over the bytes */
};

struct dispersion {
    struct lives *known; /* by bucket of struct lifetimes */
    struct lives *least; /* of these objects a lower bound of the lifetime is known */
    bool has_bounds;
};

/* Returns false if out of memory; dispersion_reset() is allowed then. */
bool dispersion_init(struct dispersion *dispersion);
void dispersion_reset(struct dispersion *dispersion);

void dispersion_add(struct dispersion *dispersion, uint64_t size, uint64_t lifetime, bool is_bound);

struct dispersion_result {
    double least; /* the coefficient is not below it, whatever the lifetimes of bounds are */
    double most;  /* nor above it, if no lifetime is a bound */
};

/* Returns false if no bytes were added, or if out of memory. */
bool dispersion_compute(const struct dispersion *dispersion, struct dispersion_result *result);

#endif
