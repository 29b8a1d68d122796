/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the JVM keeps where a reference points to: the object's address, in a form of its own, which
 * changes when the object moves.  It is compared, never followed.
 */
#ifndef AGENT_HOTSPOT_SLOTS_H
#define AGENT_HOTSPOT_SLOTS_H

#include <jni.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

extern _Atomic bool slots_readable;

/* Once a session, on a Java thread: whether it is so in this JVM. */
void slots_prove(JNIEnv *jni);

/* 0 where it is not known; different words may mean one object, equal ones, as long as nothing was
 * collected, one. */
static inline uintptr_t slot_word(jobject reference)
{
    if (__builtin_expect(!atomic_load_explicit(&slots_readable, memory_order_relaxed), 0))
        return 0;
    return __atomic_load_n((const uintptr_t *) ((uintptr_t) reference & ~(uintptr_t) 7),
                           __ATOMIC_RELAXED);
}

/* Only while nothing moves, and where the JVM keeps plain addresses: see agent/deaths/recycle.h. */
static inline void slot_set(jobject reference, uintptr_t word)
{
    __atomic_store_n((uintptr_t *) ((uintptr_t) reference & ~(uintptr_t) 7), word,
                     __ATOMIC_RELAXED);
}

#endif
