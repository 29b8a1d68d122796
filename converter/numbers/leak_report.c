/* SPDX-License-Identifier: Apache-2.0 */
/* Prints leaks as a table with a growth curve on each line. */
#include "converter/numbers/leak_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "converter/base/error_report.h"
#include "converter/base/estimate_text.h"
#include "converter/base/quantity.h"
#include "converter/base/sampled_trace.h"
#include "converter/base/table_text.h"
#include "converter/numbers/compare_report.h"
#include "converter/trace/class_twins.h"
#include "format/json/json_output.h"

/* Rows of call sites are identified by their innermost frame; the callers are their parents. */
static enum measure_axis axis_of(const struct leak_report *report)
{
    return (report->axes & HEAP_BY_SITE) != 0 ? AXIS_SITE : AXIS_CLASS;
}

/* Without memory there are no changes. */
static struct compare_ranking rank_changes(const struct leak_report *report)
{
    const struct compare_report changes = {.measures = report->measures, .top = report->top};
    struct compare_ranking ranking;
    compare_rank(&changes, axis_of(report), metric_by_name("leaked", 6), &ranking);
    return ranking;
}

/* Without sizes of objects, growth is a number of objects (leak_tracker.c). */
static bool grows_in_bytes(const struct leak_report *report)
{
    return heap_sums_have_sizes(&report->tracker->heap.cells.all);
}

static void leak_print_changes(const struct leak_report *report)
{
    struct compare_ranking changes = rank_changes(report);
    const struct metric *metric = metric_by_name("leaked", 6);
    struct measured_pair all = measures_pair(report->measures, AXIS_PROGRAM, 1, metric);
    printf("\nsince     ");
    print_shown_text(report->baseline, stdout);
    printf(": %s survived, now %s (%s)", metric_quantity(metric, all.before.median).text,
           metric_quantity(metric, all.after.median).text, metric_change(metric, all.change).text);
    if (report->measures->has_estimates)
        measured_print_change(metric, &all.before, &all.after, stdout);
    putchar('\n');
    if (changes.count > 0)
        printf("\n%12s %12s %12s  %s\n", "before", "now", "change", axis_names[axis_of(report)]);
    for (size_t i = 0; i < changes.shown; i++) {
        const struct compare_row *row = &changes.rows[i];
        printf("%12s %12s %12s %c", metric_quantity(metric, row->pair.before.median).text,
               metric_quantity(metric, row->pair.after.median).text,
               metric_change(metric, row->pair.change).text,
               measured_is_noise(&row->pair.before, &row->pair.after) ? '~' : ' ');
        stack_print(measures_name(report->measures, axis_of(report), row->row, report->depth),
                    stdout);
        putchar('\n');
    }
    table_print_rest(changes.shown, changes.count, axis_plurals[axis_of(report)]);
    free(changes.rows);
}

static void leak_put_changes(const struct leak_report *report, struct json_output *json)
{
    struct compare_ranking changes = rank_changes(report);
    json_begin_object(json, "baseline");
    json_text(json, "trace", report->baseline);
    json_begin_array(json, "changes");
    for (size_t i = 0; i < changes.shown; i++) {
        const struct compare_row *row = &changes.rows[i];
        json_begin_object(json, NULL);
        json_number(json, "before_bytes", (uint64_t) row->pair.before.median);
        json_number(json, "bytes", (uint64_t) row->pair.after.median);
        if (report->measures->has_estimates)
            json_bool(json, "noise", measured_is_noise(&row->pair.before, &row->pair.after));
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

static void print_amount(const struct leak_report *report, const char *what,
                         const struct heap_amount *amount, const struct sample_sums *samples)
{
    if (is_sampled(report)) {
        printf("%-10s", what);
        estimate_print_amount(samples);
        return;
    }
    printf("%-10s%s object%s, %s", what, quantity_of_count(amount->objects).text,
           plural(amount->objects), quantity_of_bytes((double) amount->bytes).text);
}

static void print_head(const struct leak_report *report)
{
    char deaths[DEATH_DATES_TEXT];
    struct sample_sums samples = {.samples = 0};
    const struct heap_amount live = leak_tracker_live(report->tracker, &samples);
    if (is_sampled(report)) {
        printf("%-10s", "sampled");
        estimate_print_source(samples.samples, report->tracker->heap.samples.weights.sampling);
        putchar('\n');
    }
    print_amount(report, "at end", &live, &samples);
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
    print_amount(report, report->is_older ? "older" : "survived", &report->rows->all,
                 &report->rows->all_samples);
    if (!report->is_older)
        printf(" that saw at least %" PRIu64 " collection%s", report->limits.survived,
               plural(report->limits.survived));
    if (report->limits.age_ns > 0)
        printf("%s %s", report->is_older ? " that lived for half of the recording:" : " and",
               quantity_of_time((double) report->limits.age_ns, report->tracker->heap.unit).text);
    putchar('\n');
    if (report->rows->suppressed.objects > 0) {
        print_amount(report, "of these", &report->rows->suppressed,
                     &report->rows->suppressed_samples);
        printf(" are suppressed\n");
    }
    if (!grows_in_bytes(report))
        printf("(the trace has no object sizes: growth is in objects)\n");
    if (report->tracker->sample_count < LEAK_LINE_LEAST)
        printf("(no growth: it takes three collections; record longer, or with -O collect=8m)\n");
}

/* Draws the live amounts after collections as levels, the first at the left. */
static void print_curve(const struct leak_report *report, const struct leak_row *row)
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

static double mean_age(const struct leak_report *report, const struct leak_row *row)
{
    return time_of_age((double) row->old.ages_us / (double) row->old.objects,
                       report->tracker->heap.unit);
}

/* Writes "+1.00 KiB". */
static struct quantity signed_bytes(double bytes)
{
    struct quantity size = quantity_of_bytes(bytes < 0 ? -bytes : bytes), out;
    snprintf(out.text, sizeof out.text, "%s%.30s", bytes < 0 ? "-" : "+", size.text);
    return out;
}

#define RANGE_WIDTH 24

static void print_estimates(const struct leak_report *report, const struct leak_row *row)
{
    struct estimate bytes = estimate_bytes(&row->old_samples);
    char range[2 * sizeof(struct quantity) + 4];
    snprintf(range, sizeof range, "%s..%s", quantity_of_bytes(bytes.low).text,
             quantity_of_bytes(bytes.high).text);
    printf("%8" PRIu64 " %12" PRIu64 " %12s %-*s", row->old_samples.samples, row->old.objects,
           quantity_of_bytes(bytes.value).text, RANGE_WIDTH, range);
    if (report->tracker->sample_count < LEAK_LINE_LEAST)
        snprintf(range, sizeof range, "-");
    else
        snprintf(range, sizeof range, "%s..%s", signed_bytes(row->growth.low).text,
                 signed_bytes(row->growth.high).text);
    printf(" %12s %-*s ", row->rank > 0 ? signed_bytes(row->slope).text : "~", RANGE_WIDTH, range);
}

static void print_row(const struct leak_report *report, const struct class_twins *twins,
                      const struct leak_row *row)
{
    bool has_line = report->tracker->sample_count >= LEAK_LINE_LEAST;
    char growth[48] = "-", fit[16] = "-";
    if (has_line) {
        if (grows_in_bytes(report))
            snprintf(growth, sizeof growth, "%s", signed_bytes(row->slope).text);
        else
            snprintf(growth, sizeof growth, "%+.0f", row->slope);
        snprintf(fit, sizeof fit, "%.2f", row->fit);
    }
    if (is_sampled(report))
        print_estimates(report, row);
    else
        printf("%10" PRIu64 " %12s %12s %12s %5s ", row->old.objects,
               quantity_of_bytes((double) row->old.bytes).text,
               quantity_of_bytes((double) row->at_end.bytes).text, growth, fit);
    printf("%9s  ", quantity_of_time(mean_age(report, row), report->tracker->heap.unit).text);
    print_curve(report, row);
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
    putchar('\n');
    if (is_sampled(report))
        printf("%8s %12s %12s %-*s %12s %-*s ", "samples", "objects", "bytes", RANGE_WIDTH,
               estimate_range_title(report->tracker->heap.samples.weights.sampling), "growth / gc",
               RANGE_WIDTH, estimate_range_title(report->tracker->heap.samples.weights.sampling));
    else
        printf("%10s %12s %12s %12s %5s ", report->is_older ? "older" : "survivors", "bytes",
               "all at end", "growth / gc", "fit");
    printf("%9s  %-18s  %s\n", "mean age", "after collections",
           report->axes == HEAP_BY_CLASS  ? "class"
           : report->axes == HEAP_BY_SITE ? "site"
                                          : "class, site");
}

void leak_print_text(const struct leak_report *report)
{
    struct class_twins twins;
    print_head(report);
    if (report->rows->count > 0)
        print_titles(report);
    class_twins_find(&twins, report->tracker->heap.sites.names);
    for (size_t i = 0; i < shown(report); i++)
        print_row(report, &twins, &report->rows->rows[i]);
    class_twins_reset(&twins);
    table_print_rest(shown(report), report->rows->count,
                     report->axes == HEAP_BY_CLASS  ? "classes"
                     : report->axes == HEAP_BY_SITE ? "sites"
                                                    : "rows");
    if (report->baseline != NULL)
        leak_print_changes(report);
}

/* ---- JSON ---- */

/* Puts members of the object that was begun. */
static void put_members(struct json_output *json, const struct leak_report *report,
                        const struct heap_amount *amount, const struct sample_sums *samples)
{
    if (is_sampled(report)) {
        json_number(json, "samples", samples->samples);
        estimate_put_members(json, "objects", estimate_objects(samples));
        estimate_put_members(json, "bytes", estimate_bytes(samples));
    } else {
        json_number(json, "objects", amount->objects);
        json_number(json, "bytes", amount->bytes);
    }
}

static void put_amount(struct json_output *json, const struct leak_report *report, const char *key,
                       const struct heap_amount *amount, const struct sample_sums *samples)
{
    json_begin_object(json, key);
    put_members(json, report, amount, samples);
    json_end_object(json);
}

static void put_row(struct json_output *json, const struct leak_report *report,
                    const struct leak_row *row)
{
    const struct heap_sites *sites = &report->tracker->heap.sites;
    json_begin_object(json, NULL);
    struct step_bytes class = (report->axes & HEAP_BY_CLASS) == 0
                                  ? (struct step_bytes){.length = 0}
                                  : trace_class_of(sites->names, row->key.class_id)->name;
    const struct sample_sums old = sample_sums_of_class(row->old_samples, class);
    put_members(json, report, &row->old, &old);
    if (is_sampled(report)) {
        estimate_put_change(json, "growth_bytes_per_collection", row->growth);
        json_bool(json, "noise", row->rank <= 0);
    }
    json_real(json, "mean_age_ns", mean_age(report, row));
    if (!is_sampled(report)) {
        json_number(json, "at_end_objects", row->at_end.objects);
        json_number(json, "at_end_bytes", row->at_end.bytes);
        json_real(json, "growth_bytes_per_collection", row->slope);
    }
    json_real(json, "fit", row->fit);
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
        put_row(&json, report, &report->rows->rows[i]);
    json_end_array(&json);
    if (report->baseline != NULL)
        leak_put_changes(report, &json);
    json_close(&json);
}
