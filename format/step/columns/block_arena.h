/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Storage of one decoded block: taken piece by piece, given back at once, and held to a limit, so
 * that a small file cannot ask for much memory.
 */
#ifndef STEP_STEP_ARENA_H
#define STEP_STEP_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct step_arena_chunk;

/* Zero-initialised is empty, with a limit of 0. */
struct step_arena {
    struct step_arena_chunk *chunks; /* the newest first */
    size_t used;                     /* of the newest */
    size_t total;                    /* of all */
    uint64_t limit;
    uint64_t taken;
};

void step_arena_reset(struct step_arena *arena);
/* Gives everything back, but keeps the storage for the next block. */
void step_arena_clear(struct step_arena *arena, uint64_t limit);

/* Room for `count` items of `size` bytes, aligned for any of our types; at least one byte.  NULL
 * when the limit is passed (`*limited` is then set) or memory runs out. */
void *step_arena_take(struct step_arena *arena, uint64_t count, size_t size, int *limited);

#endif
