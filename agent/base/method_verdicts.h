/* SPDX-License-Identifier: Apache-2.0 */
/* Questions about methods on the stack, and a cache of the answers. */
#ifndef AGENT_BASE_METHOD_VERDICTS_H
#define AGENT_BASE_METHOD_VERDICTS_H

#include "agent/base/tracer.h"
#include "format/core/hash.h"

#define VERDICTS 256u

/* Lossy cache of recent verdicts. A slot stores an even key, and the verdict in the lowest bit. Any
 * thread may read and write. */
struct verdicts {
    _Atomic uint64_t slots[VERDICTS];
};

static inline _Atomic uint64_t *verdict_slot(struct verdicts *verdicts, uint64_t key)
{
    return &verdicts->slots[(step_hash(key) >> 20) % VERDICTS];
}

/* Maps the method to a slot of a table. A jmethodID is only compared and passed to the JVM, never
 * dereferenced: since JDK 26 it is a small number. */
static inline size_t method_slot(jmethodID method, size_t slots)
{
    return (size_t) (step_hash((uintptr_t) method) >> 20) % slots;
}

/* Returns false if there is no verdict. */
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

/* Returns the key of a verdict on the method. */
static inline uint64_t verdict_key(jmethodID method)
{
    return (uint64_t) (uintptr_t) method << 1;
}

#endif
