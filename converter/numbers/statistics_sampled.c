/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the statistics of a sampled trace: estimates of all objects, with 95 % confidence
 * intervals.  What a sample cannot tell, such as the peak, is left out. */
#include <inttypes.h>

#include "converter/base/error_report.h"
#include "converter/base/estimate_text.h"
#include "converter/base/quantity.h"
#include "converter/base/sampled_trace.h"
#include "converter/numbers/statistics_report.h"

static void print_amount(const char *what, const struct sample_sums *sums)
{
    printf("%s", what);
    estimate_print_amount(sums);
    putchar('\n');
}

static void print_summary(const struct statistics *statistics)
{
    const struct sampled_totals *totals = &statistics->all.sampled;
    struct sample_sums live = sampled_totals_live(totals);
    printf("sampled   ");
    estimate_print_source(totals->allocated.samples, statistics->weights.sampling);
    putchar('\n');
    print_amount("allocated ", &totals->allocated);
    if (statistics->deaths.are_missing) {
        puts(STATISTICS_NO_DEATHS);
    } else {
        print_amount("freed     ", &totals->freed);
        print_amount("at end    ", &live);
    }
    char deaths[DEATH_DATES_TEXT];
    death_dates_print(&statistics->deaths, deaths, sizeof deaths);
    if (*deaths != '\0')
        printf("death times: %s\n", deaths);
    if (totals->lives.samples > 0) {
        struct estimate life = estimate_life(&totals->lives);
        printf("lifetime  mean %s (%s to %s)\n",
               quantity_of_time(life.value, statistics->unit).text,
               quantity_of_time(life.low, statistics->unit).text,
               quantity_of_time(life.high, statistics->unit).text);
    }
}

static void print_count(uint64_t samples, double value)
{
    if (samples == 0)
        printf(" %12s", "-");
    else
        printf(" %12" PRIu64, estimate_whole(value));
}

static struct sampled_totals totals_of_class(const struct statistics *statistics,
                                             const struct class_totals *class, uint32_t id)
{
    struct step_bytes name = trace_class_of(statistics->names, id)->name;
    struct sampled_totals totals = class->sampled;
    totals.allocated = sample_sums_of_class(totals.allocated, name);
    totals.freed = sample_sums_of_class(totals.freed, name);
    totals.live = sample_sums_of_class(totals.live, name);
    return totals;
}

static void print_class(const struct statistics *statistics, uint32_t id)
{
    const struct class_totals *class = id_table_find(&statistics->classes, id);
    const struct sampled_totals of_class = totals_of_class(statistics, class, id);
    const struct sampled_totals *totals = &of_class;
    struct sample_sums live = sampled_totals_live(totals);
    printf("%8" PRIu64, totals->allocated.samples);
    estimate_print(estimate_objects(&totals->allocated));
    estimate_print(estimate_bytes(&totals->allocated));
    print_count(totals->freed.samples, totals->freed.objects);
    print_count(statistics->deaths.are_missing ? 0 : live.samples, live.objects);
    printf(" %10s  ",
           totals->lives.samples > 0
               ? quantity_of_time(estimate_life(&totals->lives).value, statistics->unit).text
               : "-");
    print_shown(trace_class_of(statistics->names, id)->name, stdout);
    putchar('\n');
}

#define CLASS_HEAD                                                                                 \
    "\n samples    allocated (%s)                           bytes (%s)                         "   \
    "  freed       at end  mean life  class\n"

static void print_thread(const struct statistics *statistics, uint32_t id)
{
    const struct thread_totals *thread = id_table_find(&statistics->threads, id);
    printf("%8" PRIu64, thread->sampled.samples);
    estimate_print(estimate_objects(&thread->sampled));
    estimate_print(estimate_bytes(&thread->sampled));
    printf("  ");
    statistics_print_thread_name(statistics, id);
}

#define THREAD_HEAD                                                                                \
    "\n samples    allocated (%s)                           bytes (%s)                     "       \
    "thread\n"

bool statistics_print_sampled(const struct statistics_report *report)
{
    char classes[sizeof CLASS_HEAD + 8], threads[sizeof THREAD_HEAD + 8];
    const char *level = estimate_level(report->statistics->weights.sampling->is_biased);
    snprintf(classes, sizeof classes, CLASS_HEAD, level, level);
    snprintf(threads, sizeof threads, THREAD_HEAD, level, level);
    print_summary(report->statistics);
    statistics_print_time(report->statistics);
    return statistics_print_table(report, BY_CLASS, classes, print_class) &&
           statistics_print_table(report, BY_THREAD, threads, print_thread);
}

static void put_totals(struct json_output *json, const struct sampled_totals *totals)
{
    struct sample_sums live = sampled_totals_live(totals);
    json_number(json, "samples", totals->allocated.samples);
    estimate_put_json(json, "allocated_objects", estimate_objects(&totals->allocated));
    estimate_put_json(json, "allocated_bytes", estimate_bytes(&totals->allocated));
    json_number(json, "freed_samples", totals->freed.samples);
    estimate_put_json(json, "freed_objects", estimate_objects(&totals->freed));
    estimate_put_json(json, "freed_bytes", estimate_bytes(&totals->freed));
    estimate_put_json(json, "live_objects", estimate_objects(&live));
    estimate_put_json(json, "live_bytes", estimate_bytes(&live));
    if (totals->lives.samples > 0)
        estimate_put_json(json, "mean_lifetime_ns", estimate_life(&totals->lives));
}

static void put_class(struct json_output *json, const struct statistics *statistics, uint32_t id)
{
    const struct class_totals *class = id_table_find(&statistics->classes, id);
    const struct sampled_totals totals = totals_of_class(statistics, class, id);
    statistics_put_class_name(json, statistics, id);
    put_totals(json, &totals);
}

static void put_thread(struct json_output *json, const struct statistics *statistics, uint32_t id)
{
    const struct thread_totals *thread = id_table_find(&statistics->threads, id);
    statistics_put_thread_name(json, statistics, id);
    json_number(json, "samples", thread->sampled.samples);
    estimate_put_json(json, "allocated_objects", estimate_objects(&thread->sampled));
    estimate_put_json(json, "allocated_bytes", estimate_bytes(&thread->sampled));
}

bool statistics_print_sampled_json(const struct statistics_report *report, FILE *out)
{
    const struct statistics *statistics = report->statistics;
    struct json_output json;
    json_open(&json, out);
    json_text(&json, "trace", report->path);
    sampled_trace_put_json(&json, report->path, statistics->weights.interval_bytes);
    json_number(&json, "events", statistics->event_count);
    json_number(&json, "first_ns", statistics->first_ns);
    json_number(&json, "last_ns", statistics->last_ns);
    death_dates_put_json(&statistics->deaths, statistics->unit, &json);
    json_begin_object(&json, "objects");
    put_totals(&json, &statistics->all.sampled);
    json_end_object(&json);
    bool ok = statistics_put_array(report, BY_CLASS, put_class, &json) &&
              statistics_put_array(report, BY_THREAD, put_thread, &json);
    json_close(&json);
    return ok;
}
