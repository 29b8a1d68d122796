/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the machine frames of the calling thread, in a few nanoseconds per frame, where JVMTI takes
 * 200. The result distinguishes stacks but names no methods. See docs/stack-walking.md. */
#ifndef AGENT_STACKS_FRAME_WALK_H
#define AGENT_STACKS_FRAME_WALK_H

#include <jni.h>

#include "agent/hotspot/code_cache.h"
#include "agent/stacks/stack_known.h"
#include "format/core/hash.h"

/* State of a thread. */
struct frame_walker;

/* frame_walk_prepare() is called once, after the JVM has initialised itself. It returns true if
 * frames can be walked; otherwise it sets `*reason`. After that, frame_walk_sees_carriers() returns
 * false if threads that carry virtual threads, or did, must not be walked, since nothing shows
 * whether their frames continue in the heap (JDK 21). */
bool frame_walk_sees_carriers(void);
bool frame_walk_prepare(JNIEnv *jni, const char **reason);

/* For the calling thread. Returns NULL if it cannot be walked. */
struct frame_walker *frame_walker_create(void);
void frame_walker_destroy(struct frame_walker *walker);

/* What a walk can meet, each of which is read in its own way. Bits. */
enum frame_kind {
    FRAME_INTERPRETED,
    FRAME_COMPILED, /* one method's */
    FRAME_INLINED,  /* of several methods */
    FRAME_STUB,
    FRAME_ENTRY, /* native code that called Java */
    FRAME_KINDS
};

/* The number of frames that identify a stack. */
struct frame_limit {
    uint32_t wanted;
    uint32_t passed; /* innermost frames that are skipped, and always exist */
    uint32_t making; /* at most so many following frames may be skipped as well */
    uint64_t salt;   /* selects, together with the frames, how many of them */
};

/* The salt of a class's stacks in a session, while methods have this age (method_changes.h). No two
 * of them share one: a thread keeps what it knows by keys from one session to the next, in which
 * the classes have other numbers. */
static inline uint64_t frame_salt(uint64_t session, uint64_t class, uint32_t age)
{
    return step_hash_join(step_hash_join(step_hash_join(0, session), class), age);
}

/* A machine frame that methods have. */
struct trail_frame {
    struct frame_hash hash; /* of its methods, inlined ones too */
    uintptr_t pc;           /* of compiled code; 0: it is interpreted */
    uint32_t index;         /* interpreted: the bytecode's, plus one; 0: a native method */
    struct stack_key path;  /* for composed_stacks.c */
};

/* The machine frames of a walk that methods have, from the innermost outwards. More were met than
 * are here if `count` is above `capacity`. */
struct frame_trail {
    uint64_t unloaded; /* classes, before the walk */
    uint32_t making;   /* how many of the frames make the object, or MAKING_UNKNOWN */
    uint32_t count, capacity;
    struct trail_frame frames[];
};

#define MAKING_UNKNOWN UINT32_MAX

/* Computes the key of the thread's innermost Java frames. Stacks with equal keys, found with equal
 * limits, are equal in the wanted frames. `jni` must be the thread's current one: a native thread
 * that detaches and attaches again gets another. Fills the trail, unless it is NULL. Returns false
 * if a frame cannot be walked. */
bool frame_walk(struct frame_walker *walker, JNIEnv *jni, const struct frame_limit *limit,
                struct stack_key *key, struct frame_trail *trail);

/* A method of a frame; `index` as above. */
struct walked_method {
    struct frame_hash hash;
    uint32_t index;
};

/* Lists the methods of a frame of the last trail, from the innermost outwards. Returns how many
 * there are; 0: they are not to be had. */
size_t frame_walk_methods(struct frame_walker *walker, const struct trail_frame *frame,
                          struct walked_method methods[FRAMES_INLINED_MOST]);

/* Returns the kinds of frames that the last walk met. */
uint32_t frame_walk_kinds(const struct frame_walker *walker);

/* Call after a walk: `making` frames of its stack make the object. */
void frame_walk_learn(struct frame_walker *walker, uint32_t making);

#endif
