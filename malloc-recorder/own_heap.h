/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder's own memory, from mmap: what it and the libraries under it allocate
 * never touches the program's heap, and is told from it by its address.
 */
#ifndef MALLOC_RECORDER_OWN_HEAP_H
#define MALLOC_RECORDER_OWN_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void *own_heap_alloc(size_t size, size_t alignment);
void *own_heap_calloc(size_t count, size_t size);
void *own_heap_resize(void *block, size_t size);
void own_heap_free(void *block);

/* Bytes that were asked for. */
size_t own_heap_size(const void *block);

/* Where the memory lies; both 0 until the first allocation. */
extern uintptr_t own_heap_start, own_heap_end;
static inline bool own_heap_has(const void *block)
{
    return (uintptr_t) block - own_heap_start < own_heap_end - own_heap_start;
}

/* Around fork(): nobody is in the heap meanwhile. */
void own_heap_lock(void);
void own_heap_unlock(void);
/* In a child that was forked while others may have been in the heap: what lives stays, what was
 * free is lost. */
void own_heap_reset(void);

#endif
