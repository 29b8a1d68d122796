/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hold: a few instructions of a thread in a probe during which no object moves.
 *
 * A thread that runs native code does not stop for a collection.  So it marks that it holds, looks
 * whether a collection is under way, and if not it may read an object's address and what lies
 * there, or put that address into a slot.  A collection announces itself (JVMTI's
 * GarbageCollectionStart, in the pause and before anything moves), then waits for the holds that
 * are.  Mark and announcement are each made before the other is looked for (a process-wide barrier
 * on the side of the collection, none on the side of the thread), so either the thread sees the
 * collection, or the collection sees the hold.
 *
 * Holds are refused until holds_allow(): where a collection moves objects unannounced or while the
 * program runs.
 */
#ifndef AGENT_RECORDS_HOLD_H
#define AGENT_RECORDS_HOLD_H

#include "agent/records/threads.h"

/* Collections announce themselves to holds_wait() and holds_go_on() from now on, or no more.
 * Allowing begins a new count of collections: those that nobody announced meanwhile have made every
 * address stale that was noted with the count before. */
void holds_allow(bool allowed);
/* Refuses holds until the process ends: collections are not announced, or marks are not seen in
 * order.  Any thread; it waits for no hold. */
void holds_forbid(void);
/* Whether the session's holds prove anything: no object moves unannounced. */
bool holds_are_good(const struct session *session);
/* In the pause, before objects move: no thread holds when this returns, nor begins to. */
void holds_wait(void);
/* In the pause, at its end. */
void holds_go_on(void);

extern _Atomic bool holds_refused;

/* False: nothing may be read now; ask the JVM. */
static inline bool hold_begin(struct os_thread *os)
{
    /* Lest a thread that asks again and again keeps the pause from finding it without its mark. */
    if (__builtin_expect(atomic_load_explicit(&holds_refused, memory_order_relaxed), 0))
        return false;
    atomic_store_explicit(&os->holds, 1, memory_order_relaxed);
    if (probes_need_fence)
        atomic_thread_fence(memory_order_seq_cst);
    else
        atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(!atomic_load_explicit(&holds_refused, memory_order_acquire), 1))
        return true;
    atomic_store_explicit(&os->holds, 0, memory_order_release);
    return false;
}

static inline void hold_end(struct os_thread *os)
{
    atomic_store_explicit(&os->holds, 0, memory_order_release);
}

#endif
