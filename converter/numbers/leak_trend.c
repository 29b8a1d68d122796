/* SPDX-License-Identifier: Apache-2.0 */
/* The slope of a line fitted to the live bytes after collections is a sum over objects: each adds
 * its bytes times the coefficients of the collections after which it lived.  So a sample of the
 * objects estimates it as it estimates any sum, with the same intervals. */
#include <math.h>

#include "converter/numbers/leak_rows.h"

/* `sums[i]`: of the coefficients of the samples of the heap before the i-th. */
struct coefficients {
    double sums[LEAK_SAMPLES + 1];
};

static bool find_coefficients(const struct leak_tracker *tracker, struct coefficients *out)
{
    size_t first = leak_tracker_line_first(tracker), count = tracker->sample_count - first;
    double mean = 0, squares = 0;
    *out = (struct coefficients){{0}};
    for (size_t i = first; i < tracker->sample_count; i++)
        mean += (double) tracker->samples[i].collection / (double) count;
    for (size_t i = first; i < tracker->sample_count; i++) {
        double x = (double) tracker->samples[i].collection - mean;
        squares += x * x;
    }
    if (count < 3 || squares <= 0)
        return false;
    for (size_t i = first; i < tracker->sample_count; i++)
        out->sums[i + 1] =
            out->sums[i] + ((double) tracker->samples[i].collection - mean) / squares;
    return true;
}

/* Adds `factor` times the bytes of one object. */
static void add(struct sample_sums *sums, uint64_t size_bytes, double weight, double factor)
{
    struct sample_sums one = {.samples = 0};
    sample_sums_weigh(&one, size_bytes, weight);
    one.bytes *= factor;
    one.bytes_variance *= factor * factor;
    sample_sums_merge(sums, &one);
}

/* Rounding leaves a factor near 0 to objects that lived all the time. */
#define FACTOR_LEAST 1e-12

static void add_life(struct leak_trend *trend, uint64_t size_bytes, double weight, double factor,
                     bool is_alive)
{
    if (factor > FACTOR_LEAST)
        add(&trend->more, size_bytes, weight, factor);
    if (factor < -FACTOR_LEAST)
        add(&trend->fewer, size_bytes, weight, -factor);
    if (is_alive && factor > FACTOR_LEAST)
        add(&trend->born, size_bytes, weight, factor);
}

struct filling {
    const struct leak_tracker *tracker;
    const struct coefficients *coefficients;
    const uint32_t *row_of_cell;
    struct leak_rows *rows;
};

static void fill_live(void *user, const struct live_object *object, double weight)
{
    const struct filling *filling = user;
    const double *sums = filling->coefficients->sums;
    uint32_t row = filling->row_of_cell[object->class_id];
    if (row == 0)
        return;
    size_t birth = leak_tracker_sample_after(filling->tracker, object->value);
    add_life(&filling->rows->rows[row - 1].trend, object->size, weight,
             sums[filling->tracker->sample_count] - sums[birth], true);
}

void leak_trends_fill(const struct leak_tracker *tracker, const uint32_t *row_of_cell,
                      struct leak_rows *rows)
{
    const struct cell_samples *samples = &tracker->heap.samples;
    struct coefficients coefficients;
    if (!cell_samples_are_counted(samples) || !find_coefficients(tracker, &coefficients))
        return;
    struct filling filling = {tracker, &coefficients, row_of_cell, rows};
    heap_samples_each_live(&tracker->heap, fill_live, &filling);
    for (size_t i = 0; i < samples->death_count; i++) {
        const struct sample_death *death = &samples->deaths[i];
        if (row_of_cell[death->cell] == 0)
            continue;
        size_t birth = leak_tracker_sample_after(tracker, death->born_us);
        size_t end =
            leak_tracker_sample_after(tracker, death->died_us > 0 ? death->died_us - 1 : 0);
        add_life(&rows->rows[row_of_cell[death->cell] - 1].trend, death->size_bytes, death->weight,
                 coefficients.sums[end] - coefficients.sums[birth], false);
    }
}

void leak_trend_merge(struct leak_trend *sum, const struct leak_trend *other)
{
    sample_sums_merge(&sum->born, &other->born);
    sample_sums_merge(&sum->more, &other->more);
    sample_sums_merge(&sum->fewer, &other->fewer);
}

/* As for exact traces, growth is limited to that of the births. */
struct estimate leak_trend_growth(const struct leak_trend *trend)
{
    struct estimate live =
        estimate_difference(estimate_bytes(&trend->more), estimate_bytes(&trend->fewer));
    struct estimate births = estimate_bytes(&trend->born);
    if (trend->more.samples + trend->fewer.samples == 0)
        return estimate_exactly(0);
    return (struct estimate){fmin(live.value, births.value), fmin(live.low, births.low),
                             fmin(live.high, births.high), fmax(live.scale, births.scale)};
}

bool leak_growth_is_sure(struct estimate growth)
{
    return growth.value > 2 * (growth.value - growth.low);
}
