/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers, from 1, of the heaps that the program makes or names.  A number is never used again.
 */
#ifndef MALLOC_RECORDER_HEAP_NUMBERS_H
#define MALLOC_RECORDER_HEAP_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

/* By keys other than 0: what names a heap while it lives.  0: no heap has that. */
uint64_t heap_number_find(uintptr_t key);
/* A new one where there is none; `*is_new` says so.  0: out of memory. */
uint64_t heap_number_make(uintptr_t key, bool *is_new);
/* The heap is no more, the next that gets its key is another. */
void heap_number_end(uintptr_t key);
/* Around fork(). */
void heap_numbers_lock(void);
void heap_numbers_unlock(void);
/* In a child that was forked while others may have been at it; false: somebody was. */
bool heap_numbers_adopt(void);
/* There are none. */
void heap_numbers_reset(void);

#endif
