/* SPDX-License-Identifier: Apache-2.0 */
/* How fast a row grows: a straight line fitted to its live bytes, and, of a sampled trace, an
 * estimate of that line's slope.
 *
 * The slope of a line fitted to the live bytes after collections is a sum over objects: each adds
 * its bytes times the coefficients of the collections after which it lived.  So a sample of the
 * objects estimates it as it estimates any sum, with the same intervals. */
#include "analyses/leaks/leak_growth.h"

#include <math.h>

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
    if (count < LEAK_LINE_LEAST || squares <= 0)
        return false;
    for (size_t i = first; i < tracker->sample_count; i++)
        out->sums[i + 1] =
            out->sums[i] + ((double) tracker->samples[i].collection - mean) / squares;
    return true;
}

/* A sample, and what its bytes add to the slope. */
struct a_life {
    uint64_t size_bytes;
    double weight, factor;
    const struct sampling *sampling;
};

/* Adds `factor` times the bytes of one object. */
static void leak_growth_add(struct sample_sums *sums, const struct a_life *life, double factor)
{
    struct sample_sums one = {.samples = 0};
    sample_sums_weigh(&one, life->size_bytes, life->weight, life->sampling);
    one.bytes *= factor;
    one.bytes_variance *= factor * factor;
    sample_sums_merge(sums, &one);
}

/* Rounding leaves a factor near 0 to objects that lived all the time. */
#define FACTOR_LEAST 1e-12

static void add_life(struct leak_trend *trend, const struct a_life *life, bool is_alive)
{
    if (life->factor > FACTOR_LEAST)
        leak_growth_add(&trend->more, life, life->factor);
    if (life->factor < -FACTOR_LEAST)
        leak_growth_add(&trend->fewer, life, -life->factor);
    if (is_alive && life->factor > FACTOR_LEAST)
        leak_growth_add(&trend->born, life, life->factor);
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
    const struct a_life life = {object->size, weight,
                                sums[filling->tracker->sample_count] - sums[birth],
                                filling->tracker->heap.samples.weights.sampling};
    add_life(&filling->rows->rows[row - 1].trend, &life, true);
}

void leak_growth_fill(const struct leak_tracker *tracker, const uint32_t *row_of_cell,
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
        size_t birth = leak_tracker_sample_after(tracker, death->born_ns);
        size_t end = leak_tracker_sample_after(tracker, death->died_ns);
        const struct a_life life = {death->size_bytes, death->weight,
                                    coefficients.sums[end] - coefficients.sums[birth],
                                    samples->weights.sampling};
        add_life(&rows->rows[row_of_cell[death->cell] - 1].trend, &life, false);
    }
}

/* As for exact traces, growth is limited to that of the births. */
static struct estimate leak_trend_growth(const struct leak_trend *trend)
{
    struct estimate live =
        estimate_difference(estimate_bytes(&trend->more), estimate_bytes(&trend->fewer));
    struct estimate births = estimate_bytes(&trend->born);
    if (trend->more.samples + trend->fewer.samples == 0)
        return estimate_exactly(0);
    return (struct estimate){fmin(live.value, births.value), fmin(live.low, births.low),
                             fmin(live.high, births.high), fmax(live.scale, births.scale)};
}

/* Returns whether growth is more than noise: its interval, made twice as wide, is above 0.  Of the
 * simple intervals of some hundred rows, a few are above 0 by chance. */
static bool leak_growth_is_sure(struct estimate growth)
{
    return growth.value > 2 * (growth.value - growth.low);
}

/* A straight line fitted to the last samples. */
struct line {
    double slope, fit;
};

static struct line fit_line(const struct leak_tracker *tracker, const uint64_t *values,
                            size_t count)
{
    size_t first = tracker->sample_count - count;
    double mean_x = 0, mean_y = 0, xx = 0, xy = 0, yy = 0;
    bool is_level = true; /* the sums of a level line are not 0, but what rounding leaves */
    for (size_t i = first; i < tracker->sample_count; i++) {
        is_level = is_level && values[i] == values[first];
        mean_x += (double) tracker->samples[i].collection / (double) count;
        mean_y += (double) values[i] / (double) count;
    }
    for (size_t i = first; i < tracker->sample_count; i++) {
        double x = (double) tracker->samples[i].collection - mean_x;
        double y = (double) values[i] - mean_y;
        xx += x * x;
        xy += x * y;
        yy += y * y;
    }
    if (count < LEAK_LINE_LEAST || xx <= 0)
        return (struct line){0, 0};
    if (is_level || yy <= 0)
        return (struct line){0, 1};
    return (struct line){xy / xx, xy * xy / (xx * yy)};
}

/* Objects born between only two collections are a step, not growth. */
static bool is_born_repeatedly(const struct leak_tracker *tracker, const struct leak_row *row,
                               size_t count)
{
    size_t times = 0;
    for (size_t i = tracker->sample_count - count; i < tracker->sample_count; i++)
        times += row->births[i] > 0;
    return times > 1;
}

/* Growth that may be noise does not count. */
static void estimate_growth(struct leak_row *row, bool is_step)
{
    row->growth = leak_trend_growth(&row->trend);
    row->slope = is_step ? 0 : row->growth.value;
    row->rank = !is_step && leak_growth_is_sure(row->growth) ? row->slope * row->fit : 0;
}

void leak_growth_find(const struct leak_tracker *tracker, struct leak_row *row)
{
    uint64_t born[LEAK_SAMPLES], sum = 0;
    size_t count = tracker->sample_count - leak_tracker_line_first(tracker);
    for (size_t i = 0; i < tracker->sample_count; i++)
        born[i] = sum += row->births[i];
    struct line live = fit_line(tracker, row->series, count);
    struct line births = fit_line(tracker, born, count);
    row->fit = live.fit;
    row->slope = live.slope < births.slope ? live.slope : births.slope;
    bool is_step = row->slope > 0 && !is_born_repeatedly(tracker, row, count);
    if (is_step)
        row->slope = 0;
    row->rank = row->slope > 0 ? row->slope * row->fit : 0;
    if (cell_samples_are_counted(&tracker->heap.samples))
        estimate_growth(row, is_step);
}
