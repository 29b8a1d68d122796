/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sink that writes STEP traces.  All events are in one stream, in the order in which they arrive,
 * so that text -> step -> text reproduces the text.  Names become dictionary entries at their first
 * use.
 *
 * An id is a position in the dictionary, whereas the text format allows arbitrary thread numbers.
 * A thread whose number differs from its position has the number in its name, as "#17" or "#17
 * name".
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/containers/no_memory.h"
#include "converter/step/java_records.h"
#include "converter/step/stepfile.h"
#include "converter/trace/copy_loss.h"
#include "converter/trace/trace_sink.h"
#include "steptrace/live.h"

#define STREAM (STEP_LIVE_STREAM_FREES + 1)

struct stepfile_sink {
    struct trace_sink base;
    struct step_writer *writer;
    uint64_t resolution_ns;
    struct id_table classes; /* uint64_t: id in the output; 0: none yet */
    struct id_table methods;
    struct id_table threads;
    struct id_table frames;
    struct frame_chain chain;
    bool is_part;             /* the output is a selection: some allocations may be missing */
    struct object_table live; /* if so, the objects whose allocation was written */
};

static void define_source(struct stepfile_sink *sink, uint64_t class_id,
                          const struct trace_class *class)
{
    static const uint8_t nothing[1] = {0};
    struct step_java_source_file entry = {
        .class_ = class_id, .file = {nothing, 0}, .map = {nothing, 0}};
    if (class->file.length > 0)
        entry.file = class->file;
    if (class->map_text.length > 0)
        entry.map = class->map_text;
    step_java_source_file_define(sink->writer, &entry, NULL);
}

/* These return the id in the output, defining it if necessary; 0 if the writer failed. */
static uint64_t class_id(struct stepfile_sink *sink, uint32_t id)
{
    uint64_t *known = id_table_get(&sink->classes, id);
    if (known == NULL || *known != 0)
        return known != NULL ? *known : 0;
    const struct trace_class *class = trace_class_of(&sink->base.source->names, id);
    struct step_java_class entry = {.name = class->name, .loader = class->loader};
    step_java_class_define(sink->writer, &entry, known);
    if (*known != 0 && (class->file.length > 0 || class->map_text.length > 0))
        define_source(sink, *known, class);
    return *known;
}

static uint64_t method_id(struct stepfile_sink *sink, uint32_t id)
{
    uint64_t *known = id_table_get(&sink->methods, id);
    if (known == NULL || *known != 0)
        return known != NULL ? *known : 0;
    const struct trace_method *method = trace_method_of(&sink->base.source->names, id);
    static const uint8_t nothing[1] = {0};
    struct step_java_method entry = {.class_ = class_id(sink, method->class_id),
                                     .name = method->name,
                                     .descriptor = {nothing, 0},
                                     .modifiers = method->modifiers};
    if (method->descriptor.length > 0)
        entry.descriptor = method->descriptor;
    step_java_method_define(sink->writer, &entry, known);
    return *known;
}

/* Callers come first. */
static uint64_t frame_id(struct stepfile_sink *sink, uint32_t id)
{
    const struct trace_names *names = &sink->base.source->names;
    struct frame_chain *chain = &sink->chain;
    if (!frame_chain_find(chain, names, &sink->frames, id))
        return 0;
    while (chain->count > 0) {
        uint32_t at = chain->ids[--chain->count];
        const struct trace_frame *frame = trace_frame_of(names, at);
        const uint64_t *parent = id_table_find(&sink->frames, frame->parent);
        const struct step_java_frame entry = {.parent = parent != NULL ? *parent : 0,
                                              .method = method_id(sink, frame->method_id),
                                              .line = frame->line,
                                              .bytecode = frame->bytecode};
        uint64_t *known = id_table_get(&sink->frames, at);
        if (known == NULL)
            return 0;
        step_java_frame_define(sink->writer, &entry, known);
        if (*known == 0)
            return 0;
    }
    const uint64_t *known = id_table_find(&sink->frames, id);
    return known != NULL ? *known : 0;
}

static bool define_thread(struct stepfile_sink *sink, const struct trace_thread *thread,
                          uint64_t *id)
{
    uint64_t next = step_writer_dictionary_count(sink->writer, STEP_JAVA_THREAD) + 1;
    struct step_java_thread entry = {.name = thread->name, .flags = thread->flags};
    uint8_t *text = NULL;
    static const uint8_t nothing[1] = {0};
    if (entry.name.length == 0)
        entry.name.data = nothing;
    if (thread->number != next || (entry.name.length > 0 && entry.name.data[0] == '#')) {
        text = malloc(thread->name.length + 32);
        if (text == NULL)
            return false;
        int length = snprintf((char *) text, 32, "#%" PRIu64 "%s", thread->number,
                              thread->name.length > 0 ? " " : "");
        if (thread->name.length > 0)
            memcpy(text + length, thread->name.data, thread->name.length);
        entry.name = (struct step_bytes){text, (size_t) length + thread->name.length};
    }
    enum step_status status = step_java_thread_define(sink->writer, &entry, id);
    free(text);
    return status == STEP_STATUS_OK;
}

static uint64_t thread_id(struct stepfile_sink *sink, uint32_t id)
{
    if (id == 0)
        return 0;
    uint64_t *known = id_table_get(&sink->threads, id);
    if (known == NULL || *known != 0)
        return known != NULL ? *known : 0;
    define_thread(sink, trace_thread_of(&sink->base.source->names, id), known);
    return *known;
}

static enum step_status events_sink_put_alloc(struct stepfile_sink *sink,
                                              const struct trace_event *event, uint64_t time,
                                              uint64_t thread)
{
    struct step_java_object_alloc record = {.time = time,
                                            .thread = thread,
                                            .class_ = class_id(sink, event->class_id),
                                            .size = event->size,
                                            .object = event->object,
                                            .padding = event->padding};
    if (sink->is_part &&
        !object_table_put(&sink->live, &(struct live_object){.object = event->object,
                                                             .class_id = event->class_id}))
        return STEP_STATUS_NO_MEMORY;
    if ((event->flags & TRACE_EXISTING) == 0 && trace_recorded_stack(event) != 0)
        return step_java_object_alloc_at_put(
            sink->writer, STREAM,
            &(struct step_java_object_alloc_at){record.time, record.thread, record.class_,
                                                record.size, record.object, record.padding,
                                                frame_id(sink, event->stack_id)});
    if ((event->flags & TRACE_EXISTING) == 0)
        return step_java_object_alloc_put(sink->writer, STREAM, &record);
    struct step_java_object_existing existing = {record.time, record.thread, record.class_,
                                                 record.size, record.object, record.padding};
    return step_java_object_existing_put(sink->writer, STREAM, &existing);
}

/* Omits the class if the reader finds it with the allocation. */
static enum step_status events_sink_put_free(struct stepfile_sink *sink,
                                             const struct trace_event *event, uint64_t time,
                                             uint64_t thread)
{
    bool is_known = (event->flags & TRACE_BORN_CLASS) != 0;
    struct live_object born;
    if (sink->is_part)
        is_known = object_table_take(&sink->live, event->object, &born) &&
                   born.class_id == event->class_id;
    if (is_known || event->class_id == 0)
        return step_java_object_free_put(sink->writer, STREAM,
                                         &(struct step_java_object_free){.time = time,
                                                                         .thread = thread,
                                                                         .object = event->object});
    return step_java_object_free_unknown_put(
        sink->writer, STREAM,
        &(struct step_java_object_free_unknown){.time = time,
                                                .thread = thread,
                                                .object = event->object,
                                                .class_ = class_id(sink, event->class_id)});
}

/* Puts a record that has only time and thread. */
#define PUT_PLAIN(name)                                                                            \
    step_java_##name##_put(sink->writer, STREAM,                                                   \
                           &(struct step_java_##name){.time = time, .thread = thread})
#define PUT_CLASS(name)                                                                            \
    step_java_##name##_put(sink->writer, STREAM,                                                   \
                           &(struct step_java_##name){.time = time,                                \
                                                      .thread = thread,                            \
                                                      .class_ = class_id(sink, event->class_id)})
#define PUT_METHOD(name)                                                                           \
    step_java_##name##_put(                                                                        \
        sink->writer, STREAM,                                                                      \
        &(struct step_java_##name){                                                                \
            .time = time, .thread = thread, .method = method_id(sink, event->method_id)})

static enum step_status events_sink_put_event(struct stepfile_sink *sink,
                                              const struct trace_event *event)
{
    uint64_t time = event->time_ns / sink->resolution_ns;
    uint64_t thread = thread_id(sink, event->thread_id);
    bool existing = (event->flags & TRACE_EXISTING) != 0;
    switch ((enum step_text_kind) event->kind) {
    case EVENT_VM_START:
        return PUT_PLAIN(vm_start);
    case EVENT_VM_INIT:
        return PUT_PLAIN(vm_init);
    case EVENT_VM_DEATH:
        return PUT_PLAIN(vm_death);
    case EVENT_CLASS_LOAD:
        return existing ? PUT_CLASS(class_existing) : PUT_CLASS(class_load);
    case EVENT_OBJECT_ALLOC:
        return events_sink_put_alloc(sink, event, time, thread);
    case EVENT_OBJECT_FREE:
        return events_sink_put_free(sink, event, time, thread);
    case EVENT_THREAD_BEGIN:
        return existing ? PUT_PLAIN(thread_existing) : PUT_PLAIN(thread_start);
    case EVENT_THREAD_END:
        return PUT_PLAIN(thread_end);
    case EVENT_METHOD_ENTRY:
        return step_java_method_entry_put(
            sink->writer, STREAM,
            &(struct step_java_method_entry){.time = time,
                                             .thread = thread,
                                             .method = method_id(sink, event->method_id),
                                             .object = event->object});
    case EVENT_METHOD_EXIT:
        return PUT_METHOD(method_exit);
    case EVENT_METHOD_POP:
        return PUT_METHOD(frame_pop);
    case EVENT_KIND_COUNT:
        break;
    }
    return STEP_STATUS_INVALID;
}

static enum step_status events_sink_put(struct trace_sink *base, const struct trace_event *events,
                                        size_t count, struct step_error *error)
{
    struct stepfile_sink *sink = (struct stepfile_sink *) base;
    for (size_t i = 0; i < count; i++) {
        enum step_status status = events_sink_put_event(sink, &events[i]);
        if (status == STEP_STATUS_NO_MEMORY)
            return step_no_memory(error, NULL);
        if (status != STEP_STATUS_OK)
            return step_writer_close(sink->writer, error);
    }
    return STEP_STATUS_OK;
}

static enum step_status put_eden(struct stepfile_sink *sink, const struct trace_fact *fact,
                                 uint64_t time)
{
    uint64_t class = fact->is_of_class ? class_id(sink, fact->class_id) : 0;
    if (fact->kind == TRACE_EDEN_CLASS && fact->has_survivors)
        return step_java_eden_survived_put(
            sink->writer, STEP_LIVE_STREAM_GLOBAL,
            &(struct step_java_eden_survived){.time = time,
                                              .collection = fact->collection,
                                              .class_ = class,
                                              .objects = fact->objects,
                                              .bytes = fact->bytes,
                                              .survived = fact->survived,
                                              .survived_bytes = fact->survived_bytes});
    if (fact->kind == TRACE_EDEN_CLASS)
        return step_java_eden_class_put(
            sink->writer, STEP_LIVE_STREAM_GLOBAL,
            &(struct step_java_eden_class){.time = time,
                                           .collection = fact->collection,
                                           .class_ = class,
                                           .objects = fact->objects,
                                           .bytes = fact->bytes});
    if (fact->kind == TRACE_EDEN_AGE)
        return step_java_eden_age_put(sink->writer, STEP_LIVE_STREAM_GLOBAL,
                                      &(struct step_java_eden_age){.time = time,
                                                                   .collection = fact->collection,
                                                                   .class_ = class,
                                                                   .age = fact->age,
                                                                   .objects = fact->objects,
                                                                   .bytes = fact->bytes});
    return step_java_eden_walk_put(sink->writer, STEP_LIVE_STREAM_GLOBAL,
                                   &(struct step_java_eden_walk){.time = time,
                                                                 .collection = fact->collection,
                                                                 .how = fact->how,
                                                                 .counted = fact->counted,
                                                                 .known = fact->bytes,
                                                                 .fillers = fact->fillers,
                                                                 .took = fact->took_ns});
}

/* Facts have a stream of their own, as they come before or after all events. */
static enum step_status events_sink_put_fact(void *user, const struct trace_fact *fact)
{
    struct stepfile_sink *sink = (struct stepfile_sink *) user;
    uint64_t time = fact->time_ns / sink->resolution_ns;
    if (fact->kind == TRACE_GIVEN_UP) /* copies are made of exact traces only */
        return STEP_STATUS_OK;
    if (fact->kind == TRACE_EDEN_CLASS || fact->kind == TRACE_EDEN_AGE ||
        fact->kind == TRACE_EDEN_WALK)
        return put_eden(sink, fact, time);
    if (fact->kind == TRACE_NOT_PROBED)
        return step_java_not_probed_put(
            sink->writer, STEP_LIVE_STREAM_GLOBAL,
            &(struct step_java_not_probed){.time = time,
                                           .class_ = fact->class_name,
                                           .method = fact->method_name,
                                           .descriptor = fact->descriptor,
                                           .reason = fact->reason,
                                           .missing = fact->missing});
    return step_java_method_count_put(
        sink->writer, STEP_LIVE_STREAM_GLOBAL,
        &(struct step_java_method_count){.time = time,
                                         .method = method_id(sink, fact->method_id),
                                         .calls = fact->calls,
                                         .exceptions = fact->exceptions,
                                         .inclusive = fact->inclusive_ns,
                                         .exclusive = fact->exclusive_ns});
}

static enum step_status events_sink_close(struct trace_sink *base, struct step_error *error)
{
    struct stepfile_sink *sink = (struct stepfile_sink *) base;
    enum step_status status = copy_loss_put(&base->source->about, sink->writer);
    return status == STEP_STATUS_OK ? step_writer_close(sink->writer, error) : status;
}

static void events_sink_reset(struct trace_sink *base)
{
    struct stepfile_sink *sink = (struct stepfile_sink *) base;
    step_writer_destroy(sink->writer);
    id_table_reset(&sink->classes);
    id_table_reset(&sink->methods);
    id_table_reset(&sink->threads);
    id_table_reset(&sink->frames);
    free(sink->chain.ids);
    object_table_reset(&sink->live);
}

static enum step_status events_sink_open(struct trace_sink *base, const struct format_output *to,
                                         struct step_error *error)
{
    struct stepfile_sink *sink = (struct stepfile_sink *) base;
    id_table_init(&sink->classes, sizeof(uint64_t));
    id_table_init(&sink->methods, sizeof(uint64_t));
    id_table_init(&sink->threads, sizeof(uint64_t));
    id_table_init(&sink->frames, sizeof(uint64_t));
    struct step_writer_options writer_options;
    step_writer_options_init(&writer_options);
    writer_options.definition = &step_java_trace_definition;
    sink->is_part = !to->source->filter.everything;
    enum step_status status =
        stepfile_writer_create(to, &writer_options, &sink->resolution_ns, &sink->writer, error);
    if (status != STEP_STATUS_OK)
        return status;
    step_writer_property(sink->writer, THREAD_NUMBERS_PROPERTY, THREAD_NUMBERS_IN_NAMES);
    step_writer_property(sink->writer, "converted-from",
                         trace_summary_of(&to->source->about).format);
    if (sink->is_part)
        step_writer_property(sink->writer, "part", "yes");
    return status;
}

const struct trace_sink_operations stepfile_sink_operations = {
    .size_bytes = sizeof(struct stepfile_sink),
    .open = events_sink_open,
    .put = events_sink_put,
    .put_fact = events_sink_put_fact,
    .close = events_sink_close,
    .reset = events_sink_reset,
};
