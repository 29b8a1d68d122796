/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of the agent's memory. */
#include "agent/base/memory.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic uint64_t counted[MEMORY_COUNT];

void memory_add(enum memory_part part, size_t bytes)
{
    atomic_fetch_add_explicit(&counted[part], bytes, memory_order_relaxed);
}

void memory_subtract(enum memory_part part, size_t bytes)
{
    atomic_fetch_sub_explicit(&counted[part], bytes, memory_order_relaxed);
}

void *memory_counted(enum memory_part part, void *block)
{
    if (block != NULL)
        memory_add(part, malloc_usable_size(block));
    return block;
}

void memory_free(enum memory_part part, void *block)
{
    if (block != NULL)
        memory_subtract(part, malloc_usable_size(block));
    free(block);
}

uint64_t memory_of(enum memory_part part)
{
    return atomic_load_explicit(&counted[part], memory_order_relaxed);
}

void memory_trim(void)
{
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
}
