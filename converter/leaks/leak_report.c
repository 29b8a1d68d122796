/* SPDX-License-Identifier: Apache-2.0 */
/* A table with the growth drawn in each line. */
#include "converter/leaks/leak_report.h"

#include <inttypes.h>
#include <stdio.h>

#include "converter/base/error_report.h"
#include "converter/base/quantity.h"
#include "format/json/json_output.h"

#define DRAWN 16u /* characters of a curve */

static size_t shown(const struct leak_report *report)
{
    size_t count = report->rows->count;
    return report->top != 0 && report->top < count ? (size_t) report->top : count;
}

static void print_amount(const char *what, const struct heap_amount *amount)
{
    printf("%-10s%s objects, %s", what, quantity_of_count(amount->objects).text,
           quantity_of_bytes((double) amount->bytes).text);
}

static void print_head(const struct leak_report *report)
{
    char deaths[DEATH_DATES_TEXT];
    const struct heap_sums *all = &report->tracker->heap.cells.all;
    print_amount("at end", &(struct heap_amount){all->objects, all->bytes, 0});
    printf(", after %zu collections\n", report->tracker->time_count);
    death_dates_print(&report->tracker->heap.deaths, deaths, sizeof deaths);
    if (death_dates_are_exact(&report->tracker->heap.deaths))
        printf("%-10s%s\n", "deaths", deaths);
    print_amount("survived", &report->rows->all);
    printf(" that saw at least %" PRIu64 " collections", report->limits.survived);
    if (report->limits.age_ns > 0)
        printf(" and %s", quantity_of_ns((double) report->limits.age_ns).text);
    putchar('\n');
    if (report->rows->suppressed.objects > 0) {
        print_amount("of these", &report->rows->suppressed);
        printf(" are suppressed\n");
    }
    if (report->tracker->sample_count < 3)
        printf("(growth is not told: that takes three collections)\n");
}

/* Levels of what lived after collections, the last at the right. */
static void print_curve(const struct leak_report *report, const struct leak_row *row)
{
    static const char levels[] = " .:-=+*#";
    size_t count = report->tracker->sample_count;
    size_t drawn = count < DRAWN ? count : DRAWN;
    uint64_t most = 1;
    for (size_t i = 0; i < count; i++)
        most = row->series[i] > most ? row->series[i] : most;
    putchar('|');
    for (size_t i = 0; i < drawn; i++) {
        uint64_t value = row->series[i * count / drawn + (count / drawn - 1)];
        putchar(levels[value == 0 ? 0 : 1 + (size_t) ((double) value / (double) most * 6)]);
    }
    printf("%*s|", (int) (DRAWN - drawn), "");
}

static void print_site(const struct leak_report *report, uint32_t site)
{
    const struct heap_sites *sites = &report->tracker->heap.sites;
    char text[HEAP_SITE_TEXT];
    uint64_t depth = 0;
    do {
        if (report->depth != 0 && depth == report->depth) {
            printf(" <- ...");
            return;
        }
        heap_site_print(sites, site, text, sizeof text);
        printf("%s", depth++ > 0 ? " <- " : "");
        print_shown_text(text, stdout);
        site = sites->items[site].parent;
    } while (site != 0);
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
        print_site(report, row->key.site);
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
    if (shown(report) < report->rows->count)
        printf("  ... and %zu more (--top=0 shows all)\n", report->rows->count - shown(report));
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
    char text[HEAP_SITE_TEXT];
    json_begin_object(json, NULL);
    json_number(json, "objects", row->old.objects);
    json_number(json, "bytes", row->old.bytes);
    json_real(json, "mean_age_ns", mean_age_ns(row));
    json_real(json, "growth_bytes_per_collection", row->slope);
    json_real(json, "fit", row->fit);
    if ((report->axes & HEAP_BY_CLASS) != 0)
        json_bytes(json, "class", trace_class_of(sites->names, row->key.class_id)->name);
    if ((report->axes & HEAP_BY_SITE) != 0) {
        json_begin_array(json, "site");
        for (uint32_t at = row->key.site; at != 0; at = sites->items[at].parent) {
            heap_site_print(sites, at, text, sizeof text);
            json_text(json, NULL, text);
        }
        json_end_array(json);
    }
    json_begin_array(json, "live");
    for (size_t i = 0; i < report->tracker->sample_count; i++)
        json_number(json, NULL, row->series[i]);
    json_end_array(json);
    json_end_object(json);
}

void leak_print_json(const struct leak_report *report)
{
    const struct heap_sums *all = &report->tracker->heap.cells.all;
    struct json_output json;
    json_init(&json, stdout);
    json_begin_object(&json, NULL);
    json_text(&json, "trace", report->path);
    json_number(&json, "collections", report->tracker->time_count);
    death_dates_put_json(&report->tracker->heap.deaths, &json);
    json_number(&json, "least_survived", report->limits.survived);
    json_number(&json, "least_age_ns", report->limits.age_ns);
    put_amount(&json, "at_end", &(struct heap_amount){all->objects, all->bytes, 0});
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
