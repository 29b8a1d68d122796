/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of empty references, which the reaper adds and threads take. */
#include "agent/deaths/recycle.h"

#include <stdlib.h>
#include <time.h>

#include "agent/base/exceptions.h"
#include "agent/base/internals.h"
#include "agent/deaths/reference_blocks.h"

/* References beyond this are deleted: 33 million, as many objects as die at once in a large young
 * generation. */
#define MOST_BATCHES 16384u
#define ATTEMPTS 1000
#define ATTEMPT_NS 1000000L

static struct {
    struct block_pool full;
    struct recycled *partial; /* being filled by the reaper, under its lock */
    _Atomic bool proven;
} pool = {.full.lock = PTHREAD_MUTEX_INITIALIZER};

void recycle_begin(void)
{
    atomic_store(&pool.proven, false);
}

/* Does it as soon as no collection is under way.  Returns false after a second. */
static bool hold_soon(struct os_thread *os, JNIEnv *jni, jobject object, hold_action *action,
                      void *context)
{
    for (int i = 0; i < ATTEMPTS; i++) {
        if (hold_with(os, jni, object, action, context))
            return true;
        nanosleep(&(struct timespec){0, ATTEMPT_NS}, NULL);
    }
    return false;
}

/* Two references, and whether the first has been set. */
struct recycle_proof {
    jweak cleared, own;
    bool alike;
};

/* Reads first, and writes only if all three words are as expected. The write is in the same hold as
 * the reads, so the address is that of the object. */
static void set_if_alike(uintptr_t word, void *context)
{
    struct recycle_proof *proof = context;
    proof->alike = word != 0 && slot_word(proof->own) == word && slot_word(proof->cleared) == 0;
    if (proof->alike)
        slot_set(proof->cleared, word);
}

static void empty(uintptr_t word, void *context)
{
    (void) word;
    slot_set(((struct recycle_proof *) context)->cleared, 0);
}

/* Returns true if the JVM stores an object's address in the slot of a weak reference of its own,
 * and follows an address that the agent has stored.
 *
 * Then the JVM is asked three questions outside of the hold, since JNI may wait for a pause;
 * meanwhile the collector treats the reference like any other. The slot is emptied in any case: a
 * wrong address must not stay in it. */
static bool shows(struct os_thread *os, JNIEnv *jni, jweak cleared, jobject object, jweak own)
{
    struct recycle_proof proof = {.cleared = cleared, .own = own};
    if (!hold_soon(os, jni, object, set_if_alike, &proof) || !proof.alike)
        return false;
    bool same = (*jni)->IsSameObject(jni, cleared, object) &&
                (*jni)->IsSameObject(jni, cleared, own) &&
                !(*jni)->IsSameObject(jni, cleared, NULL);
    return hold_soon(os, jni, object, empty, &proof) && same &&
           (*jni)->IsSameObject(jni, cleared, NULL);
}

static bool prove(struct os_thread *os, JNIEnv *jni, jweak cleared)
{
    jthrowable of_program = exception_set_aside(jni);
    jbyteArray object = (*jni)->NewByteArray(jni, 0);
    jweak own = object != NULL ? (*jni)->NewWeakGlobalRef(jni, object) : NULL;
    bool so = own != NULL && shows(os, jni, cleared, object, own);
    exception_restore(jni, of_program, own == NULL, THROWN_BY_ALLOCATION);
    if (own != NULL)
        (*jni)->DeleteWeakGlobalRef(jni, own);
    (*jni)->DeleteLocalRef(jni, object);
    return so;
}

void recycle_prove(const struct session *session, struct os_thread *os, JNIEnv *jni, jweak cleared)
{
    if (!internal_is_allowed(INTERNAL_RECYCLE))
        return;
    const char *refused = !session->places           ? "not with this collector"
                          : !prove(os, jni, cleared) ? "slots hold something else"
                                                     : NULL;
    internal_settled(INTERNAL_RECYCLE, refused);
    if (refused == NULL)
        atomic_store(&pool.proven, true);
}

/* Returns a batch with room for one more, or NULL. */
static struct recycled *partial_batch(void)
{
    if (pool.partial == NULL && pool.full.count < MOST_BATCHES &&
        (pool.partial = reference_block_take()) != NULL)
        pool.partial->count = 0;
    return pool.partial;
}

/* Called by the reaper under its lock, so `partial` needs none of its own. Threads take whole
 * batches; a batch is in the pool only when it is full, which makes one lock for some two thousand
 * objects. */
size_t recycle_give(const jweak *references, size_t count)
{
    size_t taken = 0;
    if (!atomic_load_explicit(&pool.proven, memory_order_relaxed))
        return 0;
    while (taken < count && partial_batch() != NULL) {
        struct recycled *batch = pool.partial;
        while (taken < count && batch->count < RECYCLED_BATCH)
            batch->references[batch->count++] = references[taken++];
        if (batch->count == RECYCLED_BATCH) {
            block_pool_give(&pool.full, batch);
            pool.partial = NULL;
        }
    }
    return taken;
}

struct recycled *recycle_turn(struct os_thread *os)
{
    struct recycled *batch = atomic_load_explicit(&pool.proven, memory_order_relaxed)
                                 ? block_pool_take(&pool.full)
                                 : NULL;
    if (batch != NULL)
        reference_block_give(atomic_exchange(&os->deaths.recycled, batch));
    return batch;
}

/* Returns the thread's batch, created at first use, if it is empty; else NULL. */
static struct recycled *own_batch(struct os_thread *os)
{
    struct recycled *batch = atomic_load_explicit(&os->deaths.recycled, memory_order_relaxed);
    if (batch == NULL && (batch = reference_block_take()) != NULL) {
        batch->count = 0;
        atomic_store(&os->deaths.recycled, batch);
    }
    return batch != NULL && batch->count == 0 ? batch : NULL;
}

/* Empties the references and keeps them for the thread. Returns false if they must not be touched
 * now. The JVM makes a reference for an object only, so all of these name the same one; that has to
 * be undone in a hold, as any write to a slot. */
static bool keep_for_later(struct os_thread *os, struct recycled *batch, const jweak *references,
                           size_t count)
{
    if (!hold_begin(os))
        return false;
    for (size_t i = 0; i < count; i++) {
        slot_set(references[i], 0);
        batch->references[i] = references[i];
    }
    batch->count = count;
    hold_end(os);
    return true;
}

jweak recycle_make(struct os_thread *os, JNIEnv *jni, jobject object)
{
    jweak made[RECYCLED_MADE];
    size_t count = 0, wanted = 1;
    bool recycles = atomic_load_explicit(&pool.proven, memory_order_relaxed);
    struct recycled *batch = recycles && !collections_may_be_silent() ? own_batch(os) : NULL;
    if (batch != NULL)
        wanted = RECYCLED_MADE;
    jthrowable of_program = exception_set_aside(jni);
    while (count < wanted && (made[count] = (*jni)->NewWeakGlobalRef(jni, object)) != NULL)
        count++;
    exception_restore(jni, of_program, count < wanted, THROWN_BY_ALLOCATION);
    if (count > 1 && !keep_for_later(os, batch, made + 1, count - 1))
        while (count > 1)
            (*jni)->DeleteWeakGlobalRef(jni, made[--count]);
    return count != 0 ? made[0] : NULL;
}

/* The thread's end and the reaper may both take the batch; the exchange gives it to one of them. */
void recycle_thread_ended(struct os_thread *os)
{
    struct recycled *batch = atomic_exchange(&os->deaths.recycled, NULL);
    if (batch == NULL || batch->count == 0) {
        reference_block_give(batch);
        return;
    }
    block_pool_give(&pool.full, batch);
}

static void delete_batch(JNIEnv *jni, struct recycled *batch)
{
    for (size_t i = 0; batch != NULL && i < batch->count; i++)
        (*jni)->DeleteWeakGlobalRef(jni, batch->references[i]);
    reference_block_give(batch);
}

void recycle_trim(JNIEnv *jni, bool all)
{
    struct block *batch = block_pool_trim(&pool.full, all);
    while (batch != NULL) {
        struct block *next = batch->next;
        delete_batch(jni, (struct recycled *) batch);
        batch = next;
    }
}

void recycle_clear(JNIEnv *jni)
{
    for (struct os_thread *os = threads_first(); os != NULL; os = os->next_all)
        recycle_thread_ended(os);
    delete_batch(jni, pool.partial);
    pool.partial = NULL;
    recycle_trim(jni, true);
}
