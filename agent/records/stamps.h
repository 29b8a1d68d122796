/* SPDX-License-Identifier: Apache-2.0 */
/* The stamps of a stream's records. */
#ifndef AGENT_RECORDS_STAMPS_H
#define AGENT_RECORDS_STAMPS_H

#include "agent/base/tracer.h"

/* False: they count (tracer.tick; resolution=none). */
bool stamps_are_times(const struct session *session);
/* How stamps become the trace's ticks. */
void stamps_describe(const struct session *session, struct step_live_header *header);
/* From now on all events have the stamp of VM init; and no more. */
void stamps_freeze(struct session *session);
void stamps_go_on(struct session *session);
/* While they are frozen: a stream has gone so far all the same, never beyond the clock. */
void stamps_advance(struct session *session, uint64_t stamp);
/* Of those that died by the last collection: when it ended.  Counted, it is what tracer.tick was
 * before: whatever happened then has that at the most, and of one tick frees come last. */
uint64_t stamp_of_collection(const struct session *session);
/* Returns when the clock has come so far, which is a tick or two away; at once if it is further:
 * the clock has gone back (a process restored on another machine), and nobody waits until it has
 * caught up. */
void stamps_wait_for(uint64_t stamp);
/* Counted stamps are greater from now on. */
void stamps_go_beyond(uint64_t tick);

/* The time of an event in the stream: never before the event before. */
static inline uint64_t stream_stamp(struct live_stream *stream, uint64_t stamp)
{
    if (stamp > stream->last_stamp)
        stream->last_stamp = stamp;
    return stream->last_stamp;
}

/* That of an event that happens now. */
static inline uint64_t thread_stamp(const struct session *session, struct live_stream *stream)
{
    return stream_stamp(stream, tracer_stamp(session));
}

/* The same of one that names objects of any thread: not before what a stream went to while stamps
 * were frozen. */
static inline uint64_t naming_stamp(const struct session *session, struct live_stream *stream)
{
    uint64_t latest = atomic_load_explicit(&session->stamps.latest_frozen, memory_order_acquire);
    uint64_t stamp = tracer_stamp(session);
    return stream_stamp(stream, stamp > latest ? stamp : latest);
}

/* The same as thread_stamp(), at half the cost, for an event that follows from nothing that another
 * thread did just now: it may be a few hundred instructions early.  So it is of one that names no
 * object, and of the allocation of a known class: whoever else names the object has it from a store
 * that comes after this. */
static inline uint64_t thread_stamp_unordered(const struct session *session,
                                              struct live_stream *stream)
{
    uint64_t frozen = atomic_load_explicit(&session->stamps.frozen, memory_order_acquire);
    return stream_stamp(stream, frozen != 0 ? tracer_stamp_without_clock(frozen)
                                            : clock_raw_unordered() - tracer.scale.zero);
}

#endif
