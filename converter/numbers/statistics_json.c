/* SPDX-License-Identifier: Apache-2.0 */
/* Writes statistics as JSON. */

#include "converter/numbers/statistics_report.h"
#include "format/json/json_output.h"

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
    json_text(json, "lifetime_unit", statistics->lifetimes_in_bytes ? "bytes" : "ns");
    death_dates_put_json(&statistics->deaths, json);
    json_begin_object(json, "objects");
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
    put_summary(&json, report->statistics);
    bool ok = statistics_put_array(report, BY_CLASS, put_class, &json) &&
              statistics_put_array(report, BY_THREAD, put_thread, &json) &&
              put_methods(&json, report);
    put_curve(&json, report->statistics);
    json_close(&json);
    return ok;
}
