/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks the machine's frames of the calling thread, a few nanoseconds a frame, where JVMTI's walk
 * takes 200: what it finds tells stacks apart and names nothing.  docs/stack-walking.md.
 */
#ifndef FRAME_WALK_H
#define FRAME_WALK_H

#include <jni.h>

#include "code_cache.h"
#include "stack_known.h"

/* What is kept for a thread. */
struct frame_walker;

/* Once, after the JVM has initialised itself: whether frames can be walked here.  If not, `*reason`
 * tells why. */
bool frame_walk_prepare(JNIEnv *jni, const char **reason);

/* For the calling thread; NULL: it cannot be walked. */
struct frame_walker *frame_walker_create(JNIEnv *jni);
void frame_walker_destroy(struct frame_walker *walker);

/* The key of the thread's innermost Java frames, of so many at least: stacks with equal keys and
 * equal `most` are equal in their `most` innermost frames.  False: the stack has a frame that is
 * not understood. */
bool frame_walk(struct frame_walker *walker, uint32_t most, struct stack_key *key);

#endif
