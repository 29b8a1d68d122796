/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes method events as speedscope's evented profiles, one per thread
 * (docs/formats/speedscope.md). The format requires one thread after the other, so events are kept
 * in a temporary file until the end, in pieces that are linked by thread.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "converter/containers/no_memory.h"
#include "converter/files/spool.h"
#include "converter/trace/call_events.h"
#include "converter/trace/trace_sink.h"
#include "format/core/grow.h"
#include "format/json/json_output.h"

#define PIECE_CHANGES 255u

struct change {
    uint64_t time_ns;
    uint32_t method_id;
    uint32_t opens;
};

struct piece {
    uint64_t next; /* position of the thread's next piece */
    uint64_t count;
    struct change changes[PIECE_CHANGES];
};

struct thread_events {
    uint64_t first; /* position of the first piece */
    uint64_t at;    /* position at which the current piece will be written */
    uint64_t start_ns;
    uint64_t end_ns;
    struct piece *piece; /* NULL: no events */
};

struct calls_sink {
    struct trace_sink base;
    struct call_events calls;
    struct json_output json;
    struct id_table threads; /* struct thread_events */
    struct id_table frames;  /* uint32_t: by method, its frame + 1 */
    uint32_t *methods;       /* by frame */
    size_t frame_count, frame_capacity;
    int spool;
    uint64_t spool_bytes;
};

static uint64_t new_place(struct calls_sink *sink)
{
    uint64_t at = sink->spool_bytes;
    sink->spool_bytes += sizeof(struct piece);
    return at;
}

static bool know_frame(struct calls_sink *sink, uint32_t method_id)
{
    uint32_t *frame = id_table_get(&sink->frames, method_id);
    if (frame == NULL || *frame != 0)
        return frame != NULL;
    if (!STEP_MAKE_ROOM(sink->methods, sink->frame_capacity, sink->frame_count + 1))
        return false;
    sink->methods[sink->frame_count++] = method_id;
    *frame = (uint32_t) sink->frame_count;
    return true;
}

static enum step_status scope_calls_receive(void *user, const struct call_event *event,
                                            struct step_error *error)
{
    struct calls_sink *sink = user;
    struct thread_events *thread = id_table_get(&sink->threads, event->thread_id);
    if (thread == NULL || !know_frame(sink, event->frame->method_id))
        return no_memory(error);
    if (thread->piece == NULL) {
        if ((thread->piece = calloc(1, sizeof *thread->piece)) == NULL)
            return no_memory(error);
        thread->first = thread->at = new_place(sink);
        thread->start_ns = event->time_ns;
    }
    struct piece *piece = thread->piece;
    piece->changes[piece->count++] =
        (struct change){event->time_ns, event->frame->method_id, event->change == CALL_OPENS};
    thread->end_ns = event->time_ns;
    if (piece->count < PIECE_CHANGES)
        return STEP_STATUS_OK;
    uint64_t at = thread->at;
    piece->next = thread->at = new_place(sink);
    enum step_status status = spool_write(sink->spool, piece, sizeof *piece, at, error);
    piece->count = 0;
    return status;
}

static enum step_status scope_calls_put(struct trace_sink *base, const struct trace_event *events,
                                        size_t count, struct step_error *error)
{
    struct calls_sink *sink = (struct calls_sink *) base;
    enum step_status status = STEP_STATUS_OK;
    for (size_t i = 0; i < count && status == STEP_STATUS_OK; i++)
        status = call_events_put(&sink->calls, &events[i], error);
    return status;
}

static void put_changes(struct calls_sink *sink, const struct piece *piece)
{
    for (size_t i = 0; i < piece->count; i++) {
        const uint32_t *frame = id_table_find(&sink->frames, piece->changes[i].method_id);
        json_begin_object(&sink->json, NULL);
        json_text(&sink->json, "type", piece->changes[i].opens != 0 ? "O" : "C");
        json_number(&sink->json, "frame", *frame - 1);
        json_number(&sink->json, "at", piece->changes[i].time_ns);
        json_end_object(&sink->json);
    }
}

static void put_thread_name(struct calls_sink *sink, uint32_t thread_id)
{
    char text[256];
    const struct trace_thread *thread = trace_thread_of(&sink->base.source->names, thread_id);
    int length = snprintf(text, sizeof text, "%" PRIu64 " %.*s", thread->number,
                          (int) thread->name.length, (const char *) thread->name.data);
    size_t end = (size_t) length < sizeof text ? (size_t) length : sizeof text - 1;
    if (thread->name.length == 0)
        end--;
    json_bytes(&sink->json, "name", (struct step_bytes){(const uint8_t *) text, end});
}

static enum step_status scope_calls_put_profile(struct calls_sink *sink, uint32_t thread_id,
                                                const struct thread_events *thread,
                                                struct step_error *error)
{
    struct json_output *json = &sink->json;
    struct piece *piece = malloc(sizeof *piece);
    if (piece == NULL)
        return no_memory(error);
    fputc('\n', json->file);
    json_begin_object(json, NULL);
    json_text(json, "type", "evented");
    put_thread_name(sink, thread_id);
    json_text(json, "unit", "nanoseconds");
    json_number(json, "startValue", thread->start_ns);
    json_number(json, "endValue", thread->end_ns);
    json_begin_array(json, "events");
    enum step_status status = STEP_STATUS_OK;
    for (uint64_t at = thread->first; at != thread->at && status == STEP_STATUS_OK;) {
        status = spool_read(sink->spool, piece, sizeof *piece, at, error);
        if (status == STEP_STATUS_OK) {
            put_changes(sink, piece);
            at = piece->next;
        }
    }
    put_changes(sink, thread->piece);
    json_end_array(json);
    json_end_object(json);
    free(piece);
    return status;
}

static void scope_calls_put_frames(struct calls_sink *sink)
{
    json_begin_object(&sink->json, "shared");
    json_begin_array(&sink->json, "frames");
    for (size_t i = 0; i < sink->frame_count; i++) {
        json_begin_object(&sink->json, NULL);
        call_put_name(&sink->json, &sink->base.source->names, sink->methods[i]);
        json_end_object(&sink->json);
    }
    json_end_array(&sink->json);
    json_end_object(&sink->json);
}

static enum step_status scope_calls_close(struct trace_sink *base, struct step_error *error)
{
    struct calls_sink *sink = (struct calls_sink *) base;
    struct json_output *json = &sink->json;
    struct trace_text title = event_source_property(sink->base.source, "java-command");
    enum step_status status = call_events_finish(&sink->calls, error);
    json_begin_object(json, NULL);
    json_text(json, "$schema", "https://www.speedscope.app/file-format-schema.json");
    json_text(json, "exporter", "steptrace");
    trace_text_put_json(trace_text_or(title, "java"), json, "name");
    json_begin_array(json, "profiles");
    const struct thread_events *thread;
    for (uint32_t i = 0;
         status == STEP_STATUS_OK && (thread = id_table_next(&sink->threads, &i)) != NULL; i++)
        if (thread->piece != NULL)
            status = scope_calls_put_profile(sink, i, thread, error);
    json_end_array(json);
    scope_calls_put_frames(sink);
    json_close(json);
    return status;
}

static void scope_calls_reset(struct trace_sink *base)
{
    struct calls_sink *sink = (struct calls_sink *) base;
    struct thread_events *thread;
    for (uint32_t i = 0; (thread = id_table_next(&sink->threads, &i)) != NULL; i++)
        free(thread->piece);
    id_table_reset(&sink->threads);
    id_table_reset(&sink->frames);
    call_events_reset(&sink->calls);
    free(sink->methods);
    if (sink->spool >= 0)
        close(sink->spool);
}

static enum step_status scope_calls_open(struct trace_sink *base, const struct format_output *to,
                                         struct step_error *error)
{
    struct calls_sink *sink = (struct calls_sink *) base;
    const uint64_t *from_ns = format_settings_get(to->settings, &call_options);
    id_table_init(&sink->threads, sizeof(struct thread_events));
    id_table_init(&sink->frames, sizeof(uint32_t));
    call_events_init(&sink->calls, *from_ns, scope_calls_receive, sink);
    json_init(&sink->json, base->stream.file);
    sink->json.is_compact = true;
    sink->spool = -1;
    return spool_open(&sink->spool, error);
}

static const struct trace_sink_operations operations = {
    .size_bytes = sizeof(struct calls_sink),
    .prints = true,
    .open = scope_calls_open,
    .put = scope_calls_put,
    .close = scope_calls_close,
    .reset = scope_calls_reset,
};

const struct trace_format format_speedscope_calls = {
    .name = "speedscope-calls",
    .ending = ".calls.speedscope.json",
    .help = "speedscope",
    .packs_by_ending = true,
    .needs = FORMAT_NEEDS_CALLS,
    .sink = &operations,
};
