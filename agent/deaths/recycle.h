/* SPDX-License-Identifier: Apache-2.0 */
/* Recycles weak references: when an object has died, the slot of its weak global reference in the
 * JVM is empty. The agent stores the next object's address there, without the JVM's list of
 * references and its lock.
 *
 * The slot gets what NewWeakGlobalRef() would store: the plain address, with collectors that move
 * objects only in pauses. The thread is in a hold or leaf call meanwhile (agent/records/hold.h), so
 * that no object moves between reading its address and writing it. */
#ifndef AGENT_DEATHS_RECYCLE_H
#define AGENT_DEATHS_RECYCLE_H

#include "agent/deaths/reference_blocks.h"
#include "agent/hotspot/slots.h"
#include "agent/records/hold.h"

#define RECYCLED_BATCH ((REFERENCE_BLOCK_BYTES - 16u) / 8u)
#define RECYCLED_AHEAD 8u /* a slot is prefetched so many objects before it is used */
#define RECYCLED_MADE 64u /* new references at a time: each takes a lock */

/* A batch of references whose slots are empty. */
struct recycled {
    struct block in_pool;
    size_t count;
    jweak references[RECYCLED_BATCH];
};
_Static_assert(sizeof(struct recycled) == REFERENCE_BLOCK_BYTES, "a batch is a block");

/* Tests with `cleared`, a weak reference that the JVM reports as cleared, whether recycling works;
 * if not, the session does not recycle. The reference is empty afterwards. */
void recycle_prove(const struct session *session, struct os_thread *os, JNIEnv *jni, jweak cleared);
/* Call when a session begins: recycling is off until recycle_prove(). */
void recycle_begin(void);

/* Takes over references whose slots are empty. Returns how many; the rest stays with the caller. */
size_t recycle_give(const jweak *references, size_t count);
/* Returns another batch for a thread that has used up its own, or NULL. */
struct recycled *recycle_turn(struct os_thread *os);
/* Creates a weak reference to the object, and some for the thread's next ones. Returns NULL if out
 * of memory. */
jweak recycle_make(struct os_thread *os, JNIEnv *jni, jobject object);
/* Call after a collection: deletes some of the references that were unused since the one before, or
 * all. */
void recycle_trim(JNIEnv *jni, bool all);
/* Call when the thread ends or the session has ended: passes the thread's references to other
 * threads. Both may call this at the same time. */
void recycle_thread_ended(struct os_thread *os);
/* Deletes all of them; no thread may be in a probe. */
void recycle_clear(JNIEnv *jni);

/* Lets a reference of the batch, which is not empty, refer to the object at `place`. Call in a
 * hold.
 *
 * The hold is what makes this correct: between the caller's reading of the address and this store
 * nothing moves, and after hold_end() the collector finds in the slot what NewWeakGlobalRef() would
 * have put there. A store without a hold could come after the move and leave the object's old
 * address, which the collector would follow. It is a single aligned word, so the collector reads
 * the old value or the new one, never a mixture. */
static inline jweak recycle_at(struct recycled *batch, uintptr_t place)
{
    jweak reference = batch->references[--batch->count];
    if (batch->count >= RECYCLED_AHEAD)
        __builtin_prefetch((void *) batch->references[batch->count - RECYCLED_AHEAD], 1);
    slot_set(reference, place);
    return reference;
}

/* Returns the calling thread's batch, not empty, or NULL if there is none. */
static inline struct recycled *recycle_batch(struct os_thread *os)
{
    struct recycled *batch = atomic_load_explicit(&os->deaths.recycled, memory_order_relaxed);
    return __builtin_expect(batch != NULL && batch->count != 0, 1) ? batch : recycle_turn(os);
}

/* Returns a recycled weak reference to the object, or NULL if there is none. */
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
