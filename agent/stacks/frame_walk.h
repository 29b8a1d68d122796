/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks the machine's frames of the calling thread, a few nanoseconds a frame, where JVMTI's walk
 * takes 200: what it finds tells stacks apart and names nothing.  docs/stack-walking.md.
 */
#ifndef AGENT_STACKS_FRAME_WALK_H
#define AGENT_STACKS_FRAME_WALK_H

#include <jni.h>

#include "agent/hotspot/code_cache.h"
#include "agent/stacks/stack_known.h"

/* What is kept for a thread. */
struct frame_walker;

/* Once, after the JVM has initialised itself: whether frames can be walked here.  If not, `*reason`
 * tells why. */
/* False: a thread must not be walked that carries virtual threads, or did, since nothing shows
 * whether its frames go on in the heap (JDK 21).  Once it is prepared. */
bool frame_walk_sees_carriers(void);
bool frame_walk_prepare(JNIEnv *jni, const char **reason);

/* For the calling thread; NULL: it cannot be walked. */
struct frame_walker *frame_walker_create(void);
void frame_walker_destroy(struct frame_walker *walker);

/* How many frames decide a stack. */
struct frame_limit {
    uint32_t wanted;
    uint32_t passed; /* frames that are passed over at the inner end, and always there */
    uint32_t making; /* that may follow and be passed over, too: 0 to so many */
    uint64_t salt;   /* decides with the frames how many of them are */
};

/* The key of the thread's innermost Java frames; stacks with equal keys, found with equal limits,
 * are equal in the frames that are wanted.  `jni` is the thread's own, now: a native thread that
 * detaches and attaches anew has another.  False: the stack has a frame that is not understood. */
bool frame_walk(struct frame_walker *walker, JNIEnv *jni, const struct frame_limit *limit,
                struct stack_key *key);

/* After a walk: of its stack, so many frames are `making`. */
void frame_walk_learn(struct frame_walker *walker, uint32_t making);

#endif
