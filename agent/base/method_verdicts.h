/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked about methods on the stack, and answers that are kept. */
#ifndef AGENT_BASE_METHOD_VERDICTS_H
#define AGENT_BASE_METHOD_VERDICTS_H

#include "agent/base/tracer.h"
#include "format/core/hash.h"

#define VERDICTS 256u

/* Of what was judged lately, in no order: its key, which is even, and the verdict in the lowest
 * bit.  Any thread may ask and tell. */
struct verdicts {
    _Atomic uint64_t slots[VERDICTS];
};

static inline _Atomic uint64_t *verdict_slot(struct verdicts *verdicts, uint64_t key)
{
    return &verdicts->slots[(step_hash(key) >> 20) % VERDICTS];
}

/* A place for the method in a table.  A jmethodID is a name that is compared and passed to the JVM,
 * never an address to read from: since JDK 26 it is a small number. */
static inline size_t method_slot(jmethodID method, size_t slots)
{
    return (size_t) (step_hash((uintptr_t) method) >> 20) % slots;
}

/* False: there is no verdict. */
static inline bool verdict_recall(struct verdicts *verdicts, uint64_t key, bool *verdict)
{
    uint64_t slot = atomic_load_explicit(verdict_slot(verdicts, key), memory_order_relaxed);
    *verdict = (slot & 1) != 0;
    return key != 0 && (slot & ~UINT64_C(1)) == key;
}

static inline void verdict_keep(struct verdicts *verdicts, uint64_t key, bool verdict)
{
    atomic_store_explicit(verdict_slot(verdicts, key), key | verdict, memory_order_relaxed);
}

/* The key of a verdict on a method. */
static inline uint64_t verdict_key(jmethodID method)
{
    return (uint64_t) (uintptr_t) method << 1;
}

/* Does the signature of the class that declares the method pass?  False if that is not known. */
bool method_owner_passes(JNIEnv *jni, jmethodID method, bool (*test)(const char *signature));

#endif
