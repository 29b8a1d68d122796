/* SPDX-License-Identifier: Apache-2.0 */
/* Where the decoding of each stream of a live file stands, and its clock: for both kinds of
 * decoder. */
#ifndef FORMAT_LIVE_LIVE_STREAMS_H
#define FORMAT_LIVE_LIVE_STREAMS_H

#include "format/live/constructor_window.h"
#include "steptrace/live.h"
#include "steptrace/writer.h"

struct stream_state {
    uint64_t next_record;
    uint64_t resumed; /* records below this number are in the trace file already */
    uint64_t thread;
    uint64_t last_ticks;
    uint64_t last_ns; /* of a stamp that came to last_ticks, rounded down to a tick */
    uint64_t heap;    /* of a native program: which the next record is in */
    /* of a Java program: */
    uint64_t last_object;              /* of the allocations in this chunk */
    uint64_t last_stamp;               /* in this chunk */
    struct constructor_window *window; /* NULL until a constructor is seen */
    uint64_t stack;                    /* the frame that they come from */
    unsigned run_groups;               /* what the stream's runs have (live_runs.c) */
};

/* States by number, in pages that are made when the first of their streams comes: a number costs
 * memory only if it is used.  Zero-initialised is empty. */
struct live_streams {
    struct stream_state **pages;
    size_t page_count;
};

void live_streams_reset(struct live_streams *streams);
/* The stream's state, made if need be, to go on behind what the writer has of it.  NULL: no such
 * number, or out of memory. */
struct stream_state *live_streams_at(struct live_streams *streams, const struct step_writer *writer,
                                     uint64_t stream);
/* The same, but NULL for a stream that was not made. */
struct stream_state *live_streams_find(const struct live_streams *streams, uint64_t stream);
/* Above the numbers of all streams. */
uint64_t live_streams_end(const struct live_streams *streams);
uint64_t live_streams_next_record(const struct live_streams *streams, uint64_t stream);
/* The latest time of any stream, in ticks. */
uint64_t live_streams_latest(const struct live_streams *streams);

/* A header's clock that nothing can be divided by 0 with. */
struct step_live_header live_clock(const struct step_live_header *header);

static inline uint64_t live_stamp_ns(const struct step_live_header *clock, uint64_t stamp)
{
    return (uint64_t) ((unsigned __int128) stamp * clock->clock_multiplier >> clock->clock_shift);
}

/* The trace's ticks of a stamp, and never before the stream's last. */
static inline uint64_t live_later_ticks(const struct step_live_header *clock,
                                        struct stream_state *state, uint64_t stamp)
{
    uint64_t ns = live_stamp_ns(clock, stamp);
    uint64_t resolution = clock->resolution_ns;
    if (ns - state->last_ns < resolution) /* most events: no division for them */
        return state->last_ticks;
    uint64_t ticks = ns / resolution;
    if (ticks <= state->last_ticks)
        return state->last_ticks;
    state->last_ticks = ticks;
    state->last_ns = ticks * resolution;
    return ticks;
}

#endif
