/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions common to all heap writers; the options that select which part of a heap they write.
 *
 * A format writes snapshots and knows no events: the sink below follows the events with a tracker
 * and hands over what the options ask for.  So every format has the same moments, and an imported
 * dump can be written by the same writers.
 */
#include "converter/heap/heap_writer.h"

#include <stdlib.h>
#include <string.h>

#include "converter/cli/arguments.h"
#include "converter/containers/no_memory.h"
#include "converter/heap/heap_tracker.h"
#include "converter/numbers/quantity.h"
#include "converter/trace/trace_sink.h"

uint64_t heap_export_least_bytes(const struct heap_export *options, uint64_t total_bytes)
{
    if (!options->has_least)
        return 0;
    return options->least_is_percent ? (uint64_t) ((double) total_bytes * options->least / 100)
                                     : (uint64_t) options->least;
}

static bool take_heap_moment(void *export_target, const char *value, const char **fault)
{
    struct heap_export *heap = export_target;
    heap->has_moment = true;
    return take_moment(&heap->at, value, fault);
}

static bool take_heap_series(void *export_target, const char *value, const char **fault)
{
    struct heap_export *heap = export_target;
    heap->every_collection = strcmp(value, "gc") == 0;
    *fault = "gc or a time is expected";
    return heap->every_collection ||
           (take_time(&heap->every_ns, value, fault) && heap->every_ns > 0);
}

/* Below 10^18, so that the conversion to 64 bits is defined; the comparisons also refuse NaN, which
 * strtod() reads from "nan". */
bool take_heap_least(void *export_target, const char *value, const char **fault)
{
    struct heap_export *heap = export_target;
    char *end;
    *fault = "bytes or a share are expected, as in 4096 or 0.5%";
    heap->least = strtod(value, &end);
    heap->least_is_percent = strcmp(end, "%") == 0;
    heap->has_least = true;
    return end != value && (*end == '\0' || heap->least_is_percent) && heap->least >= 0 &&
           heap->least < 1e18 && (!heap->least_is_percent || heap->least <= 100);
}

static const struct format_option moment_rows[] = {
    {{"at", 0, "MOMENT", "heaps: peak (default), end, gc:N or a time", take_heap_moment, NULL}, 0},
    {.place = 0}};

static const struct format_option heap_rows[] = {
    {{"allocated", 0, NULL, "heaps: all allocations up to then, freed or not", take_flag, NULL},
     offsetof(struct heap_export, allocated)},
    {.place = 0}};

static const struct format_option series_rows[] = {
    {{"every", 0, "STEP", "memory-infra: one dump per step (100ms) or after each gc",
      take_heap_series, NULL},
     0},
    {{"least", 0, "SIZE", "memory-infra: smallest entry, in bytes or percent (0.1%)",
      take_heap_least, NULL},
     0},
    {{"v2", 0, NULL, "memory-infra: write heaps_v2", take_flag, NULL},
     offsetof(struct heap_export, v2)},
    {.place = 0}};

const struct format_options heap_moment_options = {sizeof(struct heap_export), moment_rows, NULL};
const struct format_options heap_options = {0, heap_rows, &heap_moment_options};
const struct format_options heap_series_options = {0, series_rows, &heap_moment_options};

const struct format_options *const heap_format_options[] = {&heap_moment_options, &heap_options,
                                                            NULL};

struct heap_export heap_export_of(const struct format_settings *settings)
{
    struct heap_export heap =
        *(const struct heap_export *) format_settings_get(settings, &heap_moment_options);
    if (!heap.has_moment)
        heap.at.kind = HEAP_AT_PEAK;
    return heap;
}

enum step_status heap_writer_create(const struct heap_writer_operations *operations,
                                    const struct step_output *output,
                                    const struct heap_export *options,
                                    const struct heap_sites *sites, struct heap_writer **out,
                                    struct step_error *error)
{
    struct heap_writer *writer = calloc(1, operations->size_bytes);
    if (writer == NULL)
        return no_memory(error);
    writer->operations = operations;
    writer->options = *options;
    writer->sites = sites;
    enum step_status status =
        output_stream_open(&writer->stream, output, STEP_PACKING_NONE, 0, error);
    if (status == STEP_STATUS_OK)
        *out = writer;
    else
        heap_writer_destroy(writer);
    return status;
}

enum step_status heap_writer_close(struct heap_writer *writer, struct step_error *error)
{
    enum step_status status = writer->operations->close != NULL
                                  ? writer->operations->close(writer, error)
                                  : STEP_STATUS_OK;
    if (status != STEP_STATUS_OK)
        return status;
    return output_stream_close(&writer->stream, error);
}

void heap_writer_destroy(struct heap_writer *writer)
{
    if (writer == NULL)
        return;
    if (writer->operations->reset != NULL)
        writer->operations->reset(writer);
    output_stream_reset(&writer->stream);
    free(writer);
}

/* ---- sinks that track live objects and pass snapshots to a heap writer ---- */

struct heap_sink {
    struct trace_sink base;
    struct heap_export options;
    struct heap_tracker tracker;
    struct heap_writer *writer;
    struct level_curve curve;
    uint64_t snapshot_count;
};

static const struct heap_moment peak_and_end[] = {{.kind = HEAP_AT_PEAK}, {.kind = HEAP_AT_END}};

/* A moment that the trace does not reach comes without rows.  It is no error here, since others may
 * follow; if none was written, closing the sink reports it. */
static enum step_status heap_writer_receive(void *user, struct heap_snapshot *snapshot,
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

static enum step_status heap_writer_put(struct trace_sink *base, const struct trace_event *events,
                                        size_t count, struct step_error *error)
{
    struct heap_sink *sink = (struct heap_sink *) base;
    return heap_tracker_put(&sink->tracker, events, count, error);
}

static enum step_status heap_writer_close_sink(struct trace_sink *base, struct step_error *error)
{
    struct heap_sink *sink = (struct heap_sink *) base;
    enum step_status status = heap_tracker_finish(&sink->tracker, error);
    if (status == STEP_STATUS_OK && sink->snapshot_count == 0)
        status = heap_moment_missing(STEP_STATUS_NOT_FOUND, NULL, sink->tracker.now_ns,
                                     sink->tracker.unit, sink->tracker.collections, error);
    return status == STEP_STATUS_OK ? heap_writer_close(sink->writer, error) : status;
}

/* The writer first: it has borrowed the tracker's sites. */
static void heap_writer_reset(struct trace_sink *base)
{
    struct heap_sink *sink = (struct heap_sink *) base;
    heap_writer_destroy(sink->writer);
    heap_tracker_reset(&sink->tracker);
}

/* A series has no moments of its own, as the tracker gives one at each step and at the end. Formats
 * with `takes_peak_and_end` get these two whatever --at says.  The tracker is made before the
 * writer, which borrows its sites; these grow while the trace is read. */
static enum step_status heap_writer_open(struct trace_sink *base, const struct format_output *to,
                                         struct step_error *error)
{
    const struct event_source *source = to->source;
    struct heap_sink *sink = (struct heap_sink *) base;
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
                                                .receive = heap_writer_receive,
                                                .user = sink};
    struct step_output output;
    if (!heap_tracker_init(&sink->tracker, source, &wanted))
        return no_memory(error);
    enum step_status status = trace_sink_pack(base, to, &output, error);
    if (status == STEP_STATUS_OK)
        status = heap_writer_create(to->format->heap_writer, &output, &sink->options,
                                    &sink->tracker.sites, &sink->writer, error);
    if (status != STEP_STATUS_OK)
        return status;
    sink->writer->curve = &sink->curve;
    sink->writer->title = event_source_property(source, "java-command");
    sink->writer->process = event_source_number(source, "process-id", 1);
    sink->writer->start_ns = event_source_number(source, "start-time-ns", 0);
    return status;
}

const struct trace_sink_operations heap_sink_operations = {
    .size_bytes = sizeof(struct heap_sink),
    .open = heap_writer_open,
    .put = heap_writer_put,
    .close = heap_writer_close_sink,
    .reset = heap_writer_reset,
};
