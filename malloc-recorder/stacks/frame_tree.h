/* SPDX-License-Identifier: Apache-2.0 */
/* Call stacks as numbers: a frame is its address and its caller's frame. */
#ifndef MALLOC_RECORDER_STACKS_FRAME_TREE_H
#define MALLOC_RECORDER_STACKS_FRAME_TREE_H

#include <stdint.h>

/* Told of each new frame, callers first, one at a time; 0: it could not be told. */
typedef int (*frame_define)(void *user, uint64_t frame, uint64_t parent, uintptr_t address);

/* The stack's innermost frame, from 1; 0: there is no memory. */
uint64_t frame_tree_put(const uintptr_t *addresses, unsigned count, frame_define define,
                        void *user);

/* Around fork(); and for a new trace, which knows of no frames. */
void frame_tree_lock(void);
void frame_tree_unlock(void);
void frame_tree_reset(void);

#endif
