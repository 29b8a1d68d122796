/* SPDX-License-Identifier: Apache-2.0 */
/* What runs have in common: the median of a metric over the runs of a side, and its change from one
 * side to the other. */
#ifndef CONVERTER_STATISTICS_MEASURED_H
#define CONVERTER_STATISTICS_MEASURED_H

#include <stdio.h>

#include "converter/statistics/measures.h"

/* The amount is the median of the runs, and its range their minimum and maximum.  Of sampled runs
 * it is an estimate, whose range has the bounds of their 95 % intervals; without a sample there is
 * no upper bound.  A run that has no such value (of a mean, where there is nothing) does not count;
 * where none has, the amount is none. */
struct measured {
    struct amount amount;
    size_t runs;
    bool is_biased; /* of an estimate: its bounds are no 95 % interval */
};

static inline double measured_value(const struct measured *measured)
{
    return measured->amount.range.value;
}

static inline bool measured_is_known(const struct measured *measured)
{
    return measured->amount.state == AMOUNT_KNOWN;
}

/* Summarises the values of `count` runs.  Sorts `values`. */
struct measured measured_of(double *values, size_t count, enum amount_unit unit);
/* How sure sums are: their variances, NULL if all are exact, and whether all objects have one size
 * (estimates.h). */
struct sums_spread {
    const double *variances;
    bool is_one_size;
};
/* Summarises a metric of the runs of one side.  `sums_of` returns the sums of a run and sets
 * `*spread`. */
typedef const uint64_t *(*measured_sums)(const void *user, size_t run, struct sums_spread *spread);
struct measured measured_of_runs(const struct measures *measures, const struct metric *metric,
                                 enum measure_side side, measured_sums sums_of, const void *user);

/* A metric on both sides; a side without runs is 0.  The change is that of the medians; there is
 * none if a side has no value. */
struct measured_pair {
    struct measured before, after;
    struct amount change;
    bool is_noise; /* it is within the variation between runs, or its interval contains 0 */
};
struct measured_pair measured_pair_of(struct measured before, struct measured after);
/* Returns that of a row. */
struct measured_pair measures_pair(const struct measures *measures, enum measure_axis axis,
                                   uint32_t row, const struct metric *metric);
static inline bool measured_pair_is_known(const struct measured_pair *pair)
{
    return pair->change.state == AMOUNT_KNOWN;
}
static inline double measured_pair_change(const struct measured_pair *pair)
{
    return pair->change.range.value;
}

/* Prints the medians and the change, in columns of 12 characters with a space after each. */
void measured_pair_print(const struct measured_pair *pair, FILE *out);
/* Prints " (1 KiB to 2 KiB in 3 runs)" or " (1 KiB to 2 KiB at 95 %)" if there is a range. */
void measured_print_range(const struct measured *measured, FILE *out);
/* The same of the change, of estimates. */
void measured_pair_print_range(const struct measured_pair *pair, FILE *out);

#endif
