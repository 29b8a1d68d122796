/* SPDX-License-Identifier: Apache-2.0 */
/* Which source, and its events. */
#include "converter/watch/watch_heap.h"

#include "converter/base/given_definition.h"
#include "converter/base/no_memory.h"
#include "converter/step/stepfile.h"
#include "converter/trace/allocs_as_events.h"
#include "converter/trace/arrival_order.h"

enum { EVENTS_AT_ONCE = 4096 };

static enum step_status open_running(struct watch_heap *heap, const struct watch_tail *tail,
                                     struct alloc_source **out, struct step_error *error)
{
    struct alloc_source *blocks;
    enum step_status status = stepfile_alloc_tail_create(tail->path, tail->reader, &blocks, error);
    if (status != STEP_STATUS_OK)
        return status;
    stepfile_alloc_tail_pass(blocks, watch_heap_is_told, heap);
    status = arrival_order_create(blocks, out, error);
    heap->order = status == STEP_STATUS_OK ? *out : NULL;
    return status;
}

static enum step_status open_ended(struct watch_heap *heap, const struct watch_tail *tail,
                                   struct alloc_source **out, struct step_error *error)
{
    struct step_reader *reader;
    enum step_status status = open_with_given_definition(tail->path, &reader, error);
    if (status == STEP_STATUS_OK)
        status = stepfile_alloc_source_create(tail->path, reader, out, error);
    heap->reader = status == STEP_STATUS_OK ? reader : NULL;
    return status;
}

enum step_status watch_heap_start(struct watch_heap *heap, const struct watch_tail *tail,
                                  struct watch_model *model, struct step_error *error)
{
    struct event_selection everything;
    struct alloc_source *records;
    event_selection_init(&everything); /* the model selects */
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
    watch_heap_forget(heap);
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
    if (model->no_memory)
        return no_memory(error);
    return status == STEP_STATUS_END ? STEP_STATUS_OK : status;
}
