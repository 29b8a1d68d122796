/* SPDX-License-Identifier: Apache-2.0 */
/* The JVM's code cache: what code a return address lies in. */
#ifndef AGENT_HOTSPOT_CODE_CACHE_H
#define AGENT_HOTSPOT_CODE_CACHE_H

#include "agent/hotspot/vm_structs.h"

/* What tells the frames of methods apart: a hash over them from the innermost out, which is made up
 * of the hashes of parts; see frame_hash_join(). */
struct frame_hash {
    uint64_t low, high;
    uint32_t count; /* frames */
};

#define FRAMES_INLINED_MOST 255u

/* Of a return address.  It holds as long as the number at `check` is `id` and the byte at `used` is
 * not 0: memory of code that the JVM threw away is used again, numbers of compilations are not. */
struct code_place {
    uintptr_t pc;
    uintptr_t check, used;
    uint32_t id;
    uint16_t frame_words; /* 0: code whose frames cannot be walked */
    struct frame_hash
        frames; /* of the methods there, inlined ones too; none: a stub of the JVM's */
};

/* Once, before any lookup; false: the code cache is not as it should be. */
bool code_cache_prepare(const struct vm_structs *vm);

/* For a return address on the calling thread's stack, whose code cannot go away meanwhile. */
struct code_place code_cache_find(const struct vm_structs *vm, uintptr_t pc);

/* Once, before the others. */
void frame_hash_prepare(void);
/* Of a method of the JVM's at a bytecode's index and one; 0: it is native. */
struct frame_hash frame_hash_of(const struct vm_structs *vm, uintptr_t method, uint32_t index);
/* Appends the hash of frames farther out, FRAMES_INLINED_MOST of them at most. */
void frame_hash_join(struct frame_hash *hash, const struct frame_hash *outer);

/* The frames of compiled code at a return address; false: they are not known. */
bool code_scopes_read(const struct vm_structs *vm, uintptr_t nmethod, uintptr_t pc,
                      struct frame_hash *frames);

/* `pc` is not 0, as it is in a place that was never found. */
static inline bool code_place_holds(const struct code_place *place, uintptr_t pc)
{
    return place->pc == pc && vm_half(place->check, 0) == place->id &&
           *(const volatile uint8_t *) place->used != 0;
}

#endif
