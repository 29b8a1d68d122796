/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder's own memory, from mmap: allocations by the recorder, and by libraries on its
 * behalf, never touch the program's heap, and are recognised by their addresses.
 */
#ifndef MALLOC_RECORDER_OWN_HEAP_H
#define MALLOC_RECORDER_OWN_HEAP_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void *own_heap_alloc(size_t size, size_t alignment);
void *own_heap_calloc(size_t count, size_t size);
void *own_heap_resize(void *block, size_t size);
void own_heap_free(void *block);

/* Reserves addresses, at `wanted` if they are free there: `most` bytes, or half as many, ..., at
 * least `least`.  Leaves most addresses to a program with few of them: takes one part in `share`.
 * Returns NULL if there are none. */
void *address_range_reserve(void *wanted, uint64_t most, uint64_t least, unsigned share,
                            uint64_t *bytes);

/* Returns the requested size. */
size_t own_heap_size(const void *block);

/* Range of the memory; both are 0 until the first allocation. */
extern uintptr_t own_heap_start, own_heap_end;
static inline bool own_heap_has(const void *block)
{
    return (uintptr_t) block - own_heap_start < own_heap_end - own_heap_start;
}

/* To be held around fork(), so that no other thread is inside. */
extern pthread_mutex_t own_heap_lock;
/* Call in a child forked while other threads may have used the heap: live blocks are kept, free
 * ones are lost. */
void own_heap_reset(void);

#endif
