/* SPDX-License-Identifier: Apache-2.0 */
/* Call stacks as numbers: a frame consists of its address and its caller's frame. */
#ifndef MALLOC_RECORDER_STACKS_FRAME_TREE_H
#define MALLOC_RECORDER_STACKS_FRAME_TREE_H

#include <pthread.h>
#include <stdint.h>

/* Called once for each new frame, callers first, not concurrently.  Returns 0 if the frame could
 * not be recorded. */
typedef int (*frame_define)(void *user, uint64_t frame, uint64_t parent, uintptr_t address);

/* Returns the stack's innermost frame, from 1; 0: out of memory. */
uint64_t frame_tree_put(const uintptr_t *addresses, unsigned count, frame_define define,
                        void *user);

/* To be held around fork(). */
extern pthread_mutex_t frame_tree_lock;
/* Call for a new trace, which has no frames yet. */
void frame_tree_reset(void);

#endif
