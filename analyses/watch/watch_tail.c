/* SPDX-License-Identifier: Apache-2.0 */
/* Follows a growing trace by the headers of its blocks. */
#include "analyses/watch/watch_feed.h"

#include "converter/files/sampled_trace.h"
#include "converter/files/trace_gap.h"
#include "converter/files/trace_reader.h"
#include "converter/numbers/quantity.h"
#include "converter/numbers/trace_ticks.h"
#include "converter/step/stepfile.h"
#include "steptrace/live.h"

/* Stream numbers are small, except in damaged files. */
#define STREAMS_MOST (UINT64_C(1) << 24)

uint64_t watch_tail_time_ns(const struct watch_tail *tail, uint64_t ticks)
{
    return trace_ticks_ns(ticks, tail->decoder.java.resolution_ns);
}

void watch_tail_name_frame(struct watch_tail *tail, uint32_t stack_id)
{
    if (stack_id != 0 && !trace_frame_of(&tail->names, stack_id)->known)
        stepfile_decoder_name(&tail->decoder, STEP_JAVA_FRAME, stack_id);
}

bool watch_tail_has_names(struct watch_tail *tail, const struct trace_event *event)
{
    struct stepfile_decoder *decoder = &tail->decoder;
    const struct trace_names *names = &tail->names;
    if (event->kind == EVENT_OBJECT_FREE)
        return true;
    bool has = event->thread_id == 0 || trace_thread_of(names, event->thread_id)->known ||
               stepfile_decoder_name(decoder, STEP_JAVA_THREAD, event->thread_id);
    if (event->kind == EVENT_METHOD_ENTRY)
        return has && (trace_method_of(names, event->method_id)->known ||
                       stepfile_decoder_name(decoder, STEP_JAVA_METHOD, event->method_id));
    return has && (trace_class_of(names, event->class_id)->known ||
                   stepfile_decoder_name(decoder, STEP_JAVA_CLASS, event->class_id));
}

static bool name_class(struct watch_tail *tail, uint32_t id)
{
    return id == 0 || trace_class_of(&tail->names, id)->known ||
           stepfile_decoder_name(&tail->decoder, STEP_JAVA_CLASS, id);
}

static bool name_method(struct watch_tail *tail, uint32_t id)
{
    return id == 0 || trace_method_of(&tail->names, id)->known ||
           stepfile_decoder_name(&tail->decoder, STEP_JAVA_METHOD, id);
}

static void watch_tail_take_class(struct trace_names *names, uint32_t id,
                                  const struct step_live_entry *from)
{
    struct trace_class *class = id_table_get(&names->classes, id);
    if (class == NULL || class->known)
        return;
    class->known = trace_names_copy(names, from->name, &class->name);
    class->loader = from->loader;
}

/* A method whose class neither file has by now is taken when it is seen again. */
static void take_method(struct watch_tail *tail, uint32_t id, const struct step_live_entry *from)
{
    struct trace_names *names = &tail->names;
    struct trace_method *method =
        name_class(tail, (uint32_t) from->class_) ? id_table_get(&names->methods, id) : NULL;
    if (method == NULL || method->known)
        return;
    method->known = trace_names_copy(names, from->name, &method->name) &&
                    trace_names_copy(names, from->descriptor, &method->descriptor);
    method->class_id = (uint32_t) from->class_;
    method->modifiers = from->modifiers;
}

static void take_frame(struct watch_tail *tail, uint32_t id, const struct step_live_entry *from)
{
    uint32_t parent = from->parent < id ? (uint32_t) from->parent : 0;
    bool names_known = name_method(tail, (uint32_t) from->method);
    watch_tail_name_frame(tail, parent);
    struct trace_frame *frame = names_known ? id_table_get(&tail->names.frames, id) : NULL;
    if (frame == NULL || frame->known)
        return;
    *frame = (struct trace_frame){.parent = parent,
                                  .method_id = (uint32_t) from->method,
                                  .line = (uint32_t) from->line,
                                  .bytecode = (uint32_t) from->bytecode,
                                  .known = true};
}

static void watch_tail_take_thread(struct trace_names *names, uint32_t id,
                                   const struct step_live_entry *from)
{
    struct trace_thread *thread = id_table_get(&names->threads, id);
    if (thread == NULL || thread->known)
        return;
    thread->known = trace_names_copy(names, from->name, &thread->name);
    thread->number = from->number;
    thread->flags = from->flags;
}

void watch_tail_take_entry(struct watch_tail *tail, const struct step_live_entry *from)
{
    uint32_t id = java_id(from->number);
    if (id == 0)
        return;
    if (from->kind == STEP_LIVE_DEFINE_CLASS)
        watch_tail_take_class(&tail->names, id, from);
    else if (from->kind == STEP_LIVE_DEFINE_METHOD && from->modifiers != STEP_LIVE_IS_PHASE_NAME)
        take_method(tail, id, from);
    else if (from->kind == STEP_LIVE_DEFINE_THREAD)
        watch_tail_take_thread(&tail->names, id, from);
    else if (from->kind == STEP_LIVE_DEFINE_FRAME)
        take_frame(tail, id, from);
}

static void count_block(struct watch_tail *tail, const struct step_block_info *info)
{
    uint64_t last_ns = watch_tail_time_ns(tail, info->time_max), end;
    if (tail->is_heap)
        tail->events += info->record_count;
    for (size_t i = 0; i < info->type_count; i++) {
        if (java_kind_of(&tail->decoder.java, info->counts[i].record)->event < EVENT_KIND_COUNT)
            tail->events += info->counts[i].count;
    }
    if (last_ns > tail->last_ns)
        tail->last_ns = last_ns;
    uint64_t *written =
        info->stream < STREAMS_MOST ? id_table_get(&tail->streams, (uint32_t) info->stream) : NULL;
    if (written != NULL && !__builtin_add_overflow(info->first_record, info->record_count, &end) &&
        end > *written)
        *written = end;
}

static void count_blocks(struct watch_tail *tail)
{
    size_t count = step_reader_block_count(tail->reader);
    for (; tail->counted < count; tail->counted++)
        count_block(tail, step_reader_block_info(tail->reader, tail->counted));
}

uint64_t watch_tail_written(const struct watch_tail *tail, uint64_t stream)
{
    const uint64_t *written =
        stream < STREAMS_MOST ? id_table_find(&tail->streams, (uint32_t) stream) : NULL;
    return written != NULL ? *written : 0;
}

static void note_state(struct watch_tail *tail)
{
    tail->state = step_reader_is_running(tail->reader) ? WATCH_RUNNING
                  : trace_reaches_end(tail->reader)    ? WATCH_WHOLE
                                                       : WATCH_CUT;
}

static bool has_events(const struct watch_tail *tail)
{
    for (uint32_t i = 0; i < tail->decoder.java.count; i++)
        if (java_kind_of(&tail->decoder.java, i)->event < EVENT_KIND_COUNT)
            return true;
    return false;
}

static enum step_status open_reader(struct watch_tail *tail, struct step_error *error)
{
    enum step_status status = open_with_given_definition(tail->path, NULL, &tail->reader, error);
    if (status != STEP_STATUS_OK)
        return status;
    tail->decoder.names = &tail->names;
    status = java_records_init(&tail->decoder.java, tail->reader, error);
    tail->is_heap = stepfile_reader_has_heap_events(tail->reader);
    tail->sample_bytes = sampled_interval_bytes(step_reader_property(tail->reader, "engine"),
                                                step_reader_property(tail->reader, "sample"));
    if (status == STEP_STATUS_OK && !tail->is_heap && !has_events(tail))
        status = step_error_set(error, STEP_STATUS_UNSUPPORTED, tail->path, STEP_NO_OFFSET,
                                "the trace has no events of a program");
    return status;
}

enum step_status watch_tail_open(struct watch_tail *tail, const char *path,
                                 struct step_error *error)
{
    *tail = (struct watch_tail){.path = path};
    trace_names_init(&tail->names);
    id_table_init(&tail->streams, sizeof(uint64_t));
    enum step_status status = open_reader(tail, error);
    if (status == STEP_STATUS_OK) {
        note_state(tail);
        count_blocks(tail);
    }
    return status;
}

void watch_tail_reset(struct watch_tail *tail)
{
    java_records_reset(&tail->decoder.java);
    step_reader_destroy(tail->reader);
    step_reader_destroy(tail->before);
    trace_names_reset(&tail->names);
    id_table_reset(&tail->streams);
    tail->reader = tail->before = NULL;
}

/* Keeps the names, and therefore the reader that owns their texts. */
static enum step_status open_anew(struct watch_tail *tail, struct step_error *error)
{
    java_records_reset(&tail->decoder.java);
    tail->before = tail->reader;
    tail->reader = NULL;
    enum step_status status = open_reader(tail, error);
    if (status != STEP_STATUS_OK)
        return status;
    tail->events = 0;
    tail->counted = 0;
    note_state(tail);
    if (tail->state == WATCH_RUNNING) /* another process: previous data is useless */
        tail->state = WATCH_CUT;
    count_blocks(tail);
    return STEP_STATUS_OK;
}

enum step_status watch_tail_refresh(struct watch_tail *tail, bool *opened_anew,
                                    struct step_error *error)
{
    bool running;
    *opened_anew = false;
    if (tail->state != WATCH_RUNNING)
        return STEP_STATUS_OK;
    enum step_status status = step_reader_refresh(tail->reader, &running, error);
    if (status != STEP_STATUS_OK)
        return status;
    if (!running && !step_reader_is_whole(tail->reader)) {
        status = open_anew(tail, error);
        *opened_anew = status == STEP_STATUS_OK;
        return status;
    }
    note_state(tail);
    java_records_refresh(&tail->decoder.java);
    count_blocks(tail);
    return STEP_STATUS_OK;
}
