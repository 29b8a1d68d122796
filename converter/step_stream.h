/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One stream of a STEP trace, as a queue of events: its blocks one after the other, each loaded
 * when it is reached and freed when done.
 */
#ifndef CONVERTER_STEP_STREAM_H
#define CONVERTER_STEP_STREAM_H

#include "step_decode.h"

/* Order of events at one tick; the higher waits for the lower. */
enum stream_rank { RANK_GLOBAL = 0, RANK_BUFFER = 1, RANK_FREES = 2, RANK_LAST = 3 };

struct step_stream_queue {
    uint64_t stream;
    const size_t *blocks; /* numbers of its blocks, in order */
    size_t block_count;
    size_t next_block;
    struct step_block *block; /* the block being read, or NULL */
    /* The event at the front, when there is one; else `ticks` is when the next block starts. */
    bool has_event;
    uint8_t rank; /* of the event, or of what may come */
    uint64_t ticks;
    struct trace_event event;
};

/* What the streams of a trace share. */
struct step_streams {
    struct step_decoder decoder;
    struct step_reader *reader; /* borrowed */
    const struct trace_wish *wish;
    bool keep_live;
    uint8_t *wanted;      /* by record of the file: decoded in blocks of the slice */
    uint8_t *wanted_live; /* in blocks outside of it: allocations and frees */
    struct step_block *spare;
    uint64_t from_ticks;
    uint64_t to_ticks;
    uint64_t thread_id; /* of wish->thread */
    uint64_t bytes_done;
};

enum step_status step_streams_init(struct step_streams *streams, struct step_reader *reader,
                                   struct trace_names *names, const struct trace_wish *wish,
                                   bool keep_live, struct step_error *error);
void step_streams_reset(struct step_streams *streams);

/* Puts the queue before its first event. */
void step_stream_start(struct step_streams *streams, struct step_stream_queue *queue);
/* True while there may be further events. */
bool step_stream_is_open(const struct step_stream_queue *queue);
/* Loads the next block, if no event is at the front.  Afterwards the queue has an event, or is not
 * open.  Damaged blocks are passed over (the reader keeps note of them). */
enum step_status step_stream_load(struct step_streams *streams, struct step_stream_queue *queue,
                                  struct step_error *error);
/* Drops the event at the front; the next of the block takes its place. */
void step_stream_advance(struct step_streams *streams, struct step_stream_queue *queue);
void step_stream_close(struct step_streams *streams, struct step_stream_queue *queue);

#endif
