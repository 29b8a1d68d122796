/* SPDX-License-Identifier: Apache-2.0 */
/* The heaps that the program creates or names, and the heap of each block in one of them, because a
 * free does not name the heap. */
#ifndef MALLOC_RECORDER_PROGRAM_HEAPS_H
#define MALLOC_RECORDER_PROGRAM_HEAPS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Numbers of heaps are from 1 and not reused. */

/* Returns the number of the heap with that key, which is not 0 and names the heap while it exists.
 * 0: no such heap. */
uint64_t heap_number_find(uintptr_t key);
/* Returns the heap's number, assigning a new one (`*is_new`) if needed. 0: out of memory. */
uint64_t heap_number_make(uintptr_t key, bool *is_new);
/* Ends the heap; a later heap with its key gets another number. */
void heap_number_end(uintptr_t key);

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

/* To be held around fork(). */
extern pthread_mutex_t program_heaps_lock;
/* Call in a child forked while other threads may have used the heaps.  Returns false if one did. */
bool program_heaps_adopt(void);
/* Removes all heaps and blocks. */
void program_heaps_reset(void);

#endif
