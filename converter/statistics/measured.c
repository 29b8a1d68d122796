/* SPDX-License-Identifier: Apache-2.0 */
/* Computes medians over runs, and changes between them. */
#include "converter/statistics/measured.h"

#include <math.h>
#include <stdlib.h>

static int by_value(const void *left, const void *right)
{
    double a = *(const double *) left, b = *(const double *) right;
    return a < b ? -1 : a > b;
}

struct measured measured_of(double *values, size_t count, enum amount_unit unit)
{
    struct measured measured = {.amount = amount_real(0, unit), .runs = count};
    if (count == 0)
        return measured;
    if (count > 1)
        qsort(values, count, sizeof *values, by_value);
    measured.amount = amount_real((values[(count - 1) / 2] + values[count / 2]) / 2, unit);
    measured.amount.range.low = values[0];
    measured.amount.range.high = values[count - 1];
    return measured;
}

/* What an object that was not sampled adds to a number of objects. */
static double unseen(const struct metric *metric, const uint64_t *sums,
                     const struct sums_spread *spread, const struct measure_run *run)
{
    double size = spread->is_one_size ? (double) sums[metric->sum - 1] / (double) sums[metric->sum]
                                      : OBJECT_BYTES_LEAST;
    return estimate_unseen(size, run->widest_interval_bytes);
}

/* Returns whether it is known of a sampled run, too: how long it took. */
static bool measured_is_exact(const struct metric *metric)
{
    return metric->value != NULL || metric->unit == AMOUNT_NS;
}

static struct estimate estimate_of_run(const struct metric *metric, double value,
                                       const uint64_t *sums, const struct sums_spread *spread,
                                       const struct measure_run *run)
{
    if (run->sampling == NULL || spread->variances == NULL || measured_is_exact(metric))
        return estimate_exactly(value);
    if (spread->variances[metric->sum] < 0)
        return estimate_exactly(value);
    if (value == 0 && metric->unit == AMOUNT_BYTES)
        return estimate_no_bytes(sampling_interval(run->sampling));
    return estimate_of(value, spread->variances[metric->sum], value > 0,
                       metric->unit == AMOUNT_OBJECTS ? unseen(metric, sums, spread, run) : 0,
                       run->sampling);
}

struct measured measured_of_runs(const struct measures *measures, const struct metric *metric,
                                 enum measure_side side, measured_sums sums_of, const void *user)
{
    double values[MEASURE_RUNS_MOST];
    struct estimate range = {0, INFINITY, 0, 0};
    size_t count = 0, runs = 0;
    bool is_estimate = false, is_biased = false;
    for (size_t i = 0; i < measures->run_count && count < MEASURE_RUNS_MOST; i++) {
        const struct measure_run *run = &measures->runs[i];
        struct sums_spread spread = {.variances = NULL};
        if (run->side != side)
            continue;
        const uint64_t *sums = sums_of(user, i, &spread);
        runs++;
        const struct amount amount = metric_amount(metric, sums);
        if (amount.state != AMOUNT_KNOWN)
            continue;
        struct estimate estimate = estimate_of_run(metric, amount.range.value, sums, &spread, run);
        values[count++] = estimate.value;
        is_estimate |= run->sampling != NULL && !measured_is_exact(metric);
        is_biased |= measure_run_is_biased(run);
        range.low = fmin(range.low, estimate.low);
        range.high = fmax(range.high, estimate.high);
        range.scale = fmax(range.scale, estimate.scale);
    }
    if (runs > 0 && count == 0)
        return (struct measured){.amount = amount_none(metric->unit)};
    struct measured measured = measured_of(values, count, metric->unit);
    if (is_estimate) {
        range.value = measured_value(&measured);
        measured.amount = amount_estimated(range, metric->unit);
        measured.is_biased = is_biased;
    }
    return measured;
}

/* ---- both sides ---- */

static bool is_within_runs(const struct measured *before, const struct measured *after)
{
    return (before->runs > 1 || after->runs > 1) &&
           before->amount.range.low <= after->amount.range.high &&
           after->amount.range.low <= before->amount.range.high;
}

struct measured_pair measured_pair_of(struct measured before, struct measured after)
{
    struct measured_pair pair = {.before = before, .after = after};
    enum amount_unit unit = after.amount.unit;
    if (!measured_is_known(&before) || !measured_is_known(&after)) {
        pair.change = amount_none(unit);
    } else if (before.amount.is_estimate || after.amount.is_estimate) {
        pair.change = amount_estimated_change(
            estimate_difference(after.amount.range, before.amount.range), unit);
        pair.is_noise = amount_is_noise(&pair.change);
    } else {
        pair.change = amount_real_change(measured_value(&after) - measured_value(&before), unit);
        pair.is_noise = is_within_runs(&before, &after);
    }
    return pair;
}

struct row_sums {
    const struct measures *measures;
    enum measure_axis axis;
    uint32_t row;
};

static const uint64_t *sums_of_row(const void *user, size_t run, struct sums_spread *spread)
{
    const struct row_sums *row = user;
    spread->variances = measures_variances(row->measures, row->axis, row->row, run);
    spread->is_one_size =
        spread->variances != NULL && measures_row_has_one_size(row->measures, row->axis, row->row);
    return measures_sums(row->measures, row->axis, row->row, run);
}

struct measured_pair measures_pair(const struct measures *measures, enum measure_axis axis,
                                   uint32_t row, const struct metric *metric)
{
    const struct row_sums user = {measures, axis, row};
    return measured_pair_of(measured_of_runs(measures, metric, SIDE_BEFORE, sums_of_row, &user),
                            measured_of_runs(measures, metric, SIDE_AFTER, sums_of_row, &user));
}

/* ---- text ---- */

void measured_pair_print(const struct measured_pair *pair, FILE *out)
{
    const struct amount *const amounts[] = {&pair->before.amount, &pair->after.amount,
                                            &pair->change};
    for (size_t i = 0; i < sizeof amounts / sizeof amounts[0]; i++)
        fprintf(out, "%12s ", amount_scaled_value(amounts[i], amounts[i]->range.value).text);
}

/* Prints nothing of several runs but their range. */
static void print_bounds(const struct amount *amount, size_t runs, bool is_biased, FILE *out)
{
    if (isinf(amount->range.low) || isinf(amount->range.high)) {
        fputs(" (no sample)", out);
        return;
    }
    fprintf(out, " (%s to %s", amount_scaled_value(amount, amount->range.low).text,
            amount_scaled_value(amount, amount->range.high).text);
    if (runs > 1)
        fprintf(out, " in %zu runs", runs);
    if (amount->is_estimate)
        fputs(is_biased ? ", biased" : " at 95 %", out);
    fputc(')', out);
}

void measured_print_range(const struct measured *measured, FILE *out)
{
    if (measured->runs > 1 || measured->amount.is_estimate)
        print_bounds(&measured->amount, measured->runs, measured->is_biased, out);
}

void measured_pair_print_range(const struct measured_pair *pair, FILE *out)
{
    print_bounds(&pair->change, 1, pair->before.is_biased || pair->after.is_biased, out);
}
