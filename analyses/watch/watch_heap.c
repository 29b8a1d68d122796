/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selects the event source of a native program's trace, and reads its live file.  Frees in the live
 * file count immediately, in the order of their stream and without gaps, and are skipped when their
 * block arrives.  Births wait for their block, which has their call stacks; the frees show whether
 * they are alive.
 */
#include <stdlib.h>

#include "analyses/watch/watch_feed.h"
#include "converter/containers/no_memory.h"
#include "converter/files/trace_files.h"
#include "converter/files/trace_reader.h"
#include "converter/numbers/estimates.h"
#include "converter/step/stepfile.h"
#include "converter/trace/allocs_as_events.h"
#include "converter/trace/arrival_order.h"
#include "converter/trace/recorded_calls.h"
#include "format/core/grow.h"
#include "steptrace/live.h"

#define STREAMS_MOST (UINT64_C(1) << 24)

/* The range of a stream's record numbers that was taken from the live file. */
struct watch_seen {
    uint64_t from, to;
};

struct watch_birth {
    uint64_t address, time_ns, size, thread;
    uint32_t call;
};

struct peeking {
    struct watch_heap *heap;
    const struct watch_tail *tail;
    bool no_memory;
};

static struct watch_seen *seen_of(struct watch_heap *heap, uint64_t stream)
{
    if (heap->reported.entry_bytes == 0)
        id_table_init(&heap->reported, sizeof(struct watch_seen));
    return stream < STREAMS_MOST ? id_table_get(&heap->reported, (uint32_t) stream) : NULL;
}

static bool watch_heap_is_known(void *user, uint64_t stream, uint64_t number)
{
    struct watch_heap *heap = user;
    const struct watch_seen *reported = seen_of(heap, stream);
    return reported != NULL && number >= reported->from && number < reported->to;
}

static uint64_t written_of(void *user, uint64_t stream)
{
    struct peeking *peeking = user;
    uint64_t written = watch_tail_written(peeking->tail, stream);
    struct watch_seen *reported = seen_of(peeking->heap, stream);
    if (reported != NULL &&
        reported->to < written) /* the file has all of them, and they were read */
        *reported = (struct watch_seen){written, written};
    return written;
}

static bool add_birth(struct watch_heap *heap, const struct watch_birth *birth)
{
    if (!STEP_MAKE_ROOM(heap->births, heap->birth_capacity, heap->birth_count + 1))
        return false;
    heap->births[heap->birth_count++] = *birth;
    return true;
}

static void watch_heap_visit(void *user, const struct step_live_event *event)
{
    struct peeking *peeking = user;
    struct watch_heap *heap = peeking->heap;
    struct watch_seen *reported = seen_of(heap, event->stream);
    uint64_t time_ns = watch_tail_time_ns(peeking->tail, event->ticks);
    bool is_free = event->kind == STEP_LIVE_FREE_OBJECT, ok = true;
    bool is_resized = event->kind == STEP_LIVE_HEAP_REALLOC;
    bool is_next = reported != NULL && event->method == reported->to;
    if (is_next)
        reported->to++;
    if (is_next && (is_free || is_resized)) {
        const struct hatf_record record = {.tag = is_free ? HATF_FREE : HATF_REALLOC_NO_ALLOC,
                                           .time = time_ns,
                                           .address = event->object};
        ok = arrival_order_free(heap->order, &record);
    }
    if (!is_free && event->kind != STEP_LIVE_NONE && reported != NULL &&
        event->method < reported->to) {
        const struct watch_birth birth = {event->object, time_ns, event->size, event->thread,
                                          (uint32_t) event->class_};
        ok = add_birth(heap, &birth) && ok;
    }
    peeking->no_memory |= !ok;
}

static void watch_heap_define(void *user, const struct step_live_entry *entry)
{
    (void) user;
    (void) entry;
}

/* ---- births as events ---- */

static void pend_births(struct watch_heap *heap, struct watch_model *model)
{
    uint64_t thread = UINT64_MAX;
    uint32_t thread_id = 0, call = UINT32_MAX, class_id = 0;
    arrival_order_look(heap->order);
    for (size_t i = 0; i < heap->birth_count; i++)
        arrival_order_note_birth(heap->order, heap->births[i].address, heap->births[i].time_ns);
    for (size_t i = 0; i < heap->birth_count; i++) {
        const struct watch_birth *birth = &heap->births[i];
        if (birth->thread != thread)
            thread_id = record_trace_source_thread(heap->events, birth->thread);
        if (birth->call != call)
            class_id = record_trace_source_class(heap->events, recorded_call_text(birth->call));
        thread = birth->thread;
        call = birth->call;
        const struct trace_event event = {.kind = EVENT_OBJECT_ALLOC,
                                          .time_ns = birth->time_ns,
                                          .size = birth->size,
                                          .class_id = class_id,
                                          .thread_id = thread_id};
        watch_model_pend_object(
            model, &event, arrival_order_would_live(heap->order, birth->address, birth->time_ns));
    }
}

bool watch_heap_clock_is_new(struct watch_heap *heap, const struct watch_tail *tail)
{
    struct step_live_header header;
    if (!live_header_read(trace_live_path(tail->path).text, &header))
        return false;
    uint64_t before = heap->clock_multiplier;
    heap->clock_multiplier = header.clock_multiplier;
    return before != 0 && before != header.clock_multiplier;
}

enum step_status watch_heap_peek(struct watch_heap *heap, const struct watch_tail *tail,
                                 struct watch_model *model, uint64_t *dropped,
                                 struct step_error *error)
{
    struct peeking peeking = {heap, tail, false};
    const struct step_live_look look = {.user = &peeking,
                                        .written = written_of,
                                        .visit = watch_heap_visit,
                                        .define = watch_heap_define};
    heap->birth_count = 0;
    if (step_live_peek(trace_live_path(tail->path).text, &look, dropped, NULL) != STEP_STATUS_OK)
        return STEP_STATUS_OK; /* it has ended meanwhile */
    enum step_status status = peeking.no_memory ? no_memory(error) : STEP_STATUS_OK;
    heap->at_end = false;
    while (status == STEP_STATUS_OK && !heap->at_end) /* reads the deaths */
        status = watch_heap_read(heap, model, error);
    if (status == STEP_STATUS_OK)
        pend_births(heap, model);
    return status;
}

enum { EVENTS_AT_ONCE = 4096 };

static enum step_status open_running(struct watch_heap *heap, const struct watch_tail *tail,
                                     struct alloc_source **out, struct step_error *error)
{
    struct alloc_source *blocks;
    enum step_status status = stepfile_alloc_tail_create(tail->path, tail->reader, &blocks, error);
    if (status != STEP_STATUS_OK)
        return status;
    stepfile_alloc_tail_pass(blocks, watch_heap_is_known, heap);
    status = arrival_order_create(blocks, out, error);
    heap->order = status == STEP_STATUS_OK ? *out : NULL;
    return status;
}

static enum step_status open_ended(struct watch_heap *heap, const struct watch_tail *tail,
                                   struct alloc_source **out, struct step_error *error)
{
    struct step_reader *reader;
    enum step_status status = open_with_given_definition(tail->path, NULL, &reader, error);
    if (status == STEP_STATUS_OK)
        status = stepfile_alloc_source_create(tail->path, reader, out, error);
    heap->reader = status == STEP_STATUS_OK ? reader : NULL;
    return status;
}

enum step_status watch_heap_start_ordered(struct watch_heap *heap, const struct watch_tail *tail,
                                          struct watch_model *model, struct step_error *error)
{
    struct event_selection everything;
    struct step_reader *reader;
    event_selection_init(&everything);
    event_selection_mark_phases(&everything, &model->filter.selected);
    watch_heap_reset(heap);
    enum step_status status = open_with_given_definition(tail->path, NULL, &reader, error);
    if (status == STEP_STATUS_OK)
        status =
            stepfile_event_source_create(tail->path, reader, &everything, &heap->events, error);
    if (status != STEP_STATUS_OK)
        return status;
    heap->reader = reader;
    model->names = &heap->events->names;
    sample_weights_reset(&model->weights);
    return sample_weights_read(&model->weights, heap->events, error);
}

enum step_status watch_heap_start(struct watch_heap *heap, const struct watch_tail *tail,
                                  struct watch_model *model, struct step_error *error)
{
    struct event_selection everything;
    struct alloc_source *records;
    event_selection_init(&everything); /* the model applies the selection */
    watch_heap_reset(heap);
    heap->is_running = tail->state == WATCH_RUNNING;
    enum step_status status = heap->is_running ? open_running(heap, tail, &records, error)
                                               : open_ended(heap, tail, &records, error);
    if (status == STEP_STATUS_OK)
        status = record_trace_source_create(records, &everything, &heap->events, error);
    if (status != STEP_STATUS_OK)
        heap->reader = NULL;
    if (status == STEP_STATUS_OK)
        model->names = &heap->events->names;
    return status;
}

void watch_heap_reset(struct watch_heap *heap)
{
    if (heap->events != NULL)
        heap->events->operations->destroy(heap->events);
    id_table_reset(&heap->reported);
    free(heap->births);
    *heap = (struct watch_heap){.events = NULL};
}

enum step_status watch_heap_read(struct watch_heap *heap, struct watch_model *model,
                                 struct step_error *error)
{
    struct trace_event events[EVENTS_AT_ONCE];
    size_t count = 0;
    enum step_status status =
        heap->events->operations->read(heap->events, events, EVENTS_AT_ONCE, &count, error);
    for (size_t i = 0; i < count && status == STEP_STATUS_OK; i++)
        watch_model_put(model, &events[i]);
    heap->events_put += count;
    heap->at_end = status == STEP_STATUS_END;
    if (heap->at_end)
        watch_model_finish(model);
    if (model->no_memory)
        return no_memory(error);
    return status == STEP_STATUS_END ? STEP_STATUS_OK : status;
}
