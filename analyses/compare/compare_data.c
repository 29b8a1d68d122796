/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a comparison as JSON, CSV, and the data of the page. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyses/compare/compare_report.h"
#include "converter/cli/table_text.h"
#include "converter/files/sampled_trace.h"

bool compare_has(const struct compare_report *report, const struct metric *metric)
{
    for (size_t run = 0;
         measures_have(report->measures, metric) && run < report->measures->run_count; run++) {
        const struct amount amount =
            metric_amount(metric, measures_sums(report->measures, AXIS_PROGRAM, 1, run));
        if (amount.state == AMOUNT_KNOWN && amount.range.value != 0)
            return true;
    }
    return false;
}

static const struct metric *first_there(const struct compare_report *report,
                                        const char *const *names)
{
    const struct metric *metric = NULL;
    for (; *names != NULL; names++) {
        metric = metric_by_name(*names, strlen(*names));
        if (compare_has(report, metric))
            return metric;
    }
    return metric;
}

const struct metric *compare_metric(const struct compare_report *report, enum measure_axis axis)
{
    static const char *const of_objects[] = {"allocated", "allocated_objects", "calls", NULL};
    static const char *const of_methods[] = {"own_time", "calls", NULL};
    if (report->sort != NULL)
        return report->sort;
    return first_there(report, axis == AXIS_METHOD ? of_methods : of_objects);
}

#define PAGE_ROWS UINT64_C(2000)
#define PAGE_SITES ((size_t) 12000)

/* ---- JSON ---- */

/* Without a sample there may be no bound. */
static void put_bound(struct json_output *json, const char *name, double bound)
{
    if (!isinf(bound))
        json_real(json, name, bound);
}

static void put_value(struct json_output *json, const char *name, const struct amount *amount)
{
    if (amount->state == AMOUNT_KNOWN)
        json_real(json, name, amount->range.value);
    else
        json_null(json, name);
}

static void put_side(struct json_output *json, const struct measured *measured, const char *least,
                     const char *most)
{
    if (!measured_is_known(measured) || (measured->runs <= 1 && !measured->amount.is_estimate))
        return;
    json_real(json, least, measured->amount.range.low);
    put_bound(json, most, measured->amount.range.high);
}

static void compare_data_put_value(struct json_output *json, const struct metric *metric,
                                   const struct measured_pair *pair)
{
    json_begin_object(json, metric->name);
    put_value(json, "before", &pair->before.amount);
    put_value(json, "after", &pair->after.amount);
    put_value(json, "change", &pair->change);
    if (pair->change.is_estimate) {
        put_bound(json, "change_low", pair->change.range.low);
        put_bound(json, "change_high", pair->change.range.high);
        json_bool(json, "noise", pair->is_noise);
    }
    put_side(json, &pair->before, "before_least", "before_most");
    put_side(json, &pair->after, "after_least", "after_most");
    json_end_object(json);
}

static void compare_data_put_values(struct json_output *json, const struct compare_report *report,
                                    enum measure_axis axis, uint32_t row)
{
    for (size_t i = 0; i < report->measures->metrics.count; i++) {
        const struct metric *metric = report->measures->metrics.items[i];
        const struct measured_pair pair = measures_pair(report->measures, axis, row, metric);
        if (metric->group == METRICS_OF_TRACES && measures_have(report->measures, metric) &&
            (measured_value(&pair.before) != 0 || measured_value(&pair.after) != 0))
            compare_data_put_value(json, metric, &pair);
    }
}

static bool put_table(struct json_output *json, const struct compare_report *report,
                      enum measure_axis axis)
{
    struct change_ranking ranking;
    if (!rank_changes(report->measures, axis, compare_metric(report, axis), report->with_times,
                      report->top, &ranking))
        return false;
    json_begin_array(json, axis_plurals[axis]);
    for (size_t i = 0; i < ranking.shown; i++) {
        json_begin_object(json, NULL);
        measures_put_name(report->measures, axis, ranking.rows[i].row, json);
        compare_data_put_values(json, report, axis, ranking.rows[i].row);
        json_end_object(json);
    }
    json_end_array(json);
    free(ranking.rows);
    return true;
}

static void put_runs(struct json_output *json, const struct compare_report *report,
                     enum measure_side side, const char *key)
{
    json_begin_array(json, key);
    for (size_t i = 0; i < report->measures->run_count; i++) {
        const struct measure_run *run = &report->measures->runs[i];
        if (run->side != side)
            continue;
        json_begin_object(json, NULL);
        json_text(json, "trace", run->path);
        json_text(json, "program", run->program);
        if (run->sampling != NULL) {
            sampled_trace_put_json(json, run->path, sampling_interval(run->sampling));
            json_number(json, "samples", run->samples);
        }
        death_dates_put_json(&run->deaths, run->unit, json);
        json_end_object(json);
    }
    json_end_array(json);
}

bool compare_print_json(const struct compare_report *report)
{
    struct json_output json;
    bool ok = true;
    json_open(&json, stdout);
    put_runs(&json, report, SIDE_BEFORE, "before");
    put_runs(&json, report, SIDE_AFTER, "after");
    json_begin_object(&json, "program");
    compare_data_put_values(&json, report, AXIS_PROGRAM, 1);
    json_end_object(&json);
    for (unsigned axis = AXIS_CLASS; ok && axis < AXIS_COUNT; axis++)
        if ((report->axes >> axis & 1) != 0)
            ok = put_table(&json, report, (enum measure_axis) axis);
    json_close(&json);
    return ok;
}

/* ---- CSV ---- */

static void csv_sides(const struct measured_pair *pair)
{
    const struct measured *const sides[] = {&pair->before, &pair->after};
    for (size_t i = 0; i < SIDE_COUNT; i++)
        if (measured_is_known(sides[i]))
            printf(",%.15g", measured_value(sides[i]));
        else
            putchar(',');
}

static bool csv_table(const struct compare_report *report, enum measure_axis axis)
{
    struct change_ranking ranking;
    if (!rank_changes(report->measures, axis, compare_metric(report, axis), report->with_times,
                      report->top, &ranking))
        return false;
    for (size_t i = 0; i < ranking.shown; i++) {
        printf("%s,", axis_names[axis]);
        stack_put_csv(measures_name(report->measures, axis, ranking.rows[i].row, 0), stdout);
        for (size_t k = 0; k < report->measures->metrics.count; k++) {
            const struct metric *metric = report->measures->metrics.items[k];
            const struct measured_pair pair =
                measures_pair(report->measures, axis, ranking.rows[i].row, metric);
            if (metric->group == METRICS_OF_TRACES)
                csv_sides(&pair);
        }
        printf("\n");
    }
    free(ranking.rows);
    return true;
}

bool compare_print_csv(const struct compare_report *report)
{
    bool ok = true;
    printf("by,name");
    for (size_t k = 0; k < report->measures->metrics.count; k++) {
        const struct metric *metric = report->measures->metrics.items[k];
        if (metric->group == METRICS_OF_TRACES)
            printf(",%s_before,%s_after", metric->name, metric->name);
    }
    printf("\n");
    for (unsigned axis = AXIS_CLASS; ok && axis < AXIS_COUNT; axis++)
        if ((report->axes >> axis & 1) != 0)
            ok = csv_table(report, (enum measure_axis) axis);
    return ok;
}

/* ---- the page ---- */

/* Columns of the page's sites, each with values before and after. */
static const char *const page_columns[] = {"allocated", "allocated_objects", "alive_at_peak",
                                           "alive_at_peak_objects", "alive_at_end"};

/* Computes the weight of each site, its children included, as the sum of both sides.  The page
 * omits light sites. */
static double *weigh_sites(const struct compare_report *report, const struct metric *metric)
{
    size_t count = measures_count(report->measures, AXIS_SITE);
    double *weights = calloc(count + 1, sizeof *weights);
    for (uint32_t row = (uint32_t) count; weights != NULL && row > 0; row--) {
        const struct measured_pair pair = measures_pair(report->measures, AXIS_SITE, row, metric);
        weights[row] += measured_value(&pair.before) + measured_value(&pair.after);
        weights[measures_parent(report->measures, row)] += weights[row];
    }
    return weights;
}

static int by_weight(const void *left, const void *right)
{
    double a = *(const double *) left, b = *(const double *) right;
    return a > b ? -1 : a < b;
}

/* Returns the weight that a site must exceed to be among the PAGE_SITES of a page. */
static double least_weight(const double *weights, size_t count)
{
    double least = 0;
    double *sorted = malloc((count + 1) * sizeof *sorted);
    if (sorted == NULL)
        return -1;
    memcpy(sorted, weights + 1, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_weight);
    if (count > PAGE_SITES)
        least = sorted[PAGE_SITES];
    free(sorted);
    return least;
}

/* Numbers of the sites in the page, 0: the root.  Omitted sites count for their parents. */
struct page_sites {
    uint32_t *numbers; /* by row */
    uint32_t *rows;    /* by number */
    size_t count;
};

static void compare_data_put_column(struct json_output *json, const struct compare_report *report,
                                    const struct page_sites *sites, const char *name,
                                    enum measure_side side, double *sums)
{
    char key[64];
    const struct metric *metric = metric_by_name(name, strlen(name));
    size_t count = measures_count(report->measures, AXIS_SITE);
    for (size_t i = 0; i <= sites->count; i++)
        sums[i] = 0;
    for (uint32_t row = 1; row <= count; row++) {
        const struct measured_pair pair = measures_pair(report->measures, AXIS_SITE, row, metric);
        sums[sites->numbers[row]] +=
            measured_value(side == SIDE_BEFORE ? &pair.before : &pair.after);
    }
    snprintf(key, sizeof key, "%s_%s", name, side == SIDE_BEFORE ? "before" : "after");
    json_begin_array(json, key);
    for (size_t i = 0; i <= sites->count; i++)
        json_real(json, NULL, sums[i]);
    json_end_array(json);
}

static bool choose_sites(const struct compare_report *report, const double *weights,
                         struct page_sites *sites)
{
    size_t count = measures_count(report->measures, AXIS_SITE);
    double least = least_weight(weights, count);
    if (least < 0)
        return false;
    for (uint32_t row = 1; row <= count; row++) {
        uint32_t parent = measures_parent(report->measures, row);
        bool is_kept =
            weights[row] > least && weights[row] > 0 &&
            (parent == 0 ||
             sites->numbers[parent] != sites->numbers[measures_parent(report->measures, parent)]);
        if (is_kept) {
            sites->rows[++sites->count] = row;
            sites->numbers[row] = (uint32_t) sites->count;
        } else {
            sites->numbers[row] = parent == 0 ? 0 : sites->numbers[parent];
        }
    }
    return true;
}

static bool put_page_sites(struct json_output *json, const struct compare_report *report)
{
    size_t count = measures_count(report->measures, AXIS_SITE);
    double *weights = weigh_sites(report, compare_metric(report, AXIS_SITE));
    double *sums = calloc(count + 1, sizeof *sums);
    struct page_sites sites = {.numbers = calloc(count + 1, sizeof *sites.numbers),
                               .rows = calloc(count + 1, sizeof *sites.rows)};
    bool ok = weights != NULL && sums != NULL && sites.numbers != NULL && sites.rows != NULL &&
              choose_sites(report, weights, &sites);
    json_begin_object(json, "sites");
    json_begin_array(json, "parent");
    json_number(json, NULL, 0);
    for (size_t i = 1; ok && i <= sites.count; i++)
        json_number(json, NULL, sites.numbers[measures_parent(report->measures, sites.rows[i])]);
    json_end_array(json);
    json_begin_array(json, "names");
    json_text(json, NULL, "");
    for (size_t i = 1; ok && i <= sites.count; i++)
        json_bytes(json, NULL, measures_text(report->measures, AXIS_SITE, sites.rows[i]));
    json_end_array(json);
    for (size_t i = 0; ok && i < sizeof page_columns / sizeof page_columns[0]; i++) {
        compare_data_put_column(json, report, &sites, page_columns[i], SIDE_BEFORE, sums);
        compare_data_put_column(json, report, &sites, page_columns[i], SIDE_AFTER, sums);
    }
    json_end_object(json);
    free(weights);
    free(sums);
    free(sites.numbers);
    free(sites.rows);
    return ok;
}

static void compare_data_put_curve(struct json_output *json, const struct measure_run *run)
{
    json_begin_object(json, NULL);
    json_text(json, "trace", run->path);
    json_text(json, "program", run->program);
    death_dates_put_json(&run->deaths, run->unit, json);
    json_bool(json, "is_after", run->side == SIDE_AFTER);
    json_number(json, "first_ns", run->first_ns);
    json_number(json, "last_ns", run->last_ns);
    json_number(json, "step_ns", run->curve->step_ns);
    json_numbers(json, "live", &run->curve->steps[0].last_bytes, run->curve->count,
                 sizeof run->curve->steps[0]);
    json_numbers(json, "most", &run->curve->steps[0].most_bytes, run->curve->count,
                 sizeof run->curve->steps[0]);
    json_end_object(json);
}

/* Puts the arrays [name, title, unit]. */
static void put_metrics(struct json_output *json, const struct measures *measures)
{
    json_begin_array(json, "metrics");
    for (size_t i = 0; i < measures->metrics.count; i++) {
        const struct metric *metric = measures->metrics.items[i];
        json_begin_array(json, NULL);
        json_text(json, NULL, metric->name);
        json_text(json, NULL, metric->title);
        json_text(json, NULL, amount_unit_name(metric->unit));
        json_end_array(json);
    }
    json_end_array(json);
}

bool compare_put_page_data(const void *report_pointer, FILE *out)
{
    const struct compare_report *report = report_pointer;
    struct compare_report page = *report;
    struct json_output json;
    page.top = report->top == 0 || report->top > PAGE_ROWS ? PAGE_ROWS : report->top;
    json_init(&json, out);
    json.is_compact = true;
    json.is_in_html = true;
    json_begin_object(&json, NULL);
    json_bool(&json, "clock", !report->measures->lacks_times);
    put_metrics(&json, report->measures);
    json_begin_array(&json, "runs");
    for (size_t i = 0; i < report->measures->run_count; i++)
        compare_data_put_curve(&json, &report->measures->runs[i]);
    json_end_array(&json);
    json_begin_object(&json, "program");
    compare_data_put_values(&json, report, AXIS_PROGRAM, 1);
    json_end_object(&json);
    bool ok = put_page_sites(&json, &page);
    ok = ok && put_table(&json, &page, AXIS_CLASS);
    ok = ok && put_table(&json, &page, AXIS_THREAD) && put_table(&json, &page, AXIS_METHOD);
    json_close(&json);
    return ok;
}
