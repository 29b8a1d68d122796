/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers, from 1, of the heaps that the program creates or names.  Numbers are not reused. */
#ifndef MALLOC_RECORDER_HEAP_NUMBERS_H
#define MALLOC_RECORDER_HEAP_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

/* Returns the number of the heap with that key, which is not 0 and names the heap while it exists.
 * 0: no such heap. */
uint64_t heap_number_find(uintptr_t key);
/* Returns the heap's number, assigning a new one (`*is_new`) if needed. 0: out of memory. */
uint64_t heap_number_make(uintptr_t key, bool *is_new);
/* Ends the heap; a later heap with its key gets another number. */
void heap_number_end(uintptr_t key);
/* Call around fork(). */
void heap_numbers_lock(void);
void heap_numbers_unlock(void);
/* Call in a child forked while other threads may have used the table.  Returns false if one did. */
bool heap_numbers_adopt(void);
/* Removes all heaps. */
void heap_numbers_reset(void);

#endif
