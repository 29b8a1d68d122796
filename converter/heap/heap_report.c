/* SPDX-License-Identifier: Apache-2.0 */
/* Prints moments as text and as JSON. */
#include "converter/heap/heap_report.h"

#include <inttypes.h>
#include <stdio.h>

#include "converter/base/quantity.h"

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

void heap_report_put_head(const struct heap_report *report, const struct heap_snapshot *snapshot)
{
    char moment[MOMENT_TEXT];
    heap_moment_print(&snapshot->moment, moment, sizeof moment);
    const struct heap_amount *all = heap_report_total(report, snapshot);
    printf("%-9s %s", "moment", moment);
    if (snapshot->moment.kind != HEAP_AT_TIME)
        printf(", %s", quantity_of_ns((double) snapshot->time_ns).text);
    printf(report->is_import ? ", dump %" PRIu64 "\n" : ", %" PRIu64 " collection%s before\n",
           snapshot->collections, plural(snapshot->collections));
    put_deaths(snapshot);
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
    json_number(json, "live_objects", snapshot->live.objects);
    json_number(json, "live_bytes", snapshot->live.bytes);
    json_number(json, "allocated_objects", snapshot->allocated.objects);
    json_number(json, "allocated_bytes", snapshot->allocated.bytes);
    json_end_object(json);
}
