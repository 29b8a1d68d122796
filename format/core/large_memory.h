/* SPDX-License-Identifier: Apache-2.0 */
/* Huge pages for large memory with random access, where each access would otherwise miss the
 * TLB. */
#ifndef FORMAT_CORE_LARGE_MEMORY_H
#define FORMAT_CORE_LARGE_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define LARGE_PAGE_BYTES ((uintptr_t) 1 << 21)

/* Requests huge pages for the part of the memory that is aligned to them.  Failure is harmless. */
static inline void large_memory_advise(void *memory, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    uintptr_t from = ((uintptr_t) memory + LARGE_PAGE_BYTES - 1) & ~(LARGE_PAGE_BYTES - 1);
    uintptr_t to = ((uintptr_t) memory + bytes) & ~(LARGE_PAGE_BYTES - 1);
    if (bytes >= 2 * LARGE_PAGE_BYTES && from < to)
        (void) madvise((void *) from, to - from, MADV_HUGEPAGE);
#else
    (void) memory, (void) bytes;
#endif
}

/* Returns a zeroed array, or NULL; freed with free(). */
static inline void *large_memory_zeroed(size_t count, size_t item_bytes)
{
    void *memory = calloc(count, item_bytes);
    if (memory != NULL)
        large_memory_advise(memory, count * item_bytes);
    return memory;
}

#endif
