/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes method events as Chrome trace events (docs/formats/chrome-trace.md): `B` and `E` for each
 * call, names of threads, an instant event for each collection, and the live bytes as a counter.
 */
#include "converter/containers/no_memory.h"
#include "converter/containers/object_table.h"
#include "converter/trace/call_events.h"
#include "converter/trace/collection_clock.h"
#include "converter/trace/level_curve.h"
#include "converter/trace/trace_sink.h"
#include "format/json/json_output.h"

struct chrome_sink {
    struct trace_sink base;
    struct call_events calls;
    struct json_output json;
    uint64_t process;
    struct id_table named; /* uint8_t: threads whose names have been written */
    struct collection_clock clock;
    struct object_table live;
    struct level_curve curve; /* of their bytes */
    uint64_t live_bytes;
    bool has_sizes;
};

static void chrome_trace_begin_event(struct chrome_sink *sink, const char *phase, uint64_t thread)
{
    fputc('\n', sink->json.file);
    json_begin_object(&sink->json, NULL);
    json_text(&sink->json, "ph", phase);
    json_number(&sink->json, "pid", sink->process);
    json_number(&sink->json, "tid", thread);
}

static bool name_thread(struct chrome_sink *sink, uint32_t thread_id)
{
    uint8_t *known = id_table_get(&sink->named, thread_id);
    if (known == NULL || *known != 0)
        return known != NULL;
    *known = 1;
    const struct trace_thread *thread = trace_thread_of(&sink->base.source->names, thread_id);
    if (thread->name.length == 0)
        return true;
    chrome_trace_begin_event(sink, "M", thread->number);
    json_text(&sink->json, "name", "thread_name");
    json_begin_object(&sink->json, "args");
    json_bytes(&sink->json, "name", thread->name);
    json_end_object(&sink->json);
    json_end_object(&sink->json);
    return true;
}

static enum step_status chrome_trace_receive(void *user, const struct call_event *event,
                                             struct step_error *error)
{
    struct chrome_sink *sink = user;
    if (!name_thread(sink, event->thread_id))
        return no_memory(error);
    chrome_trace_begin_event(sink, event->change == CALL_OPENS ? "B" : "E",
                             trace_thread_of(&sink->base.source->names, event->thread_id)->number);
    json_microseconds(&sink->json, "ts", event->time_ns);
    if (event->change == CALL_OPENS) {
        call_put_name(&sink->json, &sink->base.source->names, event->frame->method_id);
        json_text(&sink->json, "cat", "java");
    } else if (event->change != CALL_CLOSES) {
        json_begin_object(&sink->json, "args");
        json_bool(&sink->json, "exception", true);
        json_end_object(&sink->json);
    }
    json_end_object(&sink->json);
    return STEP_STATUS_OK;
}

static void chrome_trace_end_collection(struct chrome_sink *sink, const struct collection *over)
{
    if (over->time < sink->calls.from_ns)
        return;
    chrome_trace_begin_event(sink, "i", 0);
    json_microseconds(&sink->json, "ts", over->time);
    json_text(&sink->json, "name", "collection");
    json_text(&sink->json, "s", "g");
    json_begin_object(&sink->json, "args");
    json_number(&sink->json, "freed", over->objects);
    json_end_object(&sink->json);
    json_end_object(&sink->json);
}

/* Returns false if out of memory. */
static bool count_live(struct chrome_sink *sink, const struct trace_event *event)
{
    struct live_object object = {.object = event->object, .size = event->size};
    if (event->kind == EVENT_OBJECT_ALLOC) {
        sink->has_sizes = sink->has_sizes || event->size > 0;
        sink->live_bytes += event->size;
        if (!object_table_put(&sink->live, &object))
            return false;
    } else if (event->kind == EVENT_OBJECT_FREE &&
               object_table_take(&sink->live, event->object, &object)) {
        sink->live_bytes -= object.size;
    } else {
        return true;
    }
    level_curve_put(&sink->curve, event->time_ns, sink->live_bytes, sink->live.count);
    return true;
}

/* Viewers draw a counter as a step until its next event. */
static void chrome_trace_put_curve(struct chrome_sink *sink)
{
    for (size_t i = 0; sink->has_sizes && i < sink->curve.count; i++) {
        uint64_t at = sink->curve.step_ns * i;
        if (at + sink->curve.step_ns <= sink->calls.from_ns)
            continue;
        chrome_trace_begin_event(sink, "C", 0);
        json_microseconds(&sink->json, "ts", at);
        json_text(&sink->json, "name", "live heap");
        json_begin_object(&sink->json, "args");
        json_number(&sink->json, "bytes", sink->curve.steps[i].most_bytes);
        json_end_object(&sink->json);
        json_end_object(&sink->json);
    }
}

static enum step_status chrome_trace_put(struct trace_sink *base, const struct trace_event *events,
                                         size_t count, struct step_error *error)
{
    struct chrome_sink *sink = (struct chrome_sink *) base;
    enum step_status status = STEP_STATUS_OK;
    for (size_t i = 0; i < count && status == STEP_STATUS_OK; i++) {
        struct collection over;
        while (collection_clock_ends_before(&sink->clock, &events[i], &over))
            chrome_trace_end_collection(sink, &over);
        if (events[i].kind == EVENT_OBJECT_FREE &&
            !collection_clock_put_free(&sink->clock, &events[i]))
            return no_memory(error);
        if (!count_live(sink, &events[i]))
            return no_memory(error);
        status = call_events_put(&sink->calls, &events[i], error);
    }
    return status;
}

static enum step_status chrome_trace_close(struct trace_sink *base, struct step_error *error)
{
    struct chrome_sink *sink = (struct chrome_sink *) base;
    struct collection over;
    while (collection_clock_finish(&sink->clock, &over))
        chrome_trace_end_collection(sink, &over);
    enum step_status status = call_events_finish(&sink->calls, error);
    if (status != STEP_STATUS_OK)
        return status;
    chrome_trace_put_curve(sink);
    json_end_array(&sink->json);
    json_close(&sink->json);
    return status;
}

static void chrome_trace_reset(struct trace_sink *base)
{
    struct chrome_sink *sink = (struct chrome_sink *) base;
    call_events_reset(&sink->calls);
    collection_clock_reset(&sink->clock);
    object_table_reset(&sink->live);
    id_table_reset(&sink->named);
}

static enum step_status chrome_trace_open(struct trace_sink *base, const struct format_output *to,
                                          struct step_error *error)
{
    struct chrome_sink *sink = (struct chrome_sink *) base;
    const uint64_t *from_ns = format_settings_get(to->settings, &call_options);
    (void) error;
    level_curve_init(&sink->curve);
    sink->process = event_source_number(to->source, "process-id", 1);
    id_table_init(&sink->named, sizeof(uint8_t));
    call_events_init(&sink->calls, *from_ns, chrome_trace_receive, sink);
    json_init(&sink->json, base->stream.file);
    sink->json.is_compact = true;
    json_begin_object(&sink->json, NULL);
    json_text(&sink->json, "displayTimeUnit", "ns");
    json_begin_array(&sink->json, "traceEvents");
    return STEP_STATUS_OK;
}

static const struct trace_sink_operations operations = {
    .size_bytes = sizeof(struct chrome_sink),
    .prints = true,
    .open = chrome_trace_open,
    .put = chrome_trace_put,
    .close = chrome_trace_close,
    .reset = chrome_trace_reset,
};

const struct trace_format format_chrome_trace = {
    .name = "chrome-trace",
    .ending = ".trace.json",
    .help = "Chrome trace events",
    .packs_by_ending = true,
    .needs = FORMAT_NEEDS_CALLS,
    .follows_objects = true,
    .sink = &operations,
};
