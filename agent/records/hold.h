/* SPDX-License-Identifier: Apache-2.0 */
/* Holds and leaf calls: a few instructions of a thread in a probe during which no object moves.
 *
 * A thread that runs native code does not stop for a collection. So it marks that it holds, then
 * checks whether a collection is in progress. If not, it may read an object's address and contents,
 * or store that address in a slot. A collection announces itself (JVMTI's GarbageCollectionStart,
 * in the pause and before anything moves), then waits for existing holds. Mark and announcement are
 * each made before the check for the other (a process-wide barrier on the side of the collection,
 * none on the side of the thread). So either the thread sees the collection, or the collection sees
 * the hold.
 *
 * Holds are refused until holds_allow(), and if a collection moves objects unannounced or while the
 * program runs.
 *
 * A leaf call (agent/bytecode/leaf_calls.c) needs no hold: the thread is in Java code for the JVM,
 * and no pause begins before it has returned. So leaf calls may use addresses also where some
 * collections are silent, that is, not announced: all that is noted with an address is compared
 * with collections_seen(), which counts those, too, with the JVM's own counters. */
#ifndef AGENT_RECORDS_HOLD_H
#define AGENT_RECORDS_HOLD_H

#include "agent/records/threads.h"

/* The JVM's counters of young and full collections, if some of these are silent; NULL: none is.
 * Each counts up before the first object moves. The first is set last, and both once. */
extern const volatile int64_t *_Atomic silent_counters[2];

/* Says whether collections announce themselves to holds_wait() and holds_go_on() from now on, or
 * are counted by silent_counters: then threads in native code get no holds. Allowing begins a new
 * count of collections, which invalidates addresses stored with the old count: unannounced
 * collections may have moved their objects. */
void holds_allow(bool allowed);
/* Refuses holds until the process ends, because collections are not announced or marks are not seen
 * in order. Any thread. Does not wait for holds. */
void holds_forbid(void);
/* Returns true if the session can rely on holds: no object moves unannounced. */
bool holds_are_good(const struct session *session);
/* Returns true if leaf calls of the session can rely on addresses. */
bool places_are_good(const struct session *session);
/* What is done with an object's address: as in a hold, it calls nothing that could wait. */
typedef void hold_action(uintptr_t place, void *context);
/* Does it in a hold or, where collections may be silent, in a leaf call, for native code: some
 * microseconds. Returns false if it was not done: nothing may be read now. */
bool hold_with(struct os_thread *os, JNIEnv *jni, jobject object, hold_action *action,
               void *context);
/* Sets how leaf calls are made (agent/references/sights.h). */
typedef bool hold_leaf(struct os_thread *os, JNIEnv *jni, jobject object, hold_action *action,
                       void *context);
void holds_set_leaf(hold_leaf *call);
/* Call in the pause, before objects move. When it returns, no thread holds or begins to. */
void holds_wait(void);
/* Call in the pause, at its end. */
void holds_go_on(void);

extern _Atomic bool holds_refused;
extern _Atomic bool places_refused; /* to leaf calls, during which there is no pause */

static inline bool collections_may_be_silent(void)
{
    return __builtin_expect(atomic_load_explicit(&silent_counters[0], memory_order_relaxed) != NULL,
                            0);
}

/* Returns a number that has changed if an object may have moved. Between two calls in one leaf call
 * or hold it has not. */
static inline uint64_t collections_seen(void)
{
    uint64_t count = atomic_load_explicit(&tracer.collections_begun, memory_order_relaxed);
    if (collections_may_be_silent())
        for (int i = 0; i < 2; i++)
            count += (uint64_t) *atomic_load_explicit(&silent_counters[i], memory_order_relaxed);
    return count;
}

/* Begins a hold. Returns false if nothing may be read now; then ask the JVM.
 *
 * Two threads, each of which writes one word and then reads the other's:
 *
 *   - this one: holds = 1; compiler fence; if (holds_refused) undo
 *   - the pause: holds_refused = true; barrier of all processors; while (holds) wait
 *
 * As with probe_enter(), the barrier on the side of the pause is enough. If this thread's store was
 * not visible at the barrier, its load comes after it and reads true. The acquire load pairs with
 * the store of holds_go_on() that ended the last pause: what the collector has moved and written
 * before is visible here. The release store of hold_end() pairs with the acquire load in
 * wait_for_holds(): a slot that was set in the hold is visible to the collector, which is about to
 * update it.
 *
 * A hold contains no call that could block, fault or wait for a safepoint. The pause spins until it
 * is over, and the whole program stands still meanwhile. */
static inline bool hold_begin(struct os_thread *os)
{
    /* A thread that retries must not keep the pause from seeing it without its mark. */
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
