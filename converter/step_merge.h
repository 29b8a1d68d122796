/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The streams of a STEP trace merged into one order: by time; at one tick the global stream first,
 * then the buffers, then the frees, and VM death last.  A stream's own order is never changed, so a
 * trace of one stream comes as it is.  Between buffers tied at one tick, an event that uses an
 * object waits until another has told of its allocation; where nobody can, it goes on.
 */
#ifndef CONVERTER_STEP_MERGE_H
#define CONVERTER_STEP_MERGE_H

#include "step_stream.h"

struct step_merge {
    struct step_streams *streams;  /* borrowed */
    const struct live_table *live; /* borrowed; says which objects were told of; NULL: no waiting */
    struct step_stream_queue *queues;
    size_t *blocks; /* what the queues' block lists point into */
    size_t queue_count;
    struct step_stream_queue **heap; /* the open queues that are not in `tied`, earliest first */
    size_t heap_count;
    struct step_stream_queue *
        *tied; /* those with events at tie_ticks, in order of rank and number */
    size_t tied_count;
    uint64_t tie_ticks;
    struct step_stream_queue *current; /* the one whose event was given last; it is not advanced */
    bool current_is_tied;
};

enum step_status step_merge_init(struct step_merge *merge, struct step_streams *streams,
                                 const struct live_table *live, struct step_error *error);
void step_merge_reset(struct step_merge *merge);

/* The next event, borrowed until the next call, and its time in ticks; END after the last. */
enum step_status step_merge_next(struct step_merge *merge, const struct trace_event **event,
                                 uint64_t *ticks, struct step_error *error);

#endif
