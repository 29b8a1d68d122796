/* SPDX-License-Identifier: Apache-2.0 */
/* Which blocks lie in heaps of the program's own: a free does not say. */
#ifndef MALLOC_RECORDER_HEAP_BLOCKS_H
#define MALLOC_RECORDER_HEAP_BLOCKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Before the allocation is recorded; and the heap of a block that is freed next, 0: none. */
void heap_blocks_put(const void *block, uint64_t heap);
uint64_t heap_blocks_take_slowly(const void *block);
/* All blocks of the heap are gone. */
void heap_blocks_drop(uint64_t heap);

extern _Atomic uint64_t heap_blocks_count;

static inline uint64_t heap_blocks_take(const void *block)
{
    if (__builtin_expect(atomic_load_explicit(&heap_blocks_count, memory_order_relaxed) == 0, 1))
        return 0;
    return heap_blocks_take_slowly(block);
}

/* Around fork(). */
void heap_blocks_lock(void);
void heap_blocks_unlock(void);
/* In a child that was forked while others may have been at it; false: somebody was. */
bool heap_blocks_adopt(void);
/* There are none. */
void heap_blocks_reset(void);

#endif
