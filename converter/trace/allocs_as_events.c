/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Presents a heap trace's records as events, for verbs that process only events.  An allocation is
 * an object, numbered from 1.  Its class is the call named in its attributes, or `malloc`; its call
 * stack is the one that the recorder stored after that.  A realloc in place frees the object and
 * allocates another with the new size.  Classes and threads are reported before they are used, and
 * VS, VI and VD are added so that the events form a complete trace.  Frees of unknown objects are
 * dropped and counted as damage.
 */
#include "converter/trace/allocs_as_events.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/containers/name_index.h"
#include "converter/containers/no_memory.h"
#include "converter/trace/recorded_calls.h"
#include "format/core/step_no_memory.h"

enum { PENDING = 8, CLASSES_MAX = 1 << 20, NUMBERS_MAX = 1 << 24 };

/* A call, parsed from attributes. */
struct described_call {
    uint32_t class_id; /* 0: not parsed yet */
    uint32_t frame;
    bool is_existing;
};

struct allocs_event_source {
    struct event_source base;
    struct alloc_source *records;
    struct object_table objects; /* by live_address_key(): value is the object */
    struct name_index classes;
    struct name_index threads;
    struct recorded_calls calls;
    struct id_table described; /* struct described_call, by number of the attributes */
    uint64_t object_count;
    uint64_t last_ns;
    uint64_t unknown_frees;              /* noted as damage */
    struct trace_event pending[PENDING]; /* the events of one record */
    size_t at;
    size_t count;
    bool begun;
    bool ended;
};

static struct trace_event *as_events_add(struct allocs_event_source *source,
                                         enum step_text_kind kind, uint64_t time_ns)
{
    struct trace_event *event = &source->pending[source->count++];
    *event = (struct trace_event){.kind = (uint8_t) kind, .time_ns = time_ns};
    source->last_ns = time_ns > source->last_ns ? time_ns : source->last_ns;
    return event;
}

/* Returns the thread's id in the names; adds the thread at its first use. */
static uint32_t as_events_thread_of(struct allocs_event_source *source, uint64_t number,
                                    uint64_t time_ns, bool report_line)
{
    bool is_new;
    if (number == 0)
        return 0;
    uint32_t id = trace_names_thread(&source->base.names, &source->threads, number, &is_new);
    if (id != 0 && is_new && report_line)
        as_events_add(source, EVENT_THREAD_BEGIN, time_ns)->thread_id = id;
    return id;
}

static uint32_t as_events_class_of(struct allocs_event_source *source, struct step_bytes name,
                                   uint64_t time_ns)
{
    bool is_new;
    if (name.length == 0 || source->classes.count > CLASSES_MAX)
        name = step_text("malloc");
    uint32_t id = trace_names_class(&source->base.names, &source->classes, name, &is_new);
    if (id != 0 && is_new)
        as_events_add(source, EVENT_CLASS_LOAD, time_ns)->class_id = id;
    return id;
}

static void note_unknown(struct allocs_event_source *source, const struct hatf_record *record)
{
    struct trace_about *about = &source->base.about;
    if (source->unknown_frees++ == 0)
        about->damage.offset = source->records->offset;
    about->has_damage = true;
    snprintf(about->damage.message, sizeof about->damage.message,
             "%" PRIu64 " frees of addresses that are not allocated, the last one %" PRIu64,
             source->unknown_frees, record->address);
}

/* Returns false if out of memory. */
static bool read_call(struct allocs_event_source *source, const struct hatf_record *record,
                      struct described_call *out)
{
    struct step_bytes call = record->attributes, stack;
    if (!recorded_call_split(record->attributes, &call, &stack))
        call = record->attributes;
    else if ((out->frame = recorded_calls_frame(&source->calls, &source->base.names, stack)) == 0)
        return false;
    out->is_existing = recorded_call_take_existing(&call);
    out->class_id = as_events_class_of(source, call, record->time);
    return out->class_id != 0;
}

/* Caches the results for empty and for numbered attributes.  Returns NULL if out of memory. */
static const struct described_call *as_events_describe(struct allocs_event_source *source,
                                                       const struct hatf_record *record,
                                                       struct described_call *room)
{
    bool is_plain = record->attributes.length == 0;
    uint64_t number = is_plain ? 0 : source->records->attributes_number;
    struct described_call *described = room;
    if (is_plain || (number != 0 && number <= NUMBERS_MAX))
        described = id_table_get(&source->described, (uint32_t) number);
    bool is_known = described != NULL && described->class_id != 0;
    return described != NULL && (is_known || read_call(source, record, described)) ? described
                                                                                   : NULL;
}

static bool as_events_add_object(struct allocs_event_source *source,
                                 const struct hatf_record *record, uint64_t address,
                                 uint32_t thread)
{
    struct described_call room = {0, 0, false};
    const struct described_call *call = as_events_describe(source, record, &room);
    if (call == NULL)
        return false;
    struct trace_event *event = as_events_add(source, EVENT_OBJECT_ALLOC, record->time);
    event->object = ++source->object_count;
    event->size = record->size;
    event->class_id = call->class_id;
    event->stack_id = call->frame;
    event->thread_id = thread;
    event->flags = call->is_existing ? TRACE_EXISTING : 0;
    struct live_object object = {
        .object = live_address_key(address), .value = event->object, .class_id = call->class_id};
    return object_table_put(&source->objects, &object);
}

static bool end_object(struct allocs_event_source *source, const struct hatf_record *record)
{
    struct live_object object;
    if (!object_table_take(&source->objects, live_address_key(record->address), &object)) {
        note_unknown(source, record);
        return false;
    }
    struct trace_event *event = as_events_add(source, EVENT_OBJECT_FREE, record->time);
    event->object = object.value;
    event->class_id = object.class_id;
    return true;
}

/* Returns false if out of memory. */
static bool as_events_take(struct allocs_event_source *source, const struct hatf_record *record)
{
    bool begins = record->tag == HATF_CREATE_THREAD;
    if (record->tag == HATF_COMMENT)
        return true;
    uint32_t thread = as_events_thread_of(source, record->thread, record->time, true);
    bool reported = source->count > 0;
    if (thread == 0 && record->thread != 0)
        return false;
    switch (record->tag) {
    case HATF_ALLOC:
        return as_events_add_object(source, record, record->address, thread);
    case HATF_FREE:
        end_object(source, record);
        return true;
    case HATF_REALLOC_NO_ALLOC:
        return record->new_address == 0 || !end_object(source, record) ||
               as_events_add_object(source, record, record->new_address, thread);
    case HATF_CREATE_THREAD:
    case HATF_DESTROY_THREAD:
        if (!begins || !reported)
            as_events_add(source, begins ? EVENT_THREAD_BEGIN : EVENT_THREAD_END, record->time)
                ->thread_id = thread;
        return true;
    default:
        return true;
    }
}

/* Produces the next events.  Returns END after the last. */
static enum step_status as_events_advance(struct allocs_event_source *source,
                                          struct step_error *error)
{
    struct hatf_record record;
    source->at = source->count = 0;
    if (source->ended)
        return STEP_STATUS_END;
    enum step_status status = alloc_source_next(source->records, &record, error);
    if (status != STEP_STATUS_OK && status != STEP_STATUS_END)
        return status;
    if (status == STEP_STATUS_END && source->records->may_grow)
        return status;
    if (!source->begun) {
        uint64_t first_ns = status == STEP_STATUS_OK ? record.time : 0;
        source->begun = true;
        as_events_add(source, EVENT_VM_START, first_ns);
        as_events_add(source, EVENT_VM_INIT, first_ns);
    }
    if (status == STEP_STATUS_END) {
        source->ended = true;
        as_events_add(source, EVENT_VM_DEATH, source->last_ns);
        return STEP_STATUS_OK;
    }
    return as_events_take(source, &record) ? STEP_STATUS_OK
                                           : step_no_memory(error, source->base.path);
}

static enum step_status as_events_read(struct event_source *base, struct trace_event *events,
                                       size_t capacity, size_t *count, struct step_error *error)
{
    struct allocs_event_source *source = (struct allocs_event_source *) base;
    size_t filled = 0;
    enum step_status status = STEP_STATUS_OK;
    while (filled < capacity && status == STEP_STATUS_OK) {
        if (source->at == source->count) {
            status = as_events_advance(source, error);
            continue;
        }
        events[filled] = source->pending[source->at++];
        if (!event_source_follow(base, &events[filled]))
            return step_no_memory(error, base->path);
        filled += event_source_takes(base, &events[filled]);
    }
    *count = filled;
    return status == STEP_STATUS_END && filled > 0 ? STEP_STATUS_OK : status;
}

static double as_events_progress(struct event_source *base)
{
    struct allocs_event_source *source = (struct allocs_event_source *) base;
    return source->records->operations->progress(source->records);
}

static void as_events_destroy(struct event_source *base)
{
    struct allocs_event_source *source = (struct allocs_event_source *) base;
    alloc_source_destroy(source->records);
    object_table_reset(&source->objects);
    name_index_reset(&source->classes);
    name_index_reset(&source->threads);
    recorded_calls_reset(&source->calls);
    id_table_reset(&source->described);
    event_source_reset(base);
    free(source);
}

static const struct event_source_operations operations = {
    .read = as_events_read,
    .progress = as_events_progress,
    .destroy = as_events_destroy,
};

enum step_status record_trace_source_create(struct alloc_source *records,
                                            const struct event_selection *selected,
                                            struct event_source **out, struct step_error *error)
{
    struct allocs_event_source *source = calloc(1, sizeof *source);
    if (source == NULL) {
        alloc_source_destroy(records);
        return no_memory(error);
    }
    event_source_init(&source->base, &operations, records->path, selected);
    source->base.content = TRACE_OF_ALLOCATIONS;
    source->base.about.inner = &records->about;
    source->records = records;
    id_table_init(&source->described, sizeof(struct described_call));
    *out = &source->base;
    return STEP_STATUS_OK;
}

uint32_t record_trace_source_thread(struct event_source *base, uint64_t number)
{
    return as_events_thread_of((struct allocs_event_source *) base, number, 0, false);
}

uint32_t record_trace_source_class(struct event_source *base, const char *call)
{
    struct allocs_event_source *source = (struct allocs_event_source *) base;
    size_t count = source->count;
    uint32_t id = as_events_class_of(
        source, (struct step_bytes){(const uint8_t *) call, strlen(call)}, source->last_ns);
    source->count = count; /* emit no event for the class */
    return id;
}
