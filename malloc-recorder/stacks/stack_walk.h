/* SPDX-License-Identifier: Apache-2.0 */
/* The call stack of the calling thread. */
#ifndef MALLOC_RECORDER_STACKS_STACK_WALK_H
#define MALLOC_RECORDER_STACKS_STACK_WALK_H

#include <stdint.h>

/* Return addresses, the innermost first, without those in this library; at most `most`.  `end` is
 * the end of the thread's stack: nothing beyond is read; where the thread is on another stack there
 * is one address, `caller`. */
unsigned stack_walk(uintptr_t *addresses, unsigned most, uintptr_t end, uintptr_t caller);

/* The end of the calling thread's stack; 0: nobody knows. */
uintptr_t stack_end(void);

/* A library has gone: what is remembered of its instructions holds no longer. */
void stack_walk_forget(void);

#endif
