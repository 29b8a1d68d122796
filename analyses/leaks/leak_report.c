/* SPDX-License-Identifier: Apache-2.0 */
/* Prints leaks as a table with a growth curve on each line. */
#include "analyses/leaks/leak_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/cli/error_report.h"
#include "converter/cli/report_table.h"
#include "converter/cli/table_text.h"
#include "converter/files/sampled_trace.h"
#include "converter/numbers/amount.h"
#include "converter/numbers/quantity.h"
#include "converter/numbers/sample_totals.h"
#include "converter/statistics/change_ranking.h"
#include "converter/trace/class_twins.h"
#include "format/json/json_output.h"

/* Rows of call sites are identified by their innermost frame; the callers are their parents. */
static enum measure_axis axis_of(const struct leak_report *report)
{
    return (report->axes & HEAP_BY_SITE) != 0 ? AXIS_SITE : AXIS_CLASS;
}

/* Without memory there are no changes. */
static struct change_ranking rank_leaks(const struct leak_report *report)
{
    struct change_ranking ranking;
    rank_changes(report->measures, axis_of(report), metric_by_name("leaked", 6), false, report->top,
                 &ranking);
    return ranking;
}

/* Without sizes of objects, growth is a number of objects (leak_tracker.c). */
static bool grows_in_bytes(const struct leak_report *report)
{
    return heap_sums_have_sizes(&report->tracker->heap.cells.all);
}

static struct quantity text_of(const struct amount *amount)
{
    return amount_scaled_value(amount, amount->range.value);
}

static void leak_print_changes(const struct leak_report *report)
{
    struct change_ranking changes = rank_leaks(report);
    const struct metric *metric = metric_by_name("leaked", 6);
    struct measured_pair all = measures_pair(report->measures, AXIS_PROGRAM, 1, metric);
    printf("\nsince     ");
    print_shown_text(report->baseline, stdout);
    printf(": %s survived, now %s (%s)", text_of(&all.before.amount).text,
           text_of(&all.after.amount).text, text_of(&all.change).text);
    if (report->measures->has_estimates)
        measured_pair_print_range(&all, stdout);
    putchar('\n');
    if (changes.count > 0)
        printf("\n%12s %12s %12s  %s\n", "before", "now", "change", axis_names[axis_of(report)]);
    for (size_t i = 0; i < changes.shown; i++) {
        const struct change_row *row = &changes.rows[i];
        measured_pair_print(&row->pair, stdout);
        putchar(row->pair.is_noise ? '~' : ' ');
        stack_print(measures_name(report->measures, axis_of(report), row->row, report->depth),
                    stdout);
        putchar('\n');
    }
    table_print_rest(changes.shown, changes.count, axis_plurals[axis_of(report)]);
    free(changes.rows);
}

static void leak_put_changes(const struct leak_report *report, struct json_output *json)
{
    struct change_ranking changes = rank_leaks(report);
    json_begin_object(json, "baseline");
    json_text(json, "trace", report->baseline);
    json_begin_array(json, "changes");
    for (size_t i = 0; i < changes.shown; i++) {
        const struct change_row *row = &changes.rows[i];
        json_begin_object(json, NULL);
        json_number(json, "before_bytes", (uint64_t) measured_value(&row->pair.before));
        json_number(json, "bytes", (uint64_t) measured_value(&row->pair.after));
        if (report->measures->has_estimates)
            json_bool(json, "noise", row->pair.is_noise);
        measures_put_name(report->measures, axis_of(report), row->row, json);
        json_end_object(json);
    }
    json_end_array(json);
    json_end_object(json);
    free(changes.rows);
}

#define DRAWN 16u /* width of a curve in characters */

static size_t shown(const struct leak_report *report)
{
    return table_shown(report->top, report->rows->count);
}

static bool is_sampled(const struct leak_report *report)
{
    return report->tracker->heap.samples.weights.interval_bytes != 0;
}

/* Objects and their bytes; of a sampled trace, what samples stand for. */
struct leak_amounts {
    uint64_t samples;
    struct amount objects, bytes;
};

static struct leak_amounts amounts_of(const struct leak_report *report,
                                      const struct heap_amount *amount,
                                      const struct sample_sums *samples)
{
    if (!is_sampled(report))
        samples = NULL;
    return (struct leak_amounts){samples != NULL ? samples->samples : 0,
                                 amount_of_objects(amount->objects, samples),
                                 amount_of_bytes(amount->bytes, samples)};
}

static void leak_report_print_amount(const struct leak_report *report, const char *what,
                                     const struct heap_amount *amount,
                                     const struct sample_sums *samples)
{
    const struct leak_amounts amounts = amounts_of(report, amount, samples);
    char text[AMOUNT_PAIR_TEXT];
    amount_pair_text(&amounts.objects, &amounts.bytes, text);
    printf("%-10s%s", what, text);
}

static void leak_report_print_head(const struct leak_report *report)
{
    char deaths[DEATH_DATES_TEXT];
    struct sample_sums samples = {.samples = 0};
    const struct heap_amount live = leak_tracker_live(report->tracker, &samples);
    if (is_sampled(report)) {
        printf("%-10s", "sampled");
        estimate_print_source(samples.samples, report->tracker->heap.samples.weights.sampling);
        putchar('\n');
    }
    leak_report_print_amount(report, "at end", &live, &samples);
    printf(", after %zu collection%s%s\n", report->tracker->time_count,
           plural(report->tracker->time_count), is_sampled(report) ? " that freed samples" : "");
    if (report->tracker->heap.left_out > 0)
        printf("existing  %s object%s: before recording began, not counted (--existing)\n",
               quantity_of_count(report->tracker->heap.left_out).text,
               plural(report->tracker->heap.left_out));
    else if (report->lacks_existing)
        puts("existing  left out (the agent's option existing=yes)");
    death_dates_print(&report->tracker->heap.deaths, deaths, sizeof deaths);
    if (death_dates_are_exact(&report->tracker->heap.deaths))
        printf("%-10s%s\n", "deaths", deaths);
    leak_report_print_amount(report, report->is_older ? "older" : "survived", &report->rows->all,
                             &report->rows->all_samples);
    if (!report->is_older)
        printf(" that saw at least %" PRIu64 " collection%s", report->limits.survived,
               plural(report->limits.survived));
    if (report->limits.age_ns > 0)
        printf("%s %s", report->is_older ? " that lived for half of the recording:" : " and",
               quantity_of_time((double) report->limits.age_ns, report->tracker->heap.unit).text);
    putchar('\n');
    if (report->rows->suppressed.objects > 0) {
        leak_report_print_amount(report, "of these", &report->rows->suppressed,
                                 &report->rows->suppressed_samples);
        printf(" are suppressed\n");
    }
    if (!grows_in_bytes(report))
        printf("(the trace has no object sizes: growth is in objects)\n");
    if (report->tracker->sample_count < LEAK_LINE_LEAST)
        printf("(no growth: it takes three collections; record longer, or with -O collect=8m)\n");
}

/* Draws the live amounts after collections as levels, the first at the left. */
static void leak_report_print_curve(const struct leak_report *report, const struct leak_row *row)
{
    static const char levels[] = " .:-=+*#";
    size_t count = report->tracker->sample_count;
    uint64_t most = 1;
    for (size_t i = 0; i < count; i++)
        most = row->series[i] > most ? row->series[i] : most;
    putchar('|');
    for (size_t i = 0; count > 0 && i < DRAWN; i++) {
        uint64_t value = row->series[((i + 1) * count - 1) / DRAWN];
        putchar(levels[value == 0 ? 0 : 1 + (size_t) ((double) value / (double) most * 6)]);
    }
    printf("%*s|", count > 0 ? 0 : (int) DRAWN, "");
}

/* ---- columns ---- */

/* A row, as columns see it. */
struct leak_line {
    const struct leak_report *report;
    const struct leak_row *row;
    struct leak_amounts old;
};

static struct leak_line line_of(const struct leak_report *report, const struct leak_row *row)
{
    struct step_bytes class = {.length = 0};
    if ((report->axes & HEAP_BY_CLASS) != 0)
        class = trace_class_of(report->tracker->heap.sites.names, row->key.class_id)->name;
    const struct sample_sums old = sample_sums_of_class(row->old_samples, class);
    return (struct leak_line){report, row, amounts_of(report, &row->old, &old)};
}

static const struct leak_row *row_of(const void *line)
{
    return ((const struct leak_line *) line)->row;
}

static struct amount leak_samples(const void *line)
{
    return amount_exact(((const struct leak_line *) line)->old.samples, AMOUNT_OBJECTS);
}

static struct amount leak_objects(const void *line)
{
    return ((const struct leak_line *) line)->old.objects;
}

static struct amount leak_bytes(const void *line)
{
    return ((const struct leak_line *) line)->old.bytes;
}

/* Too few collections have no line. */
static struct amount of_line(const void *line, struct amount amount)
{
    const struct leak_report *report = ((const struct leak_line *) line)->report;
    return report->tracker->sample_count < LEAK_LINE_LEAST ? amount_not_recorded(amount) : amount;
}

static struct amount leak_growth(const void *user)
{
    const struct leak_line *line = user;
    enum amount_unit unit = grows_in_bytes(line->report) ? AMOUNT_BYTES : AMOUNT_OBJECTS;
    if (!is_sampled(line->report))
        return of_line(line, amount_real_change(line->row->slope, unit));
    struct amount growth = amount_estimated_change(line->row->growth, unit);
    growth.is_unsure = line->row->rank <= 0;
    return of_line(line, growth);
}

static struct amount leak_noise(const void *line)
{
    return amount_flag(row_of(line)->rank <= 0);
}

static struct amount leak_age(const void *user)
{
    const struct leak_line *line = user;
    const struct heap_amount *old = &line->row->old;
    enum time_unit unit = line->report->tracker->heap.unit;
    return amount_real(time_of_age((double) old->ages_us / (double) old->objects, unit),
                       amount_unit_of_times(unit));
}

static struct amount leak_end_objects(const void *line)
{
    return amount_exact(row_of(line)->at_end.objects, AMOUNT_OBJECTS);
}

static struct amount leak_end_bytes(const void *line)
{
    return amount_exact(row_of(line)->at_end.bytes, AMOUNT_BYTES);
}

static struct amount leak_fit(const void *line)
{
    return of_line(line, amount_real(row_of(line)->fit, AMOUNT_FIT));
}

#define OF_SAMPLES (REPORT_SAMPLED_TEXT | REPORT_SAMPLED_JSON)
#define OF_ALL (REPORT_TEXT | REPORT_JSON)
#define GROWTH(look, places)                                                                       \
    {                                                                                              \
        "growth_bytes_per_collection", "growth / gc", 12, look, places, .value = leak_growth       \
    }

/* The second is of survivors, or of older objects. */
static const struct report_column leak_columns[] = {
    {"samples", "samples", 8, REPORT_DIGITS, OF_SAMPLES, .value = leak_samples},
    {"objects", "survivors", 10, REPORT_DIGITS, OF_ALL | REPORT_SAMPLED_JSON,
     .value = leak_objects},
    {NULL, "objects", 12, REPORT_DIGITS, REPORT_SAMPLED_TEXT, .value = leak_objects},
    {"bytes", "bytes", 12, REPORT_SCALED_RANGE, OF_ALL | OF_SAMPLES, .value = leak_bytes},
    GROWTH(REPORT_SCALED_RANGE, OF_SAMPLES),
    {"noise", NULL, 0, REPORT_DIGITS, REPORT_SAMPLED_JSON, .value = leak_noise},
    {"mean_age_ns", NULL, 0, REPORT_SCALED, REPORT_BOTH_JSONS, .value = leak_age},
    {"at_end_objects", NULL, 0, REPORT_DIGITS, REPORT_JSON, .value = leak_end_objects},
    {"at_end_bytes", "all at end", 12, REPORT_SCALED, OF_ALL, .value = leak_end_bytes},
    GROWTH(REPORT_SCALED, OF_ALL),
    {"fit", "fit", 5, REPORT_SCALED, OF_ALL | REPORT_SAMPLED_JSON, .value = leak_fit},
    {NULL, "mean age", 9, REPORT_SCALED, REPORT_BOTH_TEXTS, .value = leak_age},
};

#define LEAK_COLUMNS (sizeof leak_columns / sizeof leak_columns[0])

static struct report_table table_of(const struct leak_report *report)
{
    return (struct report_table){
        .columns = leak_columns,
        .count = LEAK_COLUMNS,
        .sampling = is_sampled(report) ? report->tracker->heap.samples.weights.sampling : NULL,
        .has_bounds_beside = true};
}

static void leak_report_print_row(const struct leak_report *report, const struct class_twins *twins,
                                  const struct leak_row *row)
{
    const struct report_table table = table_of(report);
    const struct leak_line line = line_of(report, row);
    report_table_print_row(&table, &line, stdout);
    putchar(' ');
    leak_report_print_curve(report, row);
    printf("  ");
    if ((report->axes & HEAP_BY_CLASS) != 0)
        print_shown(class_twins_name(twins, row->key.class_id), stdout);
    if (report->axes == (HEAP_BY_CLASS | HEAP_BY_SITE))
        printf(", ");
    if ((report->axes & HEAP_BY_SITE) != 0)
        stack_print(heap_site_stack(&report->tracker->heap.sites, row->key.site, report->depth),
                    stdout);
    putchar('\n');
}

static void print_titles(const struct leak_report *report)
{
    struct report_column columns[LEAK_COLUMNS];
    struct report_table table = table_of(report);
    memcpy(columns, leak_columns, sizeof columns);
    if (report->is_older)
        columns[1].title = "older";
    table.columns = columns;
    putchar('\n');
    report_table_print_head(&table, stdout);
    printf(" %-18s  %s\n", "after collections",
           report->axes == HEAP_BY_CLASS  ? "class"
           : report->axes == HEAP_BY_SITE ? "site"
                                          : "class, site");
}

void leak_print_text(const struct leak_report *report)
{
    struct class_twins twins;
    leak_report_print_head(report);
    if (report->rows->count > 0)
        print_titles(report);
    class_twins_find(&twins, report->tracker->heap.sites.names);
    for (size_t i = 0; i < shown(report); i++)
        leak_report_print_row(report, &twins, &report->rows->rows[i]);
    class_twins_reset(&twins);
    table_print_rest(shown(report), report->rows->count,
                     report->axes == HEAP_BY_CLASS  ? "classes"
                     : report->axes == HEAP_BY_SITE ? "sites"
                                                    : "rows");
    if (report->baseline != NULL)
        leak_print_changes(report);
}

/* ---- JSON ---- */

static void put_amount(struct json_output *json, const struct leak_report *report, const char *key,
                       const struct heap_amount *amount, const struct sample_sums *samples)
{
    const struct leak_amounts amounts = amounts_of(report, amount, samples);
    json_begin_object(json, key);
    if (is_sampled(report))
        json_number(json, "samples", amounts.samples);
    amount_put_members(&amounts.objects, "objects", json);
    amount_put_members(&amounts.bytes, "bytes", json);
    json_end_object(json);
}

static void leak_report_put_row(struct json_output *json, const struct leak_report *report,
                                const struct leak_row *row)
{
    const struct heap_sites *sites = &report->tracker->heap.sites;
    const struct report_table table = table_of(report);
    const struct leak_line line = line_of(report, row);
    json_begin_object(json, NULL);
    report_table_put_row(&table, &line, json);
    if ((report->axes & HEAP_BY_CLASS) != 0) {
        const struct trace_class *of = trace_class_of(sites->names, row->key.class_id);
        json_bytes(json, "class", of->name);
        json_number(json, "loader", of->loader);
    }
    if ((report->axes & HEAP_BY_SITE) != 0)
        stack_put_json(heap_site_stack(sites, row->key.site, 0), json, "site");
    json_numbers(json, "live", row->series, report->tracker->sample_count, sizeof(uint64_t));
    json_end_object(json);
}

void leak_print_json(const struct leak_report *report)
{
    struct sample_sums samples = {.samples = 0};
    const struct heap_amount live = leak_tracker_live(report->tracker, &samples);
    struct json_output json;
    json_open(&json, stdout);
    json_text(&json, "trace", report->path);
    json_number(&json, "collections", report->tracker->time_count);
    death_dates_put_json(&report->tracker->heap.deaths, report->tracker->heap.unit, &json);
    json_number(&json, "least_survived", report->limits.survived);
    json_number(&json, "least_age_ns", report->limits.age_ns);
    if (is_sampled(report)) {
        sampled_trace_put_json(&json, report->path,
                               report->tracker->heap.samples.weights.interval_bytes);
    }
    put_amount(&json, report, "at_end", &live, &samples);
    json_number(&json, "existing_left_out", report->tracker->heap.left_out);
    put_amount(&json, report, "survived", &report->rows->all, &report->rows->all_samples);
    put_amount(&json, report, "suppressed", &report->rows->suppressed,
               &report->rows->suppressed_samples);
    json_numbers(&json, "after_collections", &report->tracker->samples[0].collection,
                 report->tracker->sample_count, sizeof report->tracker->samples[0]);
    json_begin_array(&json, "rows");
    for (size_t i = 0; i < shown(report); i++)
        leak_report_put_row(&json, report, &report->rows->rows[i]);
    json_end_array(&json);
    if (report->baseline != NULL)
        leak_put_changes(report, &json);
    json_close(&json);
}
