/* SPDX-License-Identifier: Apache-2.0 */
/* Stamps of a session: from the clock, of the start snapshot, or counted. */
#include "agent/records/stamps.h"

/* A few hundred of the longest ticks that are waited for. */
#define LONGEST_WAIT_NS UINT64_C(200000)

bool stamps_are_times(const struct session *session)
{
    return session->options.resolution_ns != 0;
}

void stamps_describe(const struct session *session, struct step_live_header *header)
{
    bool timed = stamps_are_times(session);
    header->clock_zero = timed ? tracer.scale.zero : 0;
    header->clock_multiplier = timed ? tracer.scale.multiplier : 1;
    header->clock_shift = timed ? tracer.scale.shift : 0;
    header->resolution_ns = timed ? (uint32_t) session->options.resolution_ns : 1;
}

/* While the clock stands still, all that the start snapshot reports has the time of VM init, as the
 * trace's definition asks: what existed before has no other time. `first` is never 0, since 0 means
 * in `frozen` that the clock goes. It also marks what is older than the trace: frees and classes
 * compare with it. */
void stamps_freeze(struct session *session)
{
    uint64_t stamp = stamps_are_times(session) ? clock_raw() - tracer.scale.zero
                                               : atomic_fetch_add(&tracer.tick, 1) + 1;
    session->stamps.first = stamp != 0 ? stamp : 1;
    atomic_store(&session->stamps.frozen, session->stamps.first);
}

void stamps_go_on(struct session *session)
{
    if (!stamps_are_times(session))
        atomic_fetch_add(&tracer.tick, 1);
    atomic_store(&session->stamps.frozen, stamps_are_times(session) ? 0 : STAMPS_COUNTED);
}

/* A maximum without a lock. `tracer_is_starting()` is checked in each round: once the clock goes
 * on, later stamps are larger anyway. */
void stamps_advance(struct session *session, uint64_t stamp)
{
    uint64_t latest = atomic_load(&session->stamps.latest_frozen);
    while (latest < stamp && tracer_is_starting(session) &&
           !atomic_compare_exchange_weak(&session->stamps.latest_frozen, &latest, stamp))
        ;
}

/* The objects that a collection found have its end as their time, not the moment at which the
 * reaper found them: the reaper is later by its own speed, which is no property of the program. A
 * collection from before the session's zero has no time in it; then it is now. */
uint64_t stamp_of_collection(const struct session *session)
{
    uint64_t raw = atomic_load(&tracer.collection_raw);
    if (stamps_are_times(session))
        return raw > tracer.scale.zero ? raw - tracer.scale.zero : tracer_stamp(session);
    uint64_t tick = atomic_load(&tracer.collection_tick);
    return tick > session->stamps.first ? tick : session->stamps.first;
}

void stamps_wait_for(uint64_t stamp)
{
    uint64_t longest = tracer_stamps_of_ns(LONGEST_WAIT_NS);
    for (;;) {
        int64_t left = (int64_t) (stamp - (clock_raw() - tracer.scale.zero));
        if (left <= 0 || (uint64_t) left > longest)
            return;
        atomic_signal_fence(memory_order_seq_cst);
    }
}

void stamps_pass_tick(const struct session *session)
{
    uint64_t resolution_ns = session->options.resolution_ns;
    stamps_pulse();
    if (tracer_is_starting(session))
        return;
    if (!stamps_are_times(session)) {
        atomic_fetch_add(&tracer.tick, 1);
        return;
    }
    uint64_t ns = (uint64_t) ((unsigned __int128) tracer_stamp(session) * tracer.scale.multiplier >>
                              tracer.scale.shift);
    stamps_wait_for(tracer_stamps_of_ns(ns - ns % resolution_ns + resolution_ns) + 1);
}

void stamps_want_beat(void)
{
    if (atomic_exchange(&tracer.beat, BEAT_WANTED) == BEAT_ASLEEP)
        futex_wake(&tracer.beat);
}

void stamps_go_beyond(uint64_t tick)
{
    uint64_t now = atomic_load(&tracer.tick);
    while (now <= tick && !atomic_compare_exchange_weak(&tracer.tick, &now, tick + 1))
        ;
}
