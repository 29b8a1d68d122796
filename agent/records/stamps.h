/* SPDX-License-Identifier: Apache-2.0 */
/* Stamps of a stream's records. */
#ifndef AGENT_RECORDS_STAMPS_H
#define AGENT_RECORDS_STAMPS_H

#include "agent/base/tracer.h"

/* Returns false if stamps count (tracer.tick; resolution=none). */
bool stamps_are_times(const struct session *session);
/* Sets how stamps are converted to the trace's ticks. */
void stamps_describe(const struct session *session, struct step_live_header *header);
/* Between these calls all events have the stamp of VM init. */
void stamps_freeze(struct session *session);
void stamps_go_on(struct session *session);
/* While stamps are frozen: a stream has gone as far as this stamp nevertheless, never beyond the
 * clock. */
void stamps_advance(struct session *session, uint64_t stamp);
/* Returns the stamp for objects that died by the last collection: its end. If stamps count, it is
 * tracer.tick before that end: everything until then has at most that stamp, and among equal stamps
 * frees come last. */
uint64_t stamp_of_collection(const struct session *session);
/* Returns when the clock has reached the stamp, which is a tick or two away. Returns at once if it
 * is further away: then the clock has gone back (a process restored on another machine). */
void stamps_wait_for(uint64_t stamp);
/* Returns when the tick of a stamp taken before the call is over, and lets each thread's next event
 * have a stamp. Does not wait for ticks of more than 200 us, nor while stamps are frozen. */
void stamps_pass_tick(const struct session *session);
/* Makes counted stamps greater than `tick` from now on. */
void stamps_go_beyond(uint64_t tick);

/* Returns the stamp of an event in the stream: never before the last event. Counters of two
 * processors may differ by a few ticks although the kernel has compared them, and a thread may move
 * between two events. Within a stream readers rely on rising times, and the short form of method
 * events cannot express a negative difference. */
static inline uint64_t stream_stamp(struct live_stream *stream, uint64_t stamp)
{
    if (stamp > stream->last_stamp)
        stream->last_stamp = stamp;
    return stream->last_stamp;
}

/* Returns the stamp of an event that happens now. */
static inline uint64_t thread_stamp(const struct session *session, struct live_stream *stream)
{
    return stream_stamp(stream, tracer_stamp(session));
}

/* Same, for an event that names objects of any thread: not before the latest stamp of a stream
 * while stamps were frozen. */
static inline uint64_t naming_stamp(const struct session *session, struct live_stream *stream)
{
    uint64_t latest = atomic_load_explicit(&session->stamps.latest_frozen, memory_order_acquire);
    uint64_t stamp = tracer_stamp(session);
    return stream_stamp(stream, stamp > latest ? stamp : latest);
}

/* Lets the pulse change with the next millisecond. */
void stamps_want_beat(void);

/* Returns true if the thread's next event needs no stamp (pulse.h). */
static inline bool stamp_is_spared(const struct live_stream *stream)
{
    return stream->events < stream->stamp_due &&
           stream->pulse == atomic_load_explicit(&tracer.pulse, memory_order_relaxed);
}

/* Reads the clock for the next event, a word or more, and says which of those after it need no
 * stamp. None, where this thread's events come slowly. The last word of a chunk has a stamp, as
 * those before it are interpolated within the chunk. The pulse is read before the clock: one that
 * comes between the two is noticed by the next event. Where it has changed, the clock is read after
 * it: what changed it has an earlier stamp. */
static inline uint64_t stamp_of_many(const struct session *session, struct live_stream *stream)
{
    uint64_t pulse = atomic_load_explicit(&tracer.pulse, memory_order_acquire);
    uint64_t raw = pulse != stream->pulse ? clock_raw() : clock_raw_unordered();
    uint64_t stamp = raw - tracer.scale.zero, every = session->stamps.every;
    uint64_t left = (uint64_t) (stream->end - stream->cursor);
    bool is_brisk =
        stamp - stream->last_stamp < session->stamps.brisk * (stream->events - stream->stamped);
    if (is_brisk && __builtin_expect(
                        atomic_load_explicit(&tracer.beat, memory_order_relaxed) != BEAT_WANTED, 0))
        stamps_want_beat();
    stream->stamp_due = is_brisk ? stream->events + (every < left ? every : left - 1) : 0;
    stream->stamped = stream->events;
    stream->pulse = pulse;
    return stamp;
}

/* Same as thread_stamp(), at half the cost, for an event that does not depend on what another
 * thread did just now: the stamp may be a few hundred instructions early. That holds for events
 * that name no object, and for allocations of known classes: another thread can only get the object
 * from a store that comes later. */
static inline uint64_t thread_stamp_unordered(const struct session *session,
                                              struct live_stream *stream)
{
    uint64_t frozen = atomic_load_explicit(&session->stamps.frozen, memory_order_acquire);
    return stream_stamp(stream, frozen != 0 ? tracer_stamp_without_clock(frozen)
                                : session->stamps.every != 0
                                    ? stamp_of_many(session, stream)
                                    : clock_raw_unordered() - tracer.scale.zero);
}

/* Same for an allocation of a known class. It may have the stamp of the thread's event before it:
 * an allocation may be early, but never later than it was, since another thread may use the object
 * at once. */
static inline uint64_t allocation_stamp(const struct session *session, struct live_stream *stream)
{
    return session->stamps.repeats && stamp_is_spared(stream)
               ? stream->last_stamp
               : thread_stamp_unordered(session, stream);
}

/* Each thread's next event gets a stamp. Call it after what they must not precede has its own. */
static inline void stamps_pulse(void)
{
    atomic_fetch_add_explicit(&tracer.pulse, 1, memory_order_release);
}

#endif
