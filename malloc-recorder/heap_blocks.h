/* SPDX-License-Identifier: Apache-2.0 */
/* The heaps of blocks that are in heaps of the program, because a free does not name the heap. */
#ifndef MALLOC_RECORDER_HEAP_BLOCKS_H
#define MALLOC_RECORDER_HEAP_BLOCKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* heap_blocks_put() stores a block's heap; call it before the allocation is recorded.
 * heap_blocks_take() removes a block that is about to be freed and returns its heap; 0: none. */
void heap_blocks_put(const void *block, uint64_t heap);
uint64_t heap_blocks_take_slowly(const void *block);
/* Removes all blocks of the heap. */
void heap_blocks_drop(uint64_t heap);

extern _Atomic uint64_t heap_blocks_count;

static inline uint64_t heap_blocks_take(const void *block)
{
    if (__builtin_expect(atomic_load_explicit(&heap_blocks_count, memory_order_relaxed) == 0, 1))
        return 0;
    return heap_blocks_take_slowly(block);
}

/* Call around fork(). */
void heap_blocks_lock(void);
void heap_blocks_unlock(void);
/* Call in a child forked while other threads may have used the table.  Returns false if one did. */
bool heap_blocks_adopt(void);
/* Empties the table. */
void heap_blocks_reset(void);

#endif
