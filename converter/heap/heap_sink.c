/* SPDX-License-Identifier: Apache-2.0 */
/* Sinks that track live objects and pass snapshots to a heap writer. */
#include <stdlib.h>

#include "converter/base/no_memory.h"
#include "converter/base/quantity.h"
#include "converter/heap/heap_tracker.h"
#include "converter/heap/heap_writer.h"
#include "converter/trace/trace_sink.h"

struct heap_sink {
    struct trace_sink base;
    struct heap_export options;
    struct heap_tracker tracker;
    struct heap_writer *writer;
    struct level_curve curve;
    uint64_t snapshot_count;
};

static const struct heap_moment peak_and_end[] = {{.kind = HEAP_AT_PEAK}, {.kind = HEAP_AT_END}};

static struct heap_sink *of(struct trace_sink *sink)
{
    return (struct heap_sink *) sink;
}

static enum step_status receive(void *user, struct heap_snapshot *snapshot,
                                struct step_error *error)
{
    struct heap_sink *sink = user;
    enum step_status status = STEP_STATUS_OK;
    if (snapshot->rows != NULL) {
        sink->snapshot_count++;
        status = sink->writer->operations->put(sink->writer, snapshot, error);
    }
    heap_snapshot_reset(snapshot);
    return status;
}

static enum step_status put(struct trace_sink *base, const struct trace_event *events, size_t count,
                            struct step_error *error)
{
    return heap_tracker_put(&of(base)->tracker, events, count, error);
}

static enum step_status close_sink(struct trace_sink *base, struct step_error *error)
{
    struct heap_sink *sink = of(base);
    enum step_status status = heap_tracker_finish(&sink->tracker, error);
    if (status == STEP_STATUS_OK && sink->snapshot_count == 0)
        status = step_error_set(
            error, STEP_STATUS_NOT_FOUND, NULL, STEP_NO_OFFSET,
            "the trace has no such moment: it ends at %s and has %llu collection%s",
            quantity_of_ns((double) sink->tracker.now_ns).text,
            (unsigned long long) sink->tracker.collections, plural(sink->tracker.collections));
    return status == STEP_STATUS_OK ? heap_writer_close(sink->writer, error) : status;
}

static void reset(struct trace_sink *base)
{
    heap_writer_destroy(of(base)->writer);
    heap_tracker_reset(&of(base)->tracker);
}

static enum step_status open_sink(struct trace_sink *base, const struct format_output *to,
                                  struct step_error *error)
{
    const struct event_source *source = to->source;
    struct heap_sink *sink = of(base);
    sink->options = heap_export_of(to->settings);
    bool both = to->format->heap_writer->takes_peak_and_end;
    bool draws = to->format->heap_writer->draws;
    level_curve_init(&sink->curve);
    bool is_series = sink->options.every_ns != 0 || sink->options.every_collection;
    const struct heap_tracker_options wanted = {.selected = sink->options.selected,
                                                .moments = both ? peak_and_end : &sink->options.at,
                                                .moment_count = is_series ? 0 : 1 + both,
                                                .every_ns = sink->options.every_ns,
                                                .every_collection = sink->options.every_collection,
                                                .curve = draws ? &sink->curve : NULL,
                                                .receive = receive,
                                                .user = sink};
    struct step_output output;
    if (!heap_tracker_init(&sink->tracker, &source->names, &wanted))
        return no_memory(error);
    enum step_status status = trace_sink_pack(base, to, &output, error);
    if (status == STEP_STATUS_OK)
        status = heap_writer_create(to->format->heap_writer, &output, &sink->options,
                                    &sink->tracker.sites, &sink->writer, error);
    if (status != STEP_STATUS_OK)
        return status;
    const char *process = event_source_property(source, "process-id");
    const char *start = event_source_property(source, "start-time-ns");
    sink->writer->curve = &sink->curve;
    sink->writer->title = event_source_property(source, "java-command");
    sink->writer->process = process != NULL ? strtoull(process, NULL, 10) : 1;
    sink->writer->start_ns = start != NULL ? strtoull(start, NULL, 10) : 0;
    return status;
}

const struct trace_sink_operations heap_sink_operations = {
    .size_bytes = sizeof(struct heap_sink),
    .open = open_sink,
    .put = put,
    .close = close_sink,
    .reset = reset,
};
