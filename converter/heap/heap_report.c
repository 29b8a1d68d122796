/* SPDX-License-Identifier: Apache-2.0 */
/* Prints moments as text and as JSON. */
#include "converter/heap/heap_report.h"

#include <inttypes.h>
#include <stdio.h>

#include "converter/base/estimate_text.h"
#include "converter/base/quantity.h"

void heap_ages_add(struct heap_ages *ages, uint64_t bytes, uint64_t age_us)
{
    struct heap_amount *bucket = &ages->buckets[age_us == 0 ? 0 : 64 - __builtin_clzll(age_us)];
    bucket->objects++;
    bucket->bytes += bytes;
    bucket->ages_us += age_us;
}

void heap_print_ages(const struct heap_report *report, const struct heap_snapshot *snapshot,
                     const struct heap_ages *ages)
{
    heap_report_put_head(report, snapshot);
    printf("\n%12s %14s %6s  age\n", "objects", "bytes", "%");
    for (unsigned i = 0; i < HEAP_AGES; i++) {
        const struct heap_amount *bucket = &ages->buckets[i];
        if (bucket->objects == 0)
            continue;
        double from_us = i == 0 ? 0 : (double) (UINT64_C(1) << (i - 1));
        printf("%12" PRIu64 " %14" PRIu64 " %6.1f  %s to %s\n", bucket->objects, bucket->bytes,
               heap_report_share(bucket->bytes, snapshot->live.bytes),
               quantity_of_ns(1000 * from_us).text,
               quantity_of_ns(i == 0 ? 1000 : 2000 * from_us).text);
    }
}

#define MOMENT_TEXT 48u

double heap_report_share(uint64_t part, uint64_t whole)
{
    return whole > 0 ? 100.0 * (double) part / (double) whole : 0.0;
}

/* With exact deaths, the live objects are those that were reachable. */
static void put_deaths(const struct heap_snapshot *snapshot)
{
    char deaths[DEATH_DATES_TEXT];
    death_dates_print(&snapshot->deaths, deaths, sizeof deaths);
    if (death_dates_are_exact(&snapshot->deaths))
        printf("%-9s %s\n", "deaths", deaths);
}

static const struct sample_sums *sums_of(const struct heap_report *report,
                                         const struct heap_snapshot *snapshot)
{
    return report->allocated ? &snapshot->all_samples.allocated : &snapshot->all_samples.live;
}

static void put_samples(const struct heap_report *report, const struct heap_snapshot *snapshot)
{
    const struct sample_sums *sums = sums_of(report, snapshot);
    printf("%-9s ", "sampled");
    estimate_print_source(sums->samples, snapshot->sample_interval_bytes);
    printf("\n%-9s ", report->allocated ? "allocated" : "live");
    estimate_print_amount(sums);
    putchar('\n');
}

void heap_report_put_head(const struct heap_report *report, const struct heap_snapshot *snapshot)
{
    char moment[MOMENT_TEXT];
    heap_moment_print(&snapshot->moment, moment, sizeof moment);
    const struct heap_amount *all = heap_report_total(report, snapshot);
    printf("%-9s %s", "moment", moment);
    if (snapshot->moment.kind != HEAP_AT_TIME)
        printf(", %s", quantity_of_ns((double) snapshot->time_ns).text);
    printf(report->is_import ? ", dump %" PRIu64 : ", %" PRIu64 " collection%s before",
           snapshot->collections, plural(snapshot->collections));
    puts(snapshot->samples != NULL ? " (that freed samples)" : "");
    put_deaths(snapshot);
    if (snapshot->samples != NULL) {
        put_samples(report, snapshot);
        return;
    }
    printf("%-9s %s object%s, %s\n", report->allocated ? "allocated" : "live",
           quantity_of_count(all->objects).text, plural(all->objects),
           quantity_of_bytes((double) all->bytes).text);
    if (!snapshot->has_sizes)
        printf("(the trace has no object sizes)\n");
}

void heap_report_begin_json(const struct heap_report *report, struct json_output *json)
{
    json_init(json, stdout);
    json_begin_object(json, NULL);
    json_text(json, "trace", report->path);
    json_text(json, "what", report->allocated ? "allocated" : "live");
}

static void put_moment_samples(const struct heap_snapshot *snapshot, struct json_output *json)
{
    const struct heap_samples *samples = &snapshot->all_samples;
    json_bool(json, "estimated", true);
    json_number(json, "sample_interval_bytes", snapshot->sample_interval_bytes);
    json_number(json, "live_samples", samples->live.samples);
    estimate_put_members(json, "live_objects", estimate_objects(&samples->live));
    estimate_put_members(json, "live_bytes", estimate_bytes(&samples->live));
    json_number(json, "allocated_samples", samples->allocated.samples);
    estimate_put_members(json, "allocated_objects", estimate_objects(&samples->allocated));
    estimate_put_members(json, "allocated_bytes", estimate_bytes(&samples->allocated));
}

void heap_report_put_moment(const struct heap_snapshot *snapshot, const char *key,
                            struct json_output *json)
{
    char moment[MOMENT_TEXT];
    heap_moment_print(&snapshot->moment, moment, sizeof moment);
    json_begin_object(json, key);
    json_text(json, "at", moment);
    json_number(json, "time_ns", snapshot->time_ns);
    json_number(json, "collections", snapshot->collections);
    death_dates_put_json(&snapshot->deaths, json);
    if (snapshot->samples != NULL) {
        put_moment_samples(snapshot, json);
        json_end_object(json);
        return;
    }
    json_number(json, "live_objects", snapshot->live.objects);
    json_number(json, "live_bytes", snapshot->live.bytes);
    json_number(json, "allocated_objects", snapshot->allocated.objects);
    json_number(json, "allocated_bytes", snapshot->allocated.bytes);
    json_end_object(json);
}
