/* SPDX-License-Identifier: Apache-2.0 */
/* Functions common to all sinks: the structure, compression, the stream that a sink prints to. */
#include "converter/trace/trace_sink.h"

#include <stdio.h>
#include <stdlib.h>

#include "converter/containers/no_memory.h"
#include "converter/trace/events_as_allocs.h"
#include "steptrace/packed.h"

enum step_status trace_sink_pack(struct trace_sink *sink, const struct format_output *to,
                                 struct step_output *output, struct step_error *error)
{
    *output = output_file_as_output(to->file);
    return output_pack(output, trace_format_packing(to->format, to->file->path),
                       format_settings_level(to->settings), &sink->packed, error);
}

static void free_sink(struct trace_sink *sink)
{
    output_stream_reset(&sink->stream);
    step_packed_output_destroy(sink->packed);
    free(sink);
}

enum step_status trace_sink_create(const struct format_output *to, bool of_allocs,
                                   struct trace_sink **out, struct step_error *error)
{
    const struct trace_sink_operations *operations = to->format->sink;
    if (of_allocs && to->format->alloc_sink != NULL)
        operations = to->format->alloc_sink;
    else if (operations == NULL)
        operations = &events_as_allocs_sink;
    struct trace_sink *sink = calloc(1, operations->size_bytes);
    if (sink == NULL)
        return no_memory(error);
    sink->operations = operations;
    sink->source = to->source;
    sink->file = to->file;
    const struct step_output output = output_file_as_output(to->file);
    enum step_status status =
        operations->prints ? output_stream_open(&sink->stream, &output,
                                                trace_format_packing(to->format, to->file->path),
                                                format_settings_level(to->settings), error)
                           : STEP_STATUS_OK;
    if (status != STEP_STATUS_OK) {
        free_sink(sink);
        return status;
    }
    status = operations->open(sink, to, error);
    if (status == STEP_STATUS_OK)
        *out = sink;
    else
        trace_sink_destroy(sink);
    return status;
}

enum step_status trace_sink_put(struct trace_sink *sink, const struct trace_event *events,
                                size_t count, struct step_error *error)
{
    enum step_status status = sink->operations->put(sink, events, count, error);
    if (status == STEP_STATUS_OK)
        status = output_stream_status(&sink->stream, error);
    return output_file_name_error(sink->file, status, error);
}

enum step_status trace_sink_put_alloc(struct trace_sink *sink, const struct hatf_record *record,
                                      struct step_error *error)
{
    enum step_status status = sink->operations->put_alloc(sink, record, error);
    if (status == STEP_STATUS_OK)
        status = output_stream_status(&sink->stream, error);
    return output_file_name_error(sink->file, status, error);
}

bool trace_sink_loss(const struct trace_sink *sink, char comment[TRACE_SINK_LOSS_ROOM])
{
    char text[COPY_LOSS_ROOM], gap[TRACE_GAP_ROOM];
    const char *loss = copy_loss_of(&sink->source->about, text);
    if (loss == NULL)
        loss = copy_loss_recorded(&sink->source->about, gap);
    if (loss != NULL)
        snprintf(comment, TRACE_SINK_LOSS_ROOM, COPY_LOSS_COMMENT "%s", loss);
    return loss != NULL;
}

/* A comment of the source that says so was a record like any other. */
static enum step_status trace_sink_put_loss(struct trace_sink *sink, struct step_error *error)
{
    char comment[TRACE_SINK_LOSS_ROOM];
    if (copy_loss_is_said(&sink->source->about) || !trace_sink_loss(sink, comment))
        return STEP_STATUS_OK;
    const struct hatf_record record = {.tag = HATF_COMMENT, .comment = step_text(comment)};
    return trace_sink_put_alloc(sink, &record, error);
}

enum step_status trace_sink_close(struct trace_sink *sink, struct step_error *error)
{
    const struct trace_sink_operations *operations = sink->operations;
    enum step_status status = operations->put_alloc != NULL && !operations->has_properties
                                  ? trace_sink_put_loss(sink, error)
                                  : STEP_STATUS_OK;
    if (status == STEP_STATUS_OK && operations->close != NULL)
        status = operations->close(sink, error);
    if (status == STEP_STATUS_OK && sink->operations->prints)
        status = output_stream_close(&sink->stream, error);
    if (status == STEP_STATUS_OK && sink->packed != NULL)
        status = step_packed_output_close(sink->packed, error);
    return output_file_name_error(sink->file, status, error);
}

void trace_sink_destroy(struct trace_sink *sink)
{
    if (sink == NULL)
        return;
    if (sink->operations->reset != NULL)
        sink->operations->reset(sink);
    free_sink(sink);
}
