/* SPDX-License-Identifier: Apache-2.0 */
/* Prints leaks as a table with a growth curve on each line. */
#include "converter/numbers/leak_report.h"

#include <inttypes.h>
#include <stdio.h>

#include "converter/base/error_report.h"
#include "converter/base/quantity.h"
#include "converter/base/table_text.h"
#include "format/json/json_output.h"

#define DRAWN 16u /* width of a curve in characters */

static size_t shown(const struct leak_report *report)
{
    return table_shown(report->top, report->rows->count);
}

static void print_amount(const char *what, const struct heap_amount *amount)
{
    printf("%-10s%s object%s, %s", what, quantity_of_count(amount->objects).text,
           plural(amount->objects), quantity_of_bytes((double) amount->bytes).text);
}

static void print_head(const struct leak_report *report)
{
    char deaths[DEATH_DATES_TEXT];
    const struct heap_amount live = leak_tracker_live(report->tracker);
    print_amount("at end", &live);
    printf(", after %zu collection%s\n", report->tracker->time_count,
           plural(report->tracker->time_count));
    death_dates_print(&report->tracker->heap.deaths, deaths, sizeof deaths);
    if (death_dates_are_exact(&report->tracker->heap.deaths))
        printf("%-10s%s\n", "deaths", deaths);
    print_amount("survived", &report->rows->all);
    printf(" that saw at least %" PRIu64 " collection%s", report->limits.survived,
           plural(report->limits.survived));
    if (report->limits.age_ns > 0)
        printf(" and %s", quantity_of_ns((double) report->limits.age_ns).text);
    putchar('\n');
    if (report->rows->suppressed.objects > 0) {
        print_amount("of these", &report->rows->suppressed);
        printf(" are suppressed\n");
    }
    if (report->tracker->sample_count < 3)
        printf("(no growth: at least three collections are needed)\n");
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

static double mean_age_ns(const struct leak_row *row)
{
    return 1000.0 * (double) row->old.ages_us / (double) row->old.objects;
}

static void print_row(const struct leak_report *report, const struct leak_row *row)
{
    bool has_line = report->tracker->sample_count >= 3;
    char growth[48] = "-", fit[16] = "-";
    if (has_line) {
        snprintf(growth, sizeof growth, "%s%s", row->slope < 0 ? "-" : "+",
                 quantity_of_bytes(row->slope < 0 ? -row->slope : row->slope).text);
        snprintf(fit, sizeof fit, "%.2f", row->fit);
    }
    printf("%10" PRIu64 " %12s %12s %5s %9s  ", row->old.objects,
           quantity_of_bytes((double) row->old.bytes).text, growth, fit,
           quantity_of_ns(mean_age_ns(row)).text);
    print_curve(report, row);
    printf("  ");
    if ((report->axes & HEAP_BY_CLASS) != 0)
        print_shown(trace_class_of(report->tracker->heap.sites.names, row->key.class_id)->name,
                    stdout);
    if (report->axes == (HEAP_BY_CLASS | HEAP_BY_SITE))
        printf(", ");
    if ((report->axes & HEAP_BY_SITE) != 0)
        stack_print(heap_site_stack(&report->tracker->heap.sites, row->key.site, report->depth),
                    stdout);
    putchar('\n');
}

void leak_print_text(const struct leak_report *report)
{
    print_head(report);
    if (report->rows->count > 0)
        printf("\n%10s %12s %12s %5s %9s  %-18s  %s\n", "objects", "bytes", "a collection", "fit",
               "mean age", "after collections",
               report->axes == HEAP_BY_CLASS  ? "class"
               : report->axes == HEAP_BY_SITE ? "site"
                                              : "class, site");
    for (size_t i = 0; i < shown(report); i++)
        print_row(report, &report->rows->rows[i]);
    table_print_rest(shown(report), report->rows->count,
                     report->axes == HEAP_BY_CLASS  ? "classes"
                     : report->axes == HEAP_BY_SITE ? "sites"
                                                    : "rows");
    if (report->baseline != NULL)
        leak_print_changes(report);
}

/* ---- JSON ---- */

static void put_amount(struct json_output *json, const char *key, const struct heap_amount *amount)
{
    json_begin_object(json, key);
    json_number(json, "objects", amount->objects);
    json_number(json, "bytes", amount->bytes);
    json_end_object(json);
}

static void put_row(struct json_output *json, const struct leak_report *report,
                    const struct leak_row *row)
{
    const struct heap_sites *sites = &report->tracker->heap.sites;
    json_begin_object(json, NULL);
    json_number(json, "objects", row->old.objects);
    json_number(json, "bytes", row->old.bytes);
    json_real(json, "mean_age_ns", mean_age_ns(row));
    json_real(json, "growth_bytes_per_collection", row->slope);
    json_real(json, "fit", row->fit);
    if ((report->axes & HEAP_BY_CLASS) != 0)
        json_bytes(json, "class", trace_class_of(sites->names, row->key.class_id)->name);
    if ((report->axes & HEAP_BY_SITE) != 0)
        stack_put_json(heap_site_stack(sites, row->key.site, 0), json, "site");
    json_begin_array(json, "live");
    for (size_t i = 0; i < report->tracker->sample_count; i++)
        json_number(json, NULL, row->series[i]);
    json_end_array(json);
    json_end_object(json);
}

void leak_print_json(const struct leak_report *report)
{
    const struct heap_amount live = leak_tracker_live(report->tracker);
    struct json_output json;
    json_init(&json, stdout);
    json_begin_object(&json, NULL);
    json_text(&json, "trace", report->path);
    json_number(&json, "collections", report->tracker->time_count);
    death_dates_put_json(&report->tracker->heap.deaths, &json);
    json_number(&json, "least_survived", report->limits.survived);
    json_number(&json, "least_age_ns", report->limits.age_ns);
    put_amount(&json, "at_end", &live);
    put_amount(&json, "survived", &report->rows->all);
    put_amount(&json, "suppressed", &report->rows->suppressed);
    json_begin_array(&json, "after_collections");
    for (size_t i = 0; i < report->tracker->sample_count; i++)
        json_number(&json, NULL, report->tracker->samples[i].collection);
    json_end_array(&json);
    json_begin_array(&json, "rows");
    for (size_t i = 0; i < shown(report); i++)
        put_row(&json, report, &report->rows->rows[i]);
    json_end_array(&json);
    if (report->baseline != NULL)
        leak_put_changes(report, &json);
    json_end_object(&json);
    json_finish(&json);
}
