/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the call stack of the calling thread. */
#ifndef MALLOC_RECORDER_STACKS_STACK_WALK_H
#define MALLOC_RECORDER_STACKS_STACK_WALK_H

#include <stdint.h>

/* Stores at most `most` return addresses, the innermost first, without those in this library.
 * `end` is the end of the thread's stack, which is not exceeded.  On another stack there is only
 * one address, `caller`. */
unsigned stack_walk(uintptr_t *addresses, unsigned most, uintptr_t end, uintptr_t caller);

/* Returns the end of the calling thread's stack, or 0 if it is unknown. */
uintptr_t stack_end(void);

/* Call after a library was unloaded: drops cached rules of its code. */
void stack_walk_forget(void);

#endif
