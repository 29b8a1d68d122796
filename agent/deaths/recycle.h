/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weak references used again: where an object died, its weak global reference has a slot in the JVM
 * that holds nothing; the next object's address is put there, and neither the JVM's list of
 * references nor its lock is touched.
 *
 * The slot gets what NewWeakGlobalRef() would have put there: with collectors that move objects in
 * announced pauses only, the plain address.  The thread holds meanwhile (agent/records/hold.h), so
 * that no object moves between the reading of its address and the writing.
 */
#ifndef AGENT_DEATHS_RECYCLE_H
#define AGENT_DEATHS_RECYCLE_H

#include "agent/hotspot/slots.h"
#include "agent/records/hold.h"

#define RECYCLED_BATCH 510u
#define RECYCLED_AHEAD 8u /* a slot is fetched so many objects before it is used */
#define RECYCLED_MADE                                                                              \
    64u /* new references at a time: the JVM makes each under a lock of its own                    \
         */

/* A batch of references whose slots are empty. */
struct recycled {
    struct recycled *next;
    size_t count;
    jweak references[RECYCLED_BATCH];
};

/* Where `cleared`, a weak reference that the JVM says is cleared, shows that it works; else
 * references are not used again in this session.  The reference is empty afterwards. */
void recycle_prove(const struct session *session, struct os_thread *os, JNIEnv *jni, jweak cleared);
/* A session begins: nothing is proven. */
void recycle_begin(void);

/* Takes over references whose slots are empty; how many, the rest is the caller's. */
size_t recycle_give(const jweak *references, size_t count);
/* Another batch for a thread that has used up its own; NULL: there is none. */
struct recycled *recycle_turn(struct os_thread *os);
/* A new weak reference to the object, and some for the thread's next ones; NULL: out of memory. */
jweak recycle_make(struct os_thread *os, JNIEnv *jni, jobject object);
/* A collection is over: gives back some of what was never used since the one before. */
void recycle_trim(JNIEnv *jni);
/* The thread ends, or the session has: what the thread has left is for others.  Both may call this
 * at one time. */
void recycle_thread_ended(struct os_thread *os);
/* All of them go back to the JVM; no thread may be in a probe. */
void recycle_clear(JNIEnv *jni);

/* One of the batch, which is not empty, to the object that lies there; nothing moves meanwhile. */
static inline jweak recycle_at(struct recycled *batch, uintptr_t place)
{
    jweak reference = batch->references[--batch->count];
    if (batch->count >= RECYCLED_AHEAD)
        __builtin_prefetch((void *) batch->references[batch->count - RECYCLED_AHEAD], 1);
    slot_set(reference, place);
    return reference;
}

/* The calling thread's batch, not empty; NULL: there is none. */
static inline struct recycled *recycle_batch(struct os_thread *os)
{
    struct recycled *batch = atomic_load_explicit(&os->deaths.recycled, memory_order_relaxed);
    return __builtin_expect(batch != NULL && batch->count != 0, 1) ? batch : recycle_turn(os);
}

/* A weak reference to the object; NULL: there is none to use again. */
static inline jweak recycle_for(struct os_thread *os, jobject object)
{
    struct recycled *batch = recycle_batch(os);
    if (__builtin_expect(batch == NULL, 0))
        return NULL;
    if (__builtin_expect(!hold_begin(os), 0))
        return NULL;
    jweak reference = recycle_at(batch, slot_word(object));
    hold_end(os);
    return reference;
}

#endif
