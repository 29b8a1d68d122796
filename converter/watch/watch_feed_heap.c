/* SPDX-License-Identifier: Apache-2.0 */
/* A native program's trace, to the end of the file and then to that of the live file. */
#include "converter/watch/watch_feed.h"

/* Rows of another source have other numbers. */
enum step_status watch_feed_end_heap(struct watch_feed *feed, struct step_error *error)
{
    if (!feed->heap.is_running || feed->tail.state == WATCH_RUNNING)
        return STEP_STATUS_OK;
    watch_model_drop_rows(&feed->model);
    feed->model.total.shown = (struct watch_sums){0};
    feed->model.has_mark = false;
    return watch_feed_restart(feed, error);
}

/* A program that is faster than its trace is read is not followed for ever. */
#define FOLLOWS_MOST 4u

/* Whether there is more of the file to read. */
static enum step_status look_for_more(struct watch_feed *feed, struct step_error *error)
{
    size_t blocks = step_reader_block_count(feed->tail.reader);
    bool opened_anew;
    enum step_status status = watch_tail_refresh(&feed->tail, &opened_anew, error);
    bool has_grown = step_reader_block_count(feed->tail.reader) != blocks;
    if (status != STEP_STATUS_OK ||
        (feed->tail.state == WATCH_RUNNING && (!has_grown || feed->heap.follows++ >= FOLLOWS_MOST)))
        return status;
    feed->heap.at_end = false;
    return watch_feed_end_heap(feed, error);
}

/* The live file is told of where the trace has not grown since it was read, nor while that was
 * done: what was in the one is in the other then. */
static enum step_status follow(struct watch_feed *feed, struct step_error *error)
{
    enum step_status status = look_for_more(feed, error);
    if (status != STEP_STATUS_OK || !feed->heap.at_end)
        return status;
    if (watch_heap_clock_is_new(&feed->heap, &feed->tail))
        return watch_feed_restart(feed, error);
    watch_model_begin_pending(&feed->model);
    status = watch_heap_peek(&feed->heap, &feed->tail, &feed->model, &feed->tail.dropped, error);
    if (status == STEP_STATUS_OK)
        status = look_for_more(feed, error);
    if (!feed->heap.at_end) /* it is told once more */
        watch_model_begin_pending(&feed->model);
    feed->heap.has_peeked = feed->heap.at_end;
    feed->heap.follows = feed->heap.at_end ? 0 : feed->heap.follows;
    return status;
}

enum step_status watch_feed_read_heap(struct watch_feed *feed, uint64_t slice_ns, bool *more,
                                      struct step_error *error)
{
    struct watch_heap *heap = &feed->heap;
    double until = watch_feed_cpu_ns() + (double) slice_ns;
    enum step_status status = STEP_STATUS_OK;
    bool done = false;
    heap->at_end = heap->has_peeked = false;
    while (status == STEP_STATUS_OK && !done && watch_feed_cpu_ns() < until) {
        status = watch_heap_read(heap, &feed->model, error);
        if (status == STEP_STATUS_OK && heap->at_end && heap->is_running)
            status = follow(feed, error);
        done = heap->at_end && (heap->has_peeked || !heap->is_running);
    }
    *more = !done;
    feed->next = done ? step_reader_block_count(feed->tail.reader) : 0;
    return status;
}
