/* SPDX-License-Identifier: Apache-2.0 */
/* The JVM's code cache: finds the code at a return address. */
#ifndef AGENT_HOTSPOT_CODE_CACHE_H
#define AGENT_HOTSPOT_CODE_CACHE_H

#include "agent/hotspot/vm_structs.h"

/* A hash that distinguishes the frames of methods, from the innermost outwards. It is combined from
 * hashes of parts; see frame_hash_join(). */
struct frame_hash {
    uint64_t low, high;
    uint32_t count; /* number of frames */
};

#define FRAMES_INLINED_MOST 255u

/* A method at a bytecode's index plus one; 0: it is native. */
struct code_frame {
    uintptr_t method;
    uint32_t index;
};

/* The code at a return address. Valid as long as the number at `check` is `id` and the byte at
 * `used` is not 0: the JVM reuses the memory of discarded code, but not compile ids. */
struct code_place {
    uintptr_t pc;
    uintptr_t check, used;
    uint32_t id;
    uint16_t frame_words; /* 0: code whose frames cannot be walked */
    struct frame_hash
        frames; /* of the methods there, including inlined ones; none: a stub of the JVM */
};

/* Call once, before any lookup. Returns false if the code cache has an unexpected layout. */
bool code_cache_prepare(const struct vm_structs *vm);

/* Looks up a return address on the calling thread's stack, whose code cannot be freed meanwhile. */
struct code_place code_cache_find(const struct vm_structs *vm, uintptr_t pc);

/* Lists the methods at a place, from the innermost outwards, and returns how many there are. 0: the
 * place no longer holds, or is a stub. */
size_t code_place_methods(const struct vm_structs *vm, const struct code_place *place,
                          struct code_frame methods[FRAMES_INLINED_MOST]);

/* Call once, before the functions below. */
void frame_hash_prepare(void);
/* Returns the hash of a method at a bytecode index plus one; 0: it is native. */
struct frame_hash frame_hash_of(const struct vm_structs *vm, uintptr_t method, uint32_t index);

/* Powers of the two factors, by exponent; see frame_hash_prepare(). */
struct frame_hash_powers {
    uint64_t low[FRAMES_INLINED_MOST + 1], high[FRAMES_INLINED_MOST + 1];
};
extern struct frame_hash_powers frame_hash_powers;

/* Appends the hash of outer frames, at most FRAMES_INLINED_MOST of them. It is a polynomial hash:
 * appending n frames multiplies by the n-th power of the factor. So the hash of a stack can be put
 * together from parts of any length, and compiled code with inlined methods gives the same as the
 * same methods interpreted, which is what lets both find one entry. Two independent factors give
 * 128 bits. */
static inline void frame_hash_join(struct frame_hash *hash, const struct frame_hash *outer)
{
    hash->low = hash->low * frame_hash_powers.low[outer->count] + outer->low;
    hash->high = hash->high * frame_hash_powers.high[outer->count] + outer->high;
    hash->count += outer->count;
}

/* Reads the methods of compiled code at a return address, from the innermost outwards, and returns
 * how many there are; 0: they are unknown. */
size_t code_scopes_read(const struct vm_structs *vm, uintptr_t nmethod, uintptr_t pc,
                        struct code_frame methods[FRAMES_INLINED_MOST]);

/* `pc` must not be 0, which is the address of places that were not found. */
static inline bool code_place_holds(const struct code_place *place, uintptr_t pc)
{
    return place->pc == pc && vm_half(place->check, 0) == place->id &&
           *(const volatile uint8_t *) place->used != 0;
}

#endif
