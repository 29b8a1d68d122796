/* SPDX-License-Identifier: Apache-2.0 */
/* Adds up old objects by cell, and cells by the requested axes. */
#include "analyses/leaks/leak_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/cli/arguments.h"
#include "converter/cli/error_report.h"
#include "converter/numbers/estimate_text.h"
#include "converter/numbers/quantity.h"
#include "converter/trace/trace_filter.h"

#define LINE_MOST 512u
#define MOST ((size_t) 10000)

struct suppression {
    char text[LINE_MOST];
    size_t offset; /* of the pattern, in the text */
    bool is_class;
    uint64_t used;
};

static char fault_text[256];

static bool suppressions_add(void *suppressions_target, const char *line, const char *file,
                             size_t number)
{
    (void) file;
    struct suppressions *suppressions = suppressions_target;
    size_t column = strspn(line, " \t");
    bool is_class = strncmp(line + column, "class:", 6) == 0;
    size_t offset = column + (is_class ? 6 : 5);
    if (!is_class && strncmp(line + column, "site:", 5) != 0) {
        snprintf(fault_text, sizeof fault_text, "line %zu, column %zu: class: or site: is expected",
                 number, column + 1);
        return false;
    }
    if (line[offset] == '\0' || suppressions->count == MOST) {
        snprintf(fault_text, sizeof fault_text, "line %zu, column %zu: %s", number, offset + 1,
                 line[offset] == '\0' ? "a pattern is expected" : "there are too many");
        return false;
    }
    struct suppression *items =
        realloc(suppressions->items, (suppressions->count + 1) * sizeof *items);
    if (items == NULL) {
        snprintf(fault_text, sizeof fault_text, "out of memory");
        return false;
    }
    suppressions->items = items;
    struct suppression *item = &items[suppressions->count++];
    *item = (struct suppression){.offset = offset, .is_class = is_class};
    snprintf(item->text, sizeof item->text, "%s", line);
    return true;
}

bool take_suppressions(void *suppressions_target, const char *value, const char **fault)
{
    *fault = fault_text;
    return take_lines(value, LINE_MOST - 2, suppressions_add, suppressions_target, fault_text,
                      sizeof fault_text);
}

void suppressions_reset(struct suppressions *suppressions)
{
    free(suppressions->items);
    *suppressions = (struct suppressions){.items = NULL};
}

static bool names_site(const char *pattern, const struct heap_sites *sites, uint32_t site)
{
    const struct selected_globs globs = {.items = {pattern}, .count = 1};
    for (; site != 0; site = sites->items[site].parent)
        if (trace_filter_frame_mask(sites->names, &globs, sites->items[site].method_id,
                                    sites->items[site].line) != 0)
            return true;
    return false;
}

/* Returns the first suppression that matches the class or a frame of the site, or NULL. */
static struct suppression *suppression_of(const struct suppressions *suppressions,
                                          const struct heap_sites *sites,
                                          const struct heap_key *key)
{
    for (size_t i = 0; i < suppressions->count; i++) {
        struct suppression *item = &suppressions->items[i];
        const char *pattern = item->text + item->offset;
        if (item->is_class
                ? trace_class_matches(pattern, trace_class_of(sites->names, key->class_id)->name)
                : names_site(pattern, sites, key->site))
            return item;
    }
    return NULL;
}

void suppressions_report_unused(const struct suppressions *suppressions)
{
    for (size_t i = 0; i < suppressions->count; i++)
        if (suppressions->items[i].used == 0)
            report_line("the suppression '%s' matches nothing that survived",
                        suppressions->items[i].text);
}

/* Survivors of a cell. */
struct old_cell {
    struct heap_amount amount;
    struct sample_sums samples;
    double ages_us; /* of a sampled trace, by weight */
};

static void add_old(struct old_cell *cell, const struct live_object *object, uint64_t age_us,
                    const struct cell_samples *samples)
{
    double weight;
    if (!cell_samples_are_counted(samples)) {
        heap_amount_add(&cell->amount, &(struct heap_amount){1, object->size, age_us});
        return;
    }
    if (!sample_weights_now(&samples->weights, object->object, object->size, &weight))
        return;
    sample_sums_weigh(&cell->samples, object->size, weight, samples->weights.sampling);
    cell->ages_us += weight * (double) age_us;
    cell->amount = heap_samples_amount(&cell->samples, cell->ages_us);
}

/* By cell of the tracker.  Returns NULL if memory runs out. */
static struct old_cell *old_by_cell(const struct leak_tracker *tracker,
                                    const struct leak_limits *limits)
{
    struct old_cell *old = calloc(tracker->heap.cells.count + 1, sizeof *old);
    enum time_unit unit = tracker->heap.unit;
    uint64_t now_us = time_age(tracker->heap.now_ns, unit);
    struct object_cursor cursor = {0};
    struct live_object object;
    while (old != NULL && object_table_next(&tracker->heap.live, &cursor, &object)) {
        uint64_t born_us = time_age(object.value, unit);
        uint64_t age_us = now_us > born_us ? now_us - born_us : 0;
        if (age_us >= time_age(limits->age_ns, unit) &&
            leak_tracker_survived(tracker, object.value) >= limits->survived)
            add_old(&old[object.class_id], &object, age_us, &tracker->heap.samples);
    }
    return old;
}

static int by_key(const void *left, const void *right)
{
    const struct heap_key *a = &((const struct leak_row *) left)->key;
    const struct heap_key *b = &((const struct leak_row *) right)->key;
    if (a->site != b->site)
        return a->site < b->site ? -1 : 1;
    return a->class_id < b->class_id ? -1 : a->class_id > b->class_id;
}

/* Rows without a stack are last.  At equal rank, single objects come after others. */
static int by_rank(const void *left, const void *right)
{
    const struct leak_row *a = left, *b = right;
    if ((a->key.site == 0) != (b->key.site == 0))
        return a->key.site == 0 ? 1 : -1;
    if (a->rank == b->rank && (a->old.objects == 1) != (b->old.objects == 1))
        return a->old.objects == 1 ? 1 : -1;
    if (a->rank != b->rank)
        return a->rank > b->rank ? -1 : 1;
    if (a->old.bytes != b->old.bytes)
        return a->old.bytes > b->old.bytes ? -1 : 1;
    return by_key(left, right);
}

/* ---- slopes of live bytes over time ----
 * The slope of a line fitted to the live bytes after collections is a sum over objects: each adds
 * its bytes times the coefficients of the collections after which it lived. So a sample of the
 * objects estimates it as it estimates any sum, with the same intervals. */

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
static void leak_rows_add(struct sample_sums *sums, const struct a_life *life, double factor)
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
        leak_rows_add(&trend->more, life, life->factor);
    if (life->factor < -FACTOR_LEAST)
        leak_rows_add(&trend->fewer, life, -life->factor);
    if (is_alive && life->factor > FACTOR_LEAST)
        leak_rows_add(&trend->born, life, life->factor);
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

/* Adds what the samples of a sampled trace add to the slopes of the rows;
 * `row_of_cell` has the row of each cell, from 1, or 0. */
static void leak_trends_fill(const struct leak_tracker *tracker, const uint32_t *row_of_cell,
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

static void fill_series(const struct leak_tracker *tracker, size_t cell, struct leak_row *row)
{
    for (size_t i = 0; i < tracker->sample_count; i++)
        if (cell < tracker->samples[i].cell_count)
            row->series[i] += tracker->samples[i].bytes[cell];
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

static void find_growth(const struct leak_tracker *tracker, struct leak_row *row)
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

/* Merges rows with equal keys, and leaves them in the order of their keys. */
static void leak_rows_merge(struct leak_rows *rows)
{
    size_t last = 0;
    if (rows->count == 0)
        return;
    qsort(rows->rows, rows->count, sizeof *rows->rows, by_key);
    for (size_t i = 1; i < rows->count; i++) {
        if (by_key(&rows->rows[last], &rows->rows[i]) != 0) {
            rows->rows[++last] = rows->rows[i];
            continue;
        }
        heap_amount_add(&rows->rows[last].old, &rows->rows[i].old);
        sample_sums_merge(&rows->rows[last].old_samples, &rows->rows[i].old_samples);
    }
    rows->count = last + 1;
}

/* Of a sampled trace an estimate. */
static uint64_t born_amount(const struct cell_samples *samples, const struct live_object *object,
                            bool has_sizes)
{
    double weight;
    if (!cell_samples_are_counted(samples))
        return has_sizes ? object->size : 1;
    return sample_weights_now(&samples->weights, object->object, object->size, &weight)
               ? estimate_whole(weight * (double) object->size)
               : 0;
}

/* Adds the births of all live objects to the rows. */
static void fill_births(const struct leak_tracker *tracker, const uint32_t *row_of_cell,
                        struct leak_rows *rows)
{
    bool has_sizes = heap_sums_have_sizes(&tracker->heap.cells.all);
    const struct cell_samples *samples = &tracker->heap.samples;
    struct object_cursor cursor = {0};
    struct live_object object;
    while (object_table_next(&tracker->heap.live, &cursor, &object)) {
        if (row_of_cell[object.class_id] == 0)
            continue;
        size_t sample = leak_tracker_sample_after(tracker, object.value);
        if (sample < tracker->sample_count)
            rows->rows[row_of_cell[object.class_id] - 1].births[sample] +=
                born_amount(samples, &object, has_sizes);
    }
}

static struct heap_key key_of_row(const struct heap_cells *cells, size_t cell, unsigned axes)
{
    struct heap_key key = cells->items[cell].key;
    key.class_id = (axes & HEAP_BY_CLASS) != 0 ? key.class_id : 0;
    key.site = (axes & HEAP_BY_SITE) != 0 ? key.site : 0;
    return key;
}

/* Makes rows of the cells with old objects, in the order of their keys. */
static void make_rows(const struct leak_tracker *tracker, const struct old_cell *old, unsigned axes,
                      const struct suppressions *suppressions, struct leak_rows *rows)
{
    const struct heap_cells *cells = &tracker->heap.cells;
    for (size_t i = leak_tracker_first_cell(tracker); i < cells->count; i++) {
        if (old[i].amount.objects == 0)
            continue;
        heap_amount_add(&rows->all, &old[i].amount);
        sample_sums_merge(&rows->all_samples, &old[i].samples);
        struct suppression *suppression =
            suppression_of(suppressions, &tracker->heap.sites, &cells->items[i].key);
        if (suppression != NULL) {
            suppression->used++;
            heap_amount_add(&rows->suppressed, &old[i].amount);
            sample_sums_merge(&rows->suppressed_samples, &old[i].samples);
            continue;
        }
        struct leak_row *row = &rows->rows[rows->count++];
        row->key = key_of_row(cells, i, axes);
        row->old = old[i].amount;
        row->old_samples = old[i].samples;
    }
    leak_rows_merge(rows);
}

/* Adds to each row what all its cells had over time, also those of which nothing survived: where a
 * cache was filled is not where its entries are replaced.  `row_of_cell`: the number of each cell's
 * row, from 1. */
static void fill_rows(const struct leak_tracker *tracker, unsigned axes,
                      const struct suppressions *suppressions, uint32_t *row_of_cell,
                      struct leak_rows *rows)
{
    const struct heap_cells *cells = &tracker->heap.cells;
    for (size_t i = leak_tracker_first_cell(tracker); rows->count > 0 && i < cells->count; i++) {
        struct leak_row wanted = {.key = key_of_row(cells, i, axes)};
        struct leak_row *row = bsearch(&wanted, rows->rows, rows->count, sizeof wanted, by_key);
        if (row == NULL ||
            suppression_of(suppressions, &tracker->heap.sites, &cells->items[i].key) != NULL)
            continue;
        fill_series(tracker, i, row);
        row->at_end.objects += cells->items[i].now.objects;
        row->at_end.bytes += cells->items[i].now.bytes;
        row_of_cell[i] = (uint32_t) (row - rows->rows) + 1;
    }
    fill_births(tracker, row_of_cell, rows);
    leak_trends_fill(tracker, row_of_cell, rows);
}

bool leak_rows_make(const struct leak_tracker *tracker, const struct leak_limits *limits,
                    unsigned axes, struct suppressions *suppressions, struct leak_rows *out)
{
    const struct heap_cells *cells = &tracker->heap.cells;
    struct old_cell *old = old_by_cell(tracker, limits);
    uint32_t *row_of_cell = calloc(cells->count + 1, sizeof *row_of_cell);
    size_t used = 0;
    *out = (struct leak_rows){.rows = NULL};
    for (size_t i = 0; old != NULL && i < cells->count; i++)
        used += old[i].amount.objects > 0;
    if (old != NULL && row_of_cell != NULL)
        out->rows = calloc(used + 1, sizeof *out->rows);
    if (out->rows != NULL) {
        make_rows(tracker, old, axes, suppressions, out);
        fill_rows(tracker, axes, suppressions, row_of_cell, out);
    }
    free(row_of_cell);
    free(old);
    if (out->rows == NULL)
        return false;
    for (size_t i = 0; i < out->count; i++)
        find_growth(tracker, &out->rows[i]);
    qsort(out->rows, out->count, sizeof *out->rows, by_rank);
    return true;
}

void leak_rows_reset(struct leak_rows *rows)
{
    free(rows->rows);
    rows->rows = NULL;
}

/* ---- for gates ---- */

static void measure_row(struct measures *measures, enum measure_axis axis, uint32_t number,
                        const struct leak_row *row)
{
    uint64_t *sums = measures_sums(measures, axis, number, measures->run_count);
    double *variances = measures_variances(measures, axis, number, measures->run_count);
    bool is_sampled = row->old_samples.samples > 0;
    sums[SUM_LEAKED_BYTES] += row->old.bytes;
    sums[SUM_LEAKED_OBJECTS] += row->old.objects;
    if (is_sampled ? row->rank > 0 : row->slope > 0)
        sums[SUM_GROWTH_BYTES] += (uint64_t) llround(row->slope);
    if (!is_sampled || variances == NULL)
        return;
    variances[SUM_LEAKED_BYTES] += row->old_samples.bytes_variance;
    variances[SUM_LEAKED_OBJECTS] += row->old_samples.objects_variance;
    if (row->rank > 0)
        variances[SUM_GROWTH_BYTES] +=
            row->trend.more.bytes_variance + row->trend.fewer.bytes_variance;
}

/* Adds the rows of the axes `axes` to the sums of `axis`. */
static bool measure_axis(const struct leak_tracker *tracker, const struct leak_limits *limits,
                         struct suppressions *suppressions, const uint32_t *site_rows,
                         enum measure_axis axis, unsigned axes, struct measures *measures,
                         struct sample_sums *samples)
{
    struct leak_rows rows;
    bool ok = leak_rows_make(tracker, limits, axes, suppressions, &rows);
    for (size_t i = 0; ok && i < rows.count; i++) {
        const struct heap_key *key = &rows.rows[i].key;
        uint32_t number = axis == AXIS_SITE ? site_rows[key->site] : 1;
        if (axis == AXIS_CLASS)
            number = measure_class_row(measures, tracker->heap.sites.names, key->class_id);
        ok = number != 0;
        if (ok)
            measure_row(measures, axis, number, &rows.rows[i]);
    }
    *samples = rows.all_samples;
    leak_rows_reset(&rows);
    return ok;
}

/* In so few collections nothing can have survived as many, whatever the program keeps. */
static void note_too_few(const struct leak_tracker *tracker, const struct leak_limits *limits,
                         struct measures *measures)
{
    if (tracker->sample_count < LEAK_LINE_LEAST)
        measures->lacks_sums |= 1u << SUM_GROWTH_BYTES;
    if (tracker->time_count < limits->survived)
        measures->lacks_sums |= 1u << SUM_LEAKED_BYTES | 1u << SUM_LEAKED_OBJECTS;
}

bool leak_rows_measure(const struct leak_tracker *tracker, const struct leak_limits *limits,
                       struct suppressions *suppressions, enum measure_side side,
                       struct measures *measures)
{
    uint32_t *site_rows = measure_sites(measures, &tracker->heap.sites);
    uint64_t interval_bytes = tracker->heap.samples.weights.interval_bytes;
    struct sample_sums samples = {.samples = 0};
    bool ok = site_rows != NULL && (interval_bytes == 0 || measures_expect_estimates(measures)) &&
              measure_axis(tracker, limits, suppressions, site_rows, AXIS_PROGRAM,
                           HEAP_BY_CLASS | HEAP_BY_SITE, measures, &samples) &&
              measure_axis(tracker, limits, suppressions, site_rows, AXIS_CLASS, HEAP_BY_CLASS,
                           measures, &samples) &&
              measure_axis(tracker, limits, suppressions, site_rows, AXIS_SITE, HEAP_BY_SITE,
                           measures, &samples);
    free(site_rows);
    if (tracker->heap.deaths.are_missing)
        measures->lacks_kinds |= TRACE_KIND_BIT(EVENT_OBJECT_FREE);
    note_too_few(tracker, limits, measures);
    measures->lacks_sizes |= tracker->heap.lacks_sizes;
    if (ok)
        measures->runs[measures->run_count++] = (struct measure_run){
            .side = side,
            .samples = samples.samples,
            .sampling = tracker->heap.samples.weights.sampling,
            .widest_interval_bytes = sample_sums_interval(&samples, (double) interval_bytes)};
    return ok;
}
