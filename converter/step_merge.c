/* SPDX-License-Identifier: Apache-2.0 */
/* A heap of streams, and the rules for those tied at one tick. */
#include "step_merge.h"

#include <stdlib.h>
#include <string.h>

/* Streams at one tick, of which none can go on, are let go one by one up to this many. */
enum { TIE_PATIENCE = 64 };

/* A queue that is not loaded goes before others of its tick: its first event is to be known before
 * the order at that tick is decided. */
static bool goes_before(const struct step_stream_queue *a, const struct step_stream_queue *b)
{
    if (a->ticks != b->ticks)
        return a->ticks < b->ticks;
    if (a->has_event != b->has_event)
        return !a->has_event;
    if (a->rank != b->rank)
        return a->rank < b->rank;
    return a->stream < b->stream;
}

static void sift_down(struct step_merge *merge, size_t at)
{
    struct step_stream_queue **heap = merge->heap;
    struct step_stream_queue *queue = heap[at];
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= merge->heap_count)
            break;
        if (child + 1 < merge->heap_count && goes_before(heap[child + 1], heap[child]))
            child++;
        if (!goes_before(heap[child], queue))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = queue;
}

static void push(struct step_merge *merge, struct step_stream_queue *queue)
{
    size_t at = merge->heap_count++;
    while (at > 0 && goes_before(queue, merge->heap[(at - 1) / 2])) {
        merge->heap[at] = merge->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    merge->heap[at] = queue;
}

static struct step_stream_queue *pop(struct step_merge *merge)
{
    struct step_stream_queue *top = merge->heap[0];
    merge->heap[0] = merge->heap[--merge->heap_count];
    if (merge->heap_count > 0)
        sift_down(merge, 0);
    return top;
}

/* Block numbers sorted by stream; those of one stream keep their order. */
struct block_place {
    uint64_t stream;
    size_t number;
};

static int compare_places(const void *left, const void *right)
{
    const struct block_place *a = left;
    const struct block_place *b = right;
    if (a->stream != b->stream)
        return a->stream < b->stream ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static void make_queues(struct step_merge *merge, const struct block_place *places, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        merge->blocks[i] = places[i].number;
        if (i > 0 && places[i].stream == places[i - 1].stream) {
            merge->queues[merge->queue_count - 1].block_count++;
            continue;
        }
        merge->queues[merge->queue_count++] = (struct step_stream_queue){
            .stream = places[i].stream, .blocks = &merge->blocks[i], .block_count = 1};
    }
}

enum step_status step_merge_init(struct step_merge *merge, struct step_streams *streams,
                                 const struct live_table *live, struct step_error *error)
{
    size_t count = step_reader_block_count(streams->reader);
    *merge = (struct step_merge){.streams = streams, .live = live};
    struct block_place *places = calloc(count + 1, sizeof *places);
    merge->blocks = calloc(count + 1, sizeof *merge->blocks);
    if (places == NULL || merge->blocks == NULL)
        goto no_memory;
    for (size_t i = 0; i < count; i++)
        places[i] = (struct block_place){step_reader_block_info(streams->reader, i)->stream, i};
    qsort(places, count, sizeof *places, compare_places);
    size_t stream_count = 0;
    for (size_t i = 0; i < count; i++)
        stream_count += i == 0 || places[i].stream != places[i - 1].stream;
    merge->queues = calloc(stream_count + 1, sizeof *merge->queues);
    merge->heap = calloc(stream_count + 1, sizeof *merge->heap);
    merge->tied = calloc(stream_count + 1, sizeof *merge->tied);
    if (merge->queues == NULL || merge->heap == NULL || merge->tied == NULL)
        goto no_memory;
    make_queues(merge, places, count);
    free(places);
    for (size_t i = 0; i < merge->queue_count; i++) {
        step_stream_start(streams, &merge->queues[i]);
        if (step_stream_is_open(&merge->queues[i]))
            push(merge, &merge->queues[i]);
    }
    return STEP_STATUS_OK;
no_memory:
    free(places);
    return step_error_set(error, STEP_STATUS_NO_MEMORY, NULL, STEP_NO_OFFSET, "out of memory");
}

void step_merge_reset(struct step_merge *merge)
{
    for (size_t i = 0; i < merge->queue_count; i++)
        step_stream_close(merge->streams, &merge->queues[i]);
    free(merge->queues);
    free(merge->blocks);
    free(merge->heap);
    free(merge->tied);
    *merge = (struct step_merge){0};
}

/* Loads what must be known of the top of the heap; afterwards the top has an event, or the heap is
 * empty. */
static enum step_status settle_top(struct step_merge *merge, struct step_error *error)
{
    while (merge->heap_count > 0 && !merge->heap[0]->has_event) {
        enum step_status status = step_stream_load(merge->streams, merge->heap[0], error);
        if (status != STEP_STATUS_OK)
            return status;
        if (step_stream_is_open(merge->heap[0]))
            sift_down(merge, 0);
        else
            pop(merge);
    }
    return STEP_STATUS_OK;
}

/* The earliest time of the heap's queues but the top; UINT64_MAX: there is none. */
static uint64_t second_ticks(const struct step_merge *merge)
{
    uint64_t ticks = merge->heap_count > 1 ? merge->heap[1]->ticks : UINT64_MAX;
    if (merge->heap_count > 2 && merge->heap[2]->ticks < ticks)
        ticks = merge->heap[2]->ticks;
    return ticks;
}

static bool top_is_alone(const struct step_merge *merge)
{
    return merge->heap_count == 1 || merge->heap[0]->ticks < second_ticks(merge);
}

/* Moves all queues with an event at the heap's first tick to `tied`. */
static enum step_status collect_ties(struct step_merge *merge, struct step_error *error)
{
    merge->tie_ticks = merge->heap[0]->ticks;
    for (;;) {
        enum step_status status = settle_top(merge, error);
        if (status != STEP_STATUS_OK)
            return status;
        if (merge->heap_count == 0 || merge->heap[0]->ticks > merge->tie_ticks)
            return STEP_STATUS_OK;
        merge->tied[merge->tied_count++] = pop(merge);
    }
}

static bool must_wait(const struct step_merge *merge, const struct trace_event *event)
{
    return merge->live != NULL && event->object != 0 &&
           (event->kind == STEP_TEXT_MN || event->kind == STEP_TEXT_OF) &&
           !live_table_has(merge->live, event->object);
}

/* The tied queue that goes on: the first of the lowest rank that need not wait. */
static size_t choose_tied(const struct step_merge *merge)
{
    size_t first = 0;
    uint8_t rank = UINT8_MAX;
    for (size_t i = 0; i < merge->tied_count; i++) {
        if (merge->tied[i]->rank < rank) {
            rank = merge->tied[i]->rank;
            first = i;
        }
    }
    size_t seen = 0;
    for (size_t i = first; i < merge->tied_count && seen < TIE_PATIENCE; i++) {
        if (merge->tied[i]->rank != rank)
            continue;
        if (!must_wait(merge, &merge->tied[i]->event))
            return i;
        seen++;
    }
    return first;
}

/* Takes the queue out of `tied`: it has no more events at this tick. */
static void untie(struct step_merge *merge, struct step_stream_queue *queue)
{
    size_t at = 0;
    while (merge->tied[at] != queue)
        at++;
    merge->tied_count--;
    memmove(&merge->tied[at], &merge->tied[at + 1],
            (merge->tied_count - at) * sizeof(struct step_stream_queue *));
    if (step_stream_is_open(queue))
        push(merge, queue);
}

/* Moves past the event that was given last. */
static enum step_status leave_current(struct step_merge *merge, struct step_error *error)
{
    struct step_stream_queue *queue = merge->current;
    enum step_status status = STEP_STATUS_OK;
    merge->current = NULL;
    step_stream_advance(merge->streams, queue);
    if (merge->current_is_tied) {
        if (!queue->has_event && queue->ticks <= merge->tie_ticks)
            status = step_stream_load(merge->streams, queue, error);
        if (!queue->has_event || queue->ticks > merge->tie_ticks)
            untie(merge, queue);
    } else if (step_stream_is_open(queue)) {
        sift_down(merge, 0);
    } else {
        pop(merge);
    }
    return status;
}

static enum step_status give(struct step_merge *merge, struct step_stream_queue *queue,
                             bool is_tied, const struct trace_event **event, uint64_t *ticks)
{
    merge->current = queue;
    merge->current_is_tied = is_tied;
    *event = &queue->event;
    *ticks = queue->ticks;
    return STEP_STATUS_OK;
}

enum step_status step_merge_next(struct step_merge *merge, const struct trace_event **event,
                                 uint64_t *ticks, struct step_error *error)
{
    enum step_status status = STEP_STATUS_OK;
    if (merge->current != NULL)
        status = leave_current(merge, error);
    if (status != STEP_STATUS_OK)
        return status;
    if (merge->tied_count == 0) {
        status = settle_top(merge, error);
        if (status != STEP_STATUS_OK)
            return status;
        if (merge->heap_count == 0)
            return STEP_STATUS_END;
        if (top_is_alone(merge))
            return give(merge, merge->heap[0], false, event, ticks);
        status = collect_ties(merge, error);
        if (status != STEP_STATUS_OK)
            return status;
    }
    return give(merge, merge->tied[choose_tied(merge)], true, event, ticks);
}
