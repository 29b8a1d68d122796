/* SPDX-License-Identifier: Apache-2.0 */
/* Stores rows by name, and computes medians over runs. */
#include "converter/numbers/measures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "converter/base/error_report.h"

#define FIRST_ROWS ((size_t) 64)

const char *const axis_names[AXIS_COUNT] = {"program", "class", "site", "thread", "method"};
const char *const axis_plurals[AXIS_COUNT] = {"programs", "classes", "sites", "threads", "methods"};

bool measures_init(struct measures *measures, size_t run_capacity)
{
    static const struct step_bytes all = {(const uint8_t *) "program", 7};
    *measures = (struct measures){.run_capacity = run_capacity};
    trace_names_init(&measures->copies);
    measures->runs = calloc(run_capacity, sizeof *measures->runs);
    return measures->runs != NULL && measures_row(measures, AXIS_PROGRAM, 0, all) == 1;
}

void measures_reset(struct measures *measures)
{
    for (unsigned i = 0; i < AXIS_COUNT; i++) {
        name_index_reset(&measures->tables[i].index);
        free(measures->tables[i].sums);
        free(measures->tables[i].variances);
    }
    for (size_t i = 0; i < measures->run_count; i++)
        free(measures->runs[i].curve);
    free(measures->runs);
    trace_names_reset(&measures->copies);
    *measures = (struct measures){.runs = NULL};
}

/* Returns the array with room for `now` items; new ones are zeros.  Returns NULL if memory runs
 * out. */
static void *grown(void *items, size_t before, size_t now, size_t item_bytes)
{
    char *out = realloc(items, now * item_bytes);
    if (out != NULL)
        memset(out + before * item_bytes, 0, (now - before) * item_bytes);
    return out;
}

static bool grow(struct measure_table *table, size_t run_capacity)
{
    size_t capacity = table->capacity == 0 ? FIRST_ROWS : table->capacity * 2;
    size_t row_sums = run_capacity * SUM_COUNT;
    if (capacity > SIZE_MAX / sizeof *table->sums / row_sums)
        return false;
    uint64_t *sums =
        grown(table->sums, table->capacity * row_sums, capacity * row_sums, sizeof *table->sums);
    if (sums == NULL)
        return false;
    table->sums = sums;
    if (table->variances != NULL) {
        double *variances = grown(table->variances, table->capacity * row_sums, capacity * row_sums,
                                  sizeof *table->variances);
        if (variances == NULL)
            return false;
        table->variances = variances;
    }
    table->capacity = capacity;
    return true;
}

void measures_report_mixture(const struct measure_run *first, const struct measure_run *second)
{
    bool is_first = first->sample_interval_bytes != 0,
         is_second = second->sample_interval_bytes != 0;
    if (is_first != is_second)
        report_line("%s has estimates from a sample of the new objects, %s all objects, with those "
                    "that existed before",
                    is_first ? first->path : second->path, is_first ? second->path : first->path);
}

bool measures_expect_estimates(struct measures *measures)
{
    size_t row_sums = measures->run_capacity * SUM_COUNT;
    for (unsigned i = 0; i < AXIS_COUNT; i++) {
        struct measure_table *table = &measures->tables[i];
        if (table->capacity == 0 && !grow(table, measures->run_capacity))
            return false;
        if (table->variances == NULL)
            table->variances = calloc(table->capacity * row_sums, sizeof *table->variances);
        if (table->variances == NULL)
            return false;
    }
    measures->has_estimates = true;
    return true;
}

static struct step_bytes site_of(const void *frames, uint64_t *row, char room[FRAME_TEXT])
{
    const struct measures *measures = frames;
    struct step_bytes text = measures_text(measures, AXIS_SITE, (uint32_t) *row);
    (void) room;
    *row = measures_parent(measures, (uint32_t) *row);
    return text;
}

static struct step_bytes text_of(const void *table, uint64_t *row, char room[FRAME_TEXT])
{
    const struct measure_table *rows = table;
    struct step_bytes text = rows->index.entries[*row].text;
    (void) room;
    *row = 0;
    return text;
}

struct stack_text measures_name(const struct measures *measures, enum measure_axis axis,
                                uint32_t row, uint64_t depth)
{
    return axis == AXIS_SITE ? (struct stack_text){site_of, measures, row, depth}
                             : (struct stack_text){text_of, &measures->tables[axis], row, 0};
}

void measures_put_name(const struct measures *measures, enum measure_axis axis, uint32_t row,
                       struct json_output *json)
{
    if (axis == AXIS_SITE)
        stack_put_json(measures_name(measures, axis, row, 0), json, axis_names[axis]);
    else
        json_bytes(json, axis_names[axis], measures_text(measures, axis, row));
}

uint32_t measures_row(struct measures *measures, enum measure_axis axis, uint32_t parent,
                      struct step_bytes text)
{
    struct measure_table *table = &measures->tables[axis];
    struct step_bytes copy;
    bool is_new = false;
    uint32_t row = name_index_put(&table->index, parent, text, &is_new);
    if (!is_new)
        return row;
    if (!trace_names_copy(&measures->copies, text, &copy))
        return 0;
    name_index_set_text(&table->index, row, copy);
    return row < table->capacity || grow(table, measures->run_capacity) ? row : 0;
}

static int by_value(const void *left, const void *right)
{
    double a = *(const double *) left, b = *(const double *) right;
    return a < b ? -1 : a > b;
}

struct measured measured_of(double *values, size_t count)
{
    if (count == 0)
        return (struct measured){0};
    qsort(values, count, sizeof *values, by_value);
    double median =
        count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
    return (struct measured){
        .runs = count, .median = median, .least = values[0], .most = values[count - 1]};
}

static struct estimate estimate_of_run(const struct metric *metric, const uint64_t *sums,
                                       const double *variances, const struct measure_run *run)
{
    double value = metric_value(metric, sums);
    if (run->sample_interval_bytes == 0 || variances == NULL || metric->unit == UNIT_TIME)
        return estimate_exactly(value);
    if (value == 0 && metric->unit == UNIT_BYTES)
        return estimate_no_bytes(run->sample_interval_bytes);
    return estimate_of(value, variances[metric->sum], value > 0);
}

struct measured measured_of_runs(const struct measures *measures, const struct metric *metric,
                                 enum measure_side side, measured_sums sums_of, const void *user)
{
    double values[MEASURE_RUNS_MOST], least = INFINITY, most = 0, scale = 0;
    size_t count = 0;
    bool is_estimate = false;
    for (size_t i = 0; i < measures->run_count && count < MEASURE_RUNS_MOST; i++) {
        const struct measure_run *run = &measures->runs[i];
        const double *variances = NULL;
        if (run->side != side)
            continue;
        const uint64_t *sums = sums_of(user, i, &variances);
        struct estimate estimate = estimate_of_run(metric, sums, variances, run);
        values[count++] = estimate.value;
        is_estimate |= run->sample_interval_bytes != 0;
        least = fmin(least, estimate.low);
        most = fmax(most, estimate.high);
        scale = fmax(scale, estimate.scale);
    }
    struct measured measured = measured_of(values, count);
    if (is_estimate) {
        measured.is_estimate = true;
        measured.least = least;
        measured.most = most;
        measured.scale = scale;
    }
    return measured;
}

struct row_sums {
    const struct measures *measures;
    enum measure_axis axis;
    uint32_t row;
};

static const uint64_t *sums_of_row(const void *user, size_t run, const double **variances)
{
    const struct row_sums *row = user;
    *variances = measures_variances(row->measures, row->axis, row->row, run);
    return measures_sums(row->measures, row->axis, row->row, run);
}

struct measured measures_get(const struct measures *measures, enum measure_axis axis, uint32_t row,
                             const struct metric *metric, enum measure_side side)
{
    const struct row_sums user = {measures, axis, row};
    return measured_of_runs(measures, metric, side, sums_of_row, &user);
}

/* ---- changes ---- */

struct estimate measured_estimate(const struct measured *measured)
{
    return (struct estimate){measured->median, measured->least, measured->most, measured->scale};
}

struct estimate measured_change(const struct measured *before, const struct measured *after)
{
    return estimate_difference(measured_estimate(after), measured_estimate(before));
}

bool measured_is_noise(const struct measured *before, const struct measured *after)
{
    if (before->is_estimate || after->is_estimate)
        return estimate_contains(measured_change(before, after), 0);
    return (before->runs > 1 || after->runs > 1) && before->least <= after->most &&
           after->least <= before->most;
}

void measured_print_range(const struct metric *metric, const struct measured *measured, FILE *out)
{
    if (measured->is_estimate && isinf(measured->most)) {
        fputs(" (no sample)", out);
        return;
    }
    if (measured->runs <= 1 && !measured->is_estimate)
        return;
    fprintf(out, " (%s to %s", metric_quantity(metric, measured->least).text,
            metric_quantity(metric, measured->most).text);
    if (measured->runs > 1)
        fprintf(out, " in %zu runs", measured->runs);
    fputs(measured->is_estimate ? " at 95 %)" : ")", out);
}

void measured_print_change(const struct metric *metric, struct estimate change, FILE *out)
{
    if (isinf(change.low) || isinf(change.high))
        fputs(" (no sample)", out);
    else
        fprintf(out, " (%s to %s at 95 %%)", metric_change(metric, change.low).text,
                metric_change(metric, change.high).text);
}
