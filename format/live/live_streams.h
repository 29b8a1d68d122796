/* SPDX-License-Identifier: Apache-2.0 */
/* State of decoding each stream of a live file, and its clock, shared by the decoders for Java and
 * native programs. */
#ifndef FORMAT_LIVE_LIVE_STREAMS_H
#define FORMAT_LIVE_LIVE_STREAMS_H

#include "format/live/constructor_window.h"
#include "steptrace/live.h"
#include "steptrace/writer.h"

struct stream_state {
    uint64_t next_record;
    uint64_t resumed; /* records below this number are already in the trace file */
    uint64_t thread;
    uint64_t last_ticks;
    uint64_t last_ns; /* of the stamp that gave last_ticks, rounded down to a tick */
    uint64_t heap;    /* native programs: heap of the next record */
    /* Java programs: */
    uint64_t last_object;              /* of the allocations in this chunk */
    uint64_t last_stamp;               /* in this chunk */
    struct constructor_window *window; /* NULL until a constructor is seen */
    uint64_t stack;                    /* frame of the allocations */
    unsigned run_groups;               /* groups in the stream's runs (live_runs.c) */
};

/* States by stream number, in pages created on first use, so that memory depends on the numbers in
 * use.  Zero-initialise. */
struct live_streams {
    struct stream_state **pages;
    size_t page_count;
};

void live_streams_reset(struct live_streams *streams);
/* Returns the stream's state, created if needed to continue after the records that the writer has.
 * NULL: invalid number, or out of memory. */
struct stream_state *live_streams_at(struct live_streams *streams, const struct step_writer *writer,
                                     uint64_t stream);
/* Like live_streams_at(), but NULL for a stream without state. */
struct stream_state *live_streams_find(const struct live_streams *streams, uint64_t stream);
/* Returns a number above those of all streams. */
uint64_t live_streams_end(const struct live_streams *streams);
uint64_t live_streams_next_record(const struct live_streams *streams, uint64_t stream);
/* Returns the latest time of any stream, in ticks. */
uint64_t live_streams_latest(const struct live_streams *streams);

/* Returns the header with a clock that cannot cause a division by 0. */
struct step_live_header live_clock(const struct step_live_header *header);

static inline uint64_t live_stamp_ns(const struct step_live_header *clock, uint64_t stamp)
{
    return (uint64_t) ((unsigned __int128) stamp * clock->clock_multiplier >> clock->clock_shift);
}

/* Returns the trace's ticks of a stamp, never less than the stream's last. */
static inline uint64_t live_later_ticks(const struct step_live_header *clock,
                                        struct stream_state *state, uint64_t stamp)
{
    uint64_t ns = live_stamp_ns(clock, stamp);
    uint64_t resolution = clock->resolution_ns;
    if (ns - state->last_ns < resolution) /* most events need no division */
        return state->last_ticks;
    uint64_t ticks = ns / resolution;
    if (ticks <= state->last_ticks)
        return state->last_ticks;
    state->last_ticks = ticks;
    state->last_ns = ticks * resolution;
    return ticks;
}

#endif
