/* SPDX-License-Identifier: Apache-2.0 */
/* Prints statistics as text tables and as JSON. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "converter/base/error_report.h"
#include "converter/base/quantity.h"
#include "converter/base/table_text.h"
#include "converter/numbers/statistics_report.h"

#define CURVE_LINES 24u
#define BAR_WIDTH 40u

static struct quantity time_of(const struct statistics *statistics, double ns)
{
    return statistics->unit == TIME_STEPS ? quantity_of_count((uint64_t) ns) : quantity_of_ns(ns);
}

/* Formats a lifetime in the selected unit. */
static struct quantity lifetime(const struct statistics *statistics, double value)
{
    return statistics->lifetimes_in_bytes ? quantity_of_bytes(value) : time_of(statistics, value);
}

void statistics_print_time(const struct statistics *statistics)
{
    printf("time      %s to %s, %s event%s%s\n",
           time_of(statistics, (double) statistics->first_ns).text,
           time_of(statistics, (double) statistics->last_ns).text,
           quantity_of_count(statistics->event_count).text, plural(statistics->event_count),
           statistics->unit == TIME_STEPS ? " (no clock: steps, and each collection ends one)"
                                          : "");
}

static void print_amount(const char *what, uint64_t objects, uint64_t bytes)
{
    printf("%s%s object%s, %s\n", what, quantity_of_count(objects).text, plural(objects),
           quantity_of_bytes((double) bytes).text);
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
    printf("%s objects/s\n", quantity_of_count((uint64_t) ((double) objects / seconds + 0.5)).text);
}

static void print_objects(const struct statistics *statistics)
{
    const struct object_totals *totals = &statistics->all.objects;
    if ((statistics->not_recorded & TRACE_KIND_BIT(EVENT_OBJECT_ALLOC)) != 0) {
        puts("allocated not recorded (the agent's option events=alloc)");
        return;
    }
    print_amount("allocated ", totals->allocated_objects, totals->allocated_bytes);
    if (totals->existing_objects > 0)
        print_amount("existing  ", totals->existing_objects, totals->existing_bytes);
    else if (statistics->lacks_existing)
        puts("existing  left out (the agent's option existing=yes)");
    if (statistics->deaths.are_missing) {
        puts(STATISTICS_NO_DEATHS);
    } else {
        print_amount("freed     ", totals->freed_objects, totals->freed_bytes);
        print_amount("at end    ", statistics->live_objects, statistics->live_bytes);
        printf("peak      %s object%s, %s, at %s\n",
               quantity_of_count(statistics->peak.objects).text, plural(statistics->peak.objects),
               quantity_of_bytes((double) statistics->peak.bytes).text,
               time_of(statistics, (double) statistics->peak_ns).text);
    }
    print_rate(statistics);
    if (!object_totals_have_sizes(totals) && object_totals_have_objects(totals))
        printf("(the trace has no object sizes)\n");
}

static void print_lifetimes(const struct statistics *statistics)
{
    char deaths[DEATH_DATES_TEXT];
    const struct lifetimes *all = &statistics->all.lifetimes;
    death_dates_print(&statistics->deaths, deaths, sizeof deaths);
    if (*deaths != '\0')
        printf("death times: %s\n", deaths);
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

void statistics_print_thread_name(const struct statistics *statistics, uint32_t id)
{
    const struct trace_thread *thread = trace_thread_of(statistics->names, id);
    printf("%" PRIu64 " ", id == 0 ? 0 : thread->number);
    if (id == 0)
        printf("(the VM, or not known)");
    else
        print_shown(thread->name, stdout);
    putchar('\n');
}

/* Prints "-" for what was not recorded. */
static void print_number(uint64_t number, int width, bool is_recorded)
{
    if (is_recorded)
        printf("%*" PRIu64 " ", width, number);
    else
        printf("%*s ", width, "-");
}

static void print_class(const struct statistics *statistics, uint32_t id)
{
    const struct class_totals *class = id_table_find(&statistics->classes, id);
    const struct object_totals *totals = &class->objects;
    bool has_deaths = !statistics->deaths.are_missing;
    print_number(totals->allocated_objects, 12, true);
    print_number(totals->allocated_bytes, 14, true);
    print_number(totals->freed_objects, 12, has_deaths);
    print_number(totals->freed_bytes, 14, has_deaths);
    print_number(live_objects_of(totals), 10, has_deaths);
    print_number(live_bytes_of(totals), 12, has_deaths);
    if (class->lifetimes.count > 0)
        printf("%10s %10s  ", lifetime(statistics, lifetimes_mean(&class->lifetimes)).text,
               lifetime(statistics, lifetimes_percentile(&class->lifetimes, 0.5)).text);
    else
        printf("%10s %10s  ", "-", "-");
    print_shown(trace_class_of(statistics->names, id)->name, stdout);
    putchar('\n');
}

static const char class_head[] = "\n   allocated          bytes        freed          bytes     at "
                                 "end        bytes  mean life   median <  class\n";

static void print_thread(const struct statistics *statistics, uint32_t id)
{
    bool has_objects = (statistics->not_recorded & TRACE_KIND_BIT(EVENT_OBJECT_ALLOC)) == 0;
    bool has_calls = (statistics->not_recorded & TRACE_KIND_BIT(EVENT_METHOD_ENTRY)) == 0;
    const struct thread_totals *thread = id_table_find(&statistics->threads, id);
    char end[sizeof(struct quantity)] = "-";
    if (thread->has_end)
        strcpy(end, time_of(statistics, (double) thread->end_ns).text);
    print_number(thread->allocated_objects, 12, has_objects);
    print_number(thread->allocated_bytes, 14, has_objects);
    print_number(thread->calls, 12, has_calls);
    printf("%10s %10s  ",
           thread->has_start ? time_of(statistics, (double) thread->start_ns).text : "-", end);
    statistics_print_thread_name(statistics, id);
}

static const char thread_head[] =
    "\n   allocated          bytes        calls      start        end  thread\n";

static void print_method(const struct statistics *statistics, uint32_t id)
{
    const struct method_totals *totals = id_table_find(&statistics->methods, id);
    const struct trace_method *method = trace_method_of(statistics->names, id);
    printf(
        "%12" PRIu64 " %10" PRIu64 " %10s %10s  ", totals->calls, totals->exceptions,
        statistics->unit == TIME_STEPS ? "-" : quantity_of_ns((double) totals->exclusive_ns).text,
        statistics->unit == TIME_STEPS ? "-" : quantity_of_ns((double) totals->inclusive_ns).text);
    print_shown(trace_class_of(statistics->names, method->class_id)->name, stdout);
    putchar('.');
    print_shown(method->name, stdout);
    print_shown(method->descriptor, stdout);
    putchar('\n');
}

static const char method_head[] = "\n       calls exceptions     itself with inner  method\n";

static bool print_methods(const struct statistics_report *report)
{
    const struct statistics *statistics = report->statistics;
    if (!statistics_print_table(report, BY_METHOD, method_head, print_method))
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
static void print_curve(const struct statistics *statistics)
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
    statistics_print_time(statistics);
    if (!statistics_print_table(report, BY_CLASS, class_head, print_class) ||
        !statistics_print_table(report, BY_THREAD, thread_head, print_thread) ||
        !print_methods(report))
        return false;
    print_curve(statistics);
    return true;
}

/* ---- the rows of a statistics table, selected and sorted ---- */

static int compare(const void *left, const void *right)
{
    const struct ranked_id *a = left;
    const struct ranked_id *b = right;
    if (a->key != b->key)
        return a->key > b->key ? -1 : 1;
    if (a->calls != b->calls)
        return a->calls > b->calls ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

static uint64_t sampled_key(enum statistics_order order, const struct sampled_totals *totals)
{
    struct sample_sums live = sampled_totals_live(totals);
    double key = order == ORDER_LIVE    ? live.bytes
                 : order == ORDER_BYTES ? totals->allocated.bytes
                                        : totals->allocated.objects;
    return key < 1e18 ? (uint64_t) key : UINT64_C(1000000000000000000);
}

static bool class_key(const struct statistics_report *report, const void *entry,
                      struct ranked_id *row)
{
    const struct class_totals *class = entry;
    const struct object_totals *totals = &class->objects;
    if (report->statistics->weights.interval_bytes != 0) {
        row->key = sampled_key(report->order, &class->sampled);
        return object_totals_have_objects(totals) || totals->freed_objects > 0;
    }
    bool has_sizes = object_totals_have_sizes(&report->statistics->all.objects);
    if (report->order == ORDER_LIVE)
        row->key = has_sizes ? live_bytes_of(totals) : live_objects_of(totals);
    else if (report->order == ORDER_BYTES && has_sizes)
        row->key = totals->allocated_bytes;
    else
        row->key = totals->allocated_objects;
    return object_totals_have_objects(totals) || totals->freed_objects > 0;
}

/* An estimate of a hostile trace may be more than any number has room for. */
#define BEYOND_ALL 18446744073709551616.0

static bool thread_key(const struct statistics_report *report, const void *entry,
                       struct ranked_id *row)
{
    const struct thread_totals *totals = entry;
    row->key =
        report->order == ORDER_BYTES && object_totals_have_sizes(&report->statistics->all.objects)
            ? totals->allocated_bytes
            : totals->allocated_objects;
    if (report->statistics->weights.interval_bytes != 0)
        row->key =
            totals->sampled.bytes < BEYOND_ALL ? (uint64_t) totals->sampled.bytes : UINT64_MAX;
    if (!object_totals_have_objects(&report->statistics->all.objects))
        row->key = totals->calls;
    return totals->is_used;
}

static bool method_key(const struct statistics_report *report, const void *entry,
                       struct ranked_id *row)
{
    (void) report;
    const struct method_totals *totals = entry;
    row->key = totals->exclusive_ns;
    row->calls = totals->calls;
    return totals->calls > 0;
}

/* The id_table of each axis, and the key of its rows: false, the row is not shown. */
static const struct {
    const char *name;
    size_t table;
    bool (*key_of)(const struct statistics_report *report, const void *entry,
                   struct ranked_id *row);
} axes[] = {
    [BY_CLASS] = {"classes", offsetof(struct statistics, classes), class_key},
    [BY_THREAD] = {"threads", offsetof(struct statistics, threads), thread_key},
    [BY_METHOD] = {"methods", offsetof(struct statistics, methods), method_key},
};

bool statistics_rank(const struct statistics_report *report, enum statistics_axis axis,
                     struct ranking *ranking)
{
    const struct id_table *table =
        (const void *) ((const char *) report->statistics + axes[axis].table);
    const void *entry;
    size_t most = 1;
    for (uint32_t i = 0; id_table_next(table, &i); i++)
        most++;
    *ranking = (struct ranking){.rows = calloc(most, sizeof *ranking->rows)};
    if (ranking->rows == NULL)
        return false;
    for (uint32_t i = 0; (entry = id_table_next(table, &i)) != NULL; i++) {
        struct ranked_id *row = &ranking->rows[ranking->count];
        *row = (struct ranked_id){.id = i};
        ranking->count += axes[axis].key_of(report, entry, row);
    }
    if (ranking->count > 0)
        qsort(ranking->rows, ranking->count, sizeof *ranking->rows, compare);
    ranking->shown = table_shown(report->top, ranking->count);
    return true;
}

bool statistics_print_table(const struct statistics_report *report, enum statistics_axis axis,
                            const char *head,
                            void (*print_line)(const struct statistics *statistics, uint32_t id))
{
    struct ranking ranking;
    if (!statistics_rank(report, axis, &ranking))
        return false;
    if (ranking.count > 0)
        fputs(head, stdout);
    for (size_t i = 0; i < ranking.shown; i++)
        print_line(report->statistics, ranking.rows[i].id);
    table_print_rest(ranking.shown, ranking.count, axes[axis].name);
    free(ranking.rows);
    return true;
}

bool statistics_put_array(const struct statistics_report *report, enum statistics_axis axis,
                          void (*put_members)(struct json_output *json,
                                              const struct statistics *statistics, uint32_t id),
                          struct json_output *json)
{
    struct ranking ranking;
    if (!statistics_rank(report, axis, &ranking))
        return false;
    json_begin_array(json, axes[axis].name);
    for (size_t i = 0; i < ranking.shown; i++) {
        json_begin_object(json, NULL);
        put_members(json, report->statistics, ranking.rows[i].id);
        json_end_object(json);
    }
    json_end_array(json);
    free(ranking.rows);
    return true;
}

/* ---- JSON ---- */

static void put_totals(struct json_output *json, const struct object_totals *totals)
{
    json_number(json, "allocated_objects", totals->allocated_objects);
    json_number(json, "allocated_bytes", totals->allocated_bytes);
    json_number(json, "existing_objects", totals->existing_objects);
    json_number(json, "existing_bytes", totals->existing_bytes);
    json_number(json, "freed_objects", totals->freed_objects);
    json_number(json, "freed_bytes", totals->freed_bytes);
    json_number(json, "live_objects", live_objects_of(totals));
    json_number(json, "live_bytes", live_bytes_of(totals));
}

static void put_lifetimes(struct json_output *json, const struct lifetimes *lifetimes)
{
    if (lifetimes->count == 0)
        return;
    json_begin_object(json, "lifetimes");
    json_number(json, "count", lifetimes->count);
    json_real(json, "mean", lifetimes_mean(lifetimes));
    json_real(json, "p50", lifetimes_percentile(lifetimes, 0.5));
    json_real(json, "p90", lifetimes_percentile(lifetimes, 0.9));
    json_real(json, "p99", lifetimes_percentile(lifetimes, 0.99));
    json_number(json, "most", lifetimes->most);
    json_end_object(json);
}

static void put_summary(struct json_output *json, const struct statistics *statistics)
{
    json_number(json, "events", statistics->event_count);
    json_begin_object(json, "kinds");
    for (unsigned i = 0; i < EVENT_KIND_COUNT; i++)
        json_number(json, step_text_kind_name((enum step_text_kind) i), statistics->kinds[i]);
    json_end_object(json);
    json_number(json, "first_ns", statistics->first_ns);
    json_number(json, "last_ns", statistics->last_ns);
    if (statistics->unit == TIME_STEPS)
        json_bool(json, "clock", false);
    json_text(json, "lifetime_unit",
              statistics->lifetimes_in_bytes   ? "bytes"
              : statistics->unit == TIME_STEPS ? "steps"
                                               : "ns");
    death_dates_put_json(&statistics->deaths, statistics->unit, json);
    json_begin_object(json, "objects");
    if ((statistics->not_recorded & TRACE_KIND_BIT(EVENT_OBJECT_ALLOC)) != 0)
        json_bool(json, "recorded", false);
    put_totals(json, &statistics->all.objects);
    put_lifetimes(json, &statistics->all.lifetimes);
    json_end_object(json);
}

void statistics_put_class_name(struct json_output *json, const struct statistics *statistics,
                               uint32_t id)
{
    json_bytes(json, "name", trace_class_of(statistics->names, id)->name);
    json_number(json, "loader", trace_class_of(statistics->names, id)->loader);
}

void statistics_put_thread_name(struct json_output *json, const struct statistics *statistics,
                                uint32_t id)
{
    const struct trace_thread *names = trace_thread_of(statistics->names, id);
    json_number(json, "thread", id == 0 ? 0 : names->number);
    json_bytes(json, "name", names->name);
}

static void put_class(struct json_output *json, const struct statistics *statistics, uint32_t id)
{
    const struct class_totals *class = id_table_find(&statistics->classes, id);
    statistics_put_class_name(json, statistics, id);
    put_totals(json, &class->objects);
    put_lifetimes(json, &class->lifetimes);
}

static void put_thread(struct json_output *json, const struct statistics *statistics, uint32_t id)
{
    const struct thread_totals *thread = id_table_find(&statistics->threads, id);
    const struct trace_thread *names = trace_thread_of(statistics->names, id);
    statistics_put_thread_name(json, statistics, id);
    json_bool(json, "daemon", (names->flags & TRACE_THREAD_DAEMON) != 0);
    json_bool(json, "virtual", (names->flags & TRACE_THREAD_VIRTUAL) != 0);
    if (thread->has_start)
        json_number(json, "start_ns", thread->start_ns);
    if (thread->has_end)
        json_number(json, "end_ns", thread->end_ns);
    json_number(json, "allocated_objects", thread->allocated_objects);
    json_number(json, "allocated_bytes", thread->allocated_bytes);
    json_number(json, "calls", thread->calls);
}

static void put_method(struct json_output *json, const struct statistics *statistics, uint32_t id)
{
    const struct method_totals *totals = id_table_find(&statistics->methods, id);
    const struct trace_method *method = trace_method_of(statistics->names, id);
    json_bytes(json, "class", trace_class_of(statistics->names, method->class_id)->name);
    json_bytes(json, "method", method->name);
    json_bytes(json, "descriptor", method->descriptor);
    json_number(json, "calls", totals->calls);
    json_number(json, "exceptions", totals->exceptions);
    if (statistics->unit == TIME_STEPS)
        return;
    json_number(json, "exclusive_ns", totals->exclusive_ns);
    json_number(json, "inclusive_ns", totals->inclusive_ns);
}

static bool put_methods(struct json_output *json, const struct statistics_report *report)
{
    if (!statistics_put_array(report, BY_METHOD, put_method, json))
        return false;
    json_number(json, "unmatched_exits", report->statistics->unmatched_exits);
    json_number(json, "open_calls", report->statistics->open_calls);
    json_number(json, "not_probed", report->statistics->not_probed);
    return true;
}

static void put_curve(struct json_output *json, const struct statistics *statistics)
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
    struct json_output json;
    json_open(&json, out);
    json_text(&json, "trace", report->path);
    if (report->put_more != NULL)
        report->put_more(report->user, &json);
    put_summary(&json, report->statistics);
    bool ok = statistics_put_array(report, BY_CLASS, put_class, &json) &&
              statistics_put_array(report, BY_THREAD, put_thread, &json) &&
              put_methods(&json, report);
    put_curve(&json, report->statistics);
    json_close(&json);
    return ok;
}
