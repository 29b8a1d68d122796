/* SPDX-License-Identifier: Apache-2.0 */
/* Prints statistics as text and as JSON.  What a sample cannot tell, such as the peak, is left out
 * of those of a sampled trace. */
#include <inttypes.h>
#include <math.h>

#include "converter/files/sampled_trace.h"
#include "converter/numbers/amount.h"
#include "converter/numbers/quantity.h"
#include "converter/statistics/statistics_report.h"

#define CURVE_LINES 24u
#define BAR_WIDTH 40u

static bool is_sampled(const struct statistics *statistics)
{
    return statistics->weights.interval_bytes != 0;
}

/* As events, or as totals of classes. */
static bool has_allocations(const struct statistics *statistics)
{
    return (statistics->not_recorded & TRACE_KIND_BIT(EVENT_OBJECT_ALLOC)) == 0 ||
           statistics->eden.walks > 0;
}

static struct quantity time_of(const struct statistics *statistics, double ns)
{
    return statistics->unit == TIME_STEPS ? quantity_of_count((uint64_t) ns) : quantity_of_ns(ns);
}

/* Formats a lifetime in the selected unit. */
static struct quantity lifetime(const struct statistics *statistics, double value)
{
    return statistics->lifetimes_in_bytes ? quantity_of_bytes(value)
                                          : quantity_of_time(value, statistics->unit);
}

static void print_time(const struct statistics *statistics)
{
    printf("time      %s to %s, %s event%s%s\n",
           time_of(statistics, (double) statistics->first_ns).text,
           time_of(statistics, (double) statistics->last_ns).text,
           quantity_of_count(statistics->event_count).text, plural(statistics->event_count),
           statistics->unit == TIME_STEPS ? " (no clock: steps, and each collection ends one)"
                                          : "");
    if (statistics->stamp_events != 0)
        printf(
            "          times are interpolated: a thread's clock was read once in %s events;\n"
            "          calls of fewer events have equal shares of the time, whatever they took\n",
            quantity_of_count(statistics->stamp_events).text);
}

/* Prints a number of objects and of their bytes; of a sampled trace, what samples stand for. */
static void stats_report_print_amount(const struct statistics *statistics, const char *what,
                                      uint64_t objects, uint64_t bytes,
                                      const struct sample_sums *samples)
{
    char text[AMOUNT_PAIR_TEXT];
    if (!is_sampled(statistics))
        samples = NULL;
    const struct amount of_objects = amount_of_objects(objects, samples),
                        of_bytes = amount_of_bytes(bytes, samples);
    amount_pair_text(&of_objects, &of_bytes, text);
    printf("%s%s", what, text);
}

static void print_existing(const struct statistics *statistics)
{
    const struct object_totals *totals = &statistics->all.objects;
    if (is_sampled(statistics))
        return;
    if (totals->existing_objects > 0) {
        stats_report_print_amount(statistics, "existing  ", totals->existing_objects,
                                  totals->existing_bytes, NULL);
        putchar('\n');
    } else if (statistics->lacks_existing)
        puts("existing  left out (the agent's option existing=yes)");
}

static void print_dead_and_live(const struct statistics *statistics)
{
    const struct object_totals *totals = &statistics->all.objects;
    const struct sample_sums live = sampled_totals_live(&statistics->all.sampled);
    if (statistics->deaths.are_missing) {
        puts("freed     not recorded (the agent's option events=free): all objects count as alive");
        return;
    }
    stats_report_print_amount(statistics, "freed     ", totals->freed_objects, totals->freed_bytes,
                              &statistics->all.sampled.freed);
    stats_report_print_amount(statistics, "\nat end    ", statistics->live_objects,
                              statistics->live_bytes, &live);
    putchar('\n');
    if (is_sampled(statistics))
        return;
    stats_report_print_amount(statistics, "peak      ", statistics->peak.objects,
                              statistics->peak.bytes, NULL);
    printf(", at %s\n", time_of(statistics, (double) statistics->peak_ns).text);
}

/* Of what was allocated while the trace was recorded. */
static void print_rate(const struct statistics *statistics)
{
    const struct object_totals *totals = &statistics->all.objects;
    double seconds = (double) statistics_running_ns(statistics) / 1e9;
    uint64_t objects = totals->allocated_objects;
    if (statistics->unit == TIME_STEPS || seconds <= 0 || objects == 0)
        return;
    double bytes = (double) totals->allocated_bytes;
    printf("rate      ");
    if (bytes > 0)
        printf("%s/s, ", quantity_of_bytes(bytes / seconds).text);
    printf("%s objects/s\n", quantity_of_count(estimate_whole((double) objects / seconds)).text);
}

/* Says how much of the totals has no class. */
static void print_eden(const struct statistics *statistics)
{
    const struct eden_totals *eden = &statistics->eden;
    if (eden->not_known > 0 && eden->walks > 0)
        printf("unknown   %s of that is of no known class\n",
               quantity_of_bytes((double) eden->not_known).text);
    if (eden->not_seen > 0)
        printf("left out  %" PRIu64 " of %" PRIu64 " collections (%s): objects and classes are "
               "partial\n",
               eden->not_seen, eden->walks, eden_totals_why(eden));
    if (eden->readings > 0 && statistics->weights.totals != NULL)
        printf("counted   %s of all classes together, by the JVM's counters of its threads\n",
               quantity_of_bytes((double) eden->bytes).text);
}

static void print_survivors(const struct statistics *statistics)
{
    const struct survivor_totals *totals = &statistics->all.survivors;
    if (totals->of_objects == 0)
        return;
    stats_report_print_amount(statistics, "survived  ", totals->objects, totals->bytes, NULL);
    stats_report_print_amount(statistics, " of ", totals->of_objects, totals->of_bytes, NULL);
    puts(" of which it is known");
}

static void print_objects(const struct statistics *statistics)
{
    const struct object_totals *totals = &statistics->all.objects;
    const struct sample_sums *samples = &statistics->all.sampled.allocated;
    if (!has_allocations(statistics)) {
        puts("allocated not recorded (the agent's option events=alloc)");
        return;
    }
    if (is_sampled(statistics)) {
        printf("sampled   ");
        estimate_print_source(samples->samples, statistics->weights.sampling);
        putchar('\n');
    }
    stats_report_print_amount(statistics, "allocated ", totals->allocated_objects,
                              totals->allocated_bytes, samples);
    putchar('\n');
    print_eden(statistics);
    print_survivors(statistics);
    print_existing(statistics);
    if (statistics->eden.walks == 0 || is_sampled(statistics))
        print_dead_and_live(statistics);
    if (is_sampled(statistics))
        return;
    print_rate(statistics);
    if (!object_totals_have_sizes(totals) && object_totals_have_objects(totals))
        printf("(the trace has no object sizes)\n");
}

/* Samples have a mean of lifetimes, and no distribution. */
static void print_lifetime_of_samples(const struct statistics *statistics)
{
    const struct sample_lives *lives = &statistics->all.sampled.lives;
    const struct estimate life = estimate_life(lives);
    if (lives->samples > 0 && isinf(life.high))
        printf("lifetime  mean %s (of too few samples for a range)\n",
               lifetime(statistics, life.value).text);
    else if (lives->samples > 0)
        printf("lifetime  mean %s (%s to %s)\n", lifetime(statistics, life.value).text,
               lifetime(statistics, life.low).text, lifetime(statistics, life.high).text);
}

static void print_lifetimes(const struct statistics *statistics)
{
    char deaths[DEATH_DATES_TEXT];
    const struct lifetimes *all = &statistics->all.lifetimes;
    death_dates_print(&statistics->deaths, deaths, sizeof deaths);
    if (*deaths != '\0')
        printf("death times: %s\n", deaths);
    if (is_sampled(statistics)) {
        print_lifetime_of_samples(statistics);
        return;
    }
    if (all->count == 0)
        return;
    printf("lifetime  mean %s, median < %s, 90 %% < %s, 99 %% < %s, max %s%s\n",
           lifetime(statistics, lifetimes_mean(all)).text,
           lifetime(statistics, lifetimes_percentile(all, 0.5)).text,
           lifetime(statistics, lifetimes_percentile(all, 0.9)).text,
           lifetime(statistics, lifetimes_percentile(all, 0.99)).text,
           lifetime(statistics, (double) all->most).text,
           statistics->lifetimes_in_bytes ? " (allocated meanwhile)" : "");
}

static bool print_methods(const struct statistics_report *report)
{
    const struct statistics *statistics = report->statistics;
    if (!statistics_print_table(report, AXIS_METHOD))
        return false;
    if (statistics->unmatched_exits > 0)
        printf("  %" PRIu64 " exits of calls whose entry the trace does not have\n",
               statistics->unmatched_exits);
    if (statistics->open_calls > 0)
        printf("  %" PRIu64 " calls were open at the end\n", statistics->open_calls);
    if (statistics->not_probed > 0)
        printf("\n%" PRIu64 " methods or classes could not be traced (steptrace info names them)\n",
               statistics->not_probed);
    return true;
}

static void print_bar(double share)
{
    unsigned width = (unsigned) (share * BAR_WIDTH + 0.5);
    for (unsigned i = 0; i < width; i++)
        putchar('#');
    putchar('\n');
}

/* Prints the curve in a few lines: each has the maximum within its steps, and the live amount at
 * their end. */
static void stats_report_print_curve(const struct statistics *statistics)
{
    const struct level_curve *curve = &statistics->curve;
    bool by_bytes = statistics->peak.bytes > 0;
    if (!object_totals_have_objects(&statistics->all.objects) || !by_bytes)
        return;
    size_t steps = (curve->count + CURVE_LINES - 1) / CURVE_LINES;
    printf("\n%10s %12s %12s %12s\n", "until", "most bytes", "then bytes", "objects");
    for (size_t first = 0; first < curve->count; first += steps) {
        size_t end = first + steps < curve->count ? first + steps : curve->count;
        uint64_t most = 0;
        for (size_t i = first; i < end; i++)
            most = curve->steps[i].most_bytes > most ? curve->steps[i].most_bytes : most;
        double until = (double) end * (double) curve->step_ns;
        printf("%10s %12s %12s %12" PRIu64 " ",
               time_of(statistics,
                       until < (double) statistics->last_ns ? until : (double) statistics->last_ns)
                   .text,
               quantity_of_bytes((double) most).text,
               quantity_of_bytes((double) curve->steps[end - 1].last_bytes).text,
               curve->steps[end - 1].last_objects);
        print_bar((double) most / (double) statistics->peak.bytes);
    }
}

bool statistics_print_text(const struct statistics_report *report)
{
    const struct statistics *statistics = report->statistics;
    print_objects(statistics);
    print_lifetimes(statistics);
    print_time(statistics);
    if (!statistics_print_table(report, AXIS_CLASS) || !statistics_print_table(report, AXIS_THREAD))
        return false;
    if (is_sampled(statistics))
        return true;
    if (!print_methods(report))
        return false;
    stats_report_print_curve(statistics);
    return true;
}

/* ---- JSON ---- */

static void put_kinds(struct json_output *json, const struct statistics *statistics)
{
    json_begin_object(json, "kinds");
    for (unsigned i = 0; i < EVENT_KIND_COUNT; i++)
        json_number(json, step_text_kind_name((enum step_text_kind) i), statistics->kinds[i]);
    json_end_object(json);
}

static void put_units(struct json_output *json, const struct statistics *statistics)
{
    if (statistics->unit == TIME_STEPS)
        json_bool(json, "clock", false);
    if (statistics->stamp_events != 0)
        json_number(json, "stamp_events", statistics->stamp_events);
    json_text(json, "lifetime_unit",
              statistics->lifetimes_in_bytes   ? "bytes"
              : statistics->unit == TIME_STEPS ? "steps"
                                               : "ns");
}

static void put_eden(struct json_output *json, const struct eden_totals *eden)
{
    if (eden->walks + eden->readings == 0)
        return;
    json_begin_object(json, "eden");
    json_number(json, "walks", eden->walks);
    json_number(json, "left_out", eden->not_seen);
    json_number(json, "counted_bytes", eden->bytes);
    json_number(json, "unknown_bytes", eden->not_known);
    json_end_object(json);
}

static void stats_report_put_summary(struct json_output *json, const struct statistics *statistics)
{
    json_number(json, "events", statistics->event_count);
    if (!is_sampled(statistics))
        put_kinds(json, statistics);
    json_number(json, "first_ns", statistics->first_ns);
    json_number(json, "last_ns", statistics->last_ns);
    if (!is_sampled(statistics))
        put_units(json, statistics);
    death_dates_put_json(&statistics->deaths, statistics->unit, json);
    json_begin_object(json, "objects");
    if (!has_allocations(statistics))
        json_bool(json, "recorded", false);
    statistics_put_totals(statistics, json);
    json_end_object(json);
    put_eden(json, &statistics->eden);
}

static bool stats_report_put_methods(struct json_output *json,
                                     const struct statistics_report *report)
{
    if (!statistics_put_table(report, AXIS_METHOD, json))
        return false;
    json_number(json, "unmatched_exits", report->statistics->unmatched_exits);
    json_number(json, "open_calls", report->statistics->open_calls);
    json_number(json, "not_probed", report->statistics->not_probed);
    return true;
}

static void stats_report_put_curve(struct json_output *json, const struct statistics *statistics)
{
    const struct level_curve *curve = &statistics->curve;
    json_begin_object(json, "live");
    json_number(json, "end_bytes", statistics->live_bytes);
    json_number(json, "end_objects", statistics->live_objects);
    json_number(json, "peak_bytes", statistics->peak.bytes);
    json_number(json, "peak_objects", statistics->peak.objects);
    json_number(json, "peak_ns", statistics->peak_ns);
    json_number(json, "step_ns", curve->step_ns);
    json_begin_array(json, "steps");
    for (size_t i = 0; i < curve->count; i++) {
        json_begin_object(json, NULL);
        json_number(json, "most_bytes", curve->steps[i].most_bytes);
        json_number(json, "bytes", curve->steps[i].last_bytes);
        json_number(json, "objects", curve->steps[i].last_objects);
        json_end_object(json);
    }
    json_end_array(json);
    json_end_object(json);
}

bool statistics_print_json(const struct statistics_report *report, FILE *out)
{
    const struct statistics *statistics = report->statistics;
    struct json_output json;
    json_open(&json, out);
    json_text(&json, "trace", report->path);
    if (is_sampled(statistics))
        sampled_trace_put_json(&json, report->path, statistics->weights.interval_bytes);
    if (report->put_more != NULL)
        report->put_more(report->user, &json);
    stats_report_put_summary(&json, statistics);
    bool ok = statistics_put_table(report, AXIS_CLASS, &json) &&
              statistics_put_table(report, AXIS_THREAD, &json);
    if (!is_sampled(statistics)) {
        ok = ok && stats_report_put_methods(&json, report);
        stats_report_put_curve(&json, statistics);
    }
    json_close(&json);
    return ok;
}
