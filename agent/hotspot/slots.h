/* SPDX-License-Identifier: Apache-2.0 */
/* Slots: the words that JNI references point to. A slot holds the object's address, in the JVM's
 * own form, which changes when the object moves. It is compared, never dereferenced. */
#ifndef AGENT_HOTSPOT_SLOTS_H
#define AGENT_HOTSPOT_SLOTS_H

#include <jni.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

extern _Atomic bool slots_readable;

/* Call once per session, on a Java thread: tests whether slots can be read in this JVM. */
void slots_prove(JNIEnv *jni);

/* Returns the reference's slot, or 0 if slots are not readable. Different words may mean one
 * object. Equal words mean one object as long as there was no collection.
 *
 * The low bits of a reference say of which kind it is (local, global, weak) and are removed. The
 * load is relaxed: the word is a hint, or it is read in a hold, which brings its own order. A torn
 * value is impossible, as the slot is an aligned word. */
static inline uintptr_t slot_word(jobject reference)
{
    if (__builtin_expect(!atomic_load_explicit(&slots_readable, memory_order_relaxed), 0))
        return 0;
    return __atomic_load_n((const uintptr_t *) ((uintptr_t) reference & ~(uintptr_t) 7),
                           __ATOMIC_RELAXED);
}

/* Call only while nothing moves, and if the JVM stores plain addresses: see agent/deaths/recycle.h.
 * Relaxed is enough: hold_end(), which follows, releases the store to the pause that waits for
 * holds. */
static inline void slot_set(jobject reference, uintptr_t word)
{
    __atomic_store_n((uintptr_t *) ((uintptr_t) reference & ~(uintptr_t) 7), word,
                     __ATOMIC_RELAXED);
}

#endif
