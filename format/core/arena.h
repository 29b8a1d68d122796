/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Storage that is taken piece by piece, given back at once, and held to a limit, so that a small
 * file cannot ask for much memory.
 */
#ifndef FORMAT_CORE_ARENA_H
#define FORMAT_CORE_ARENA_H

#include <stdbool.h>
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
    bool limited; /* a take would have passed the limit */
};

/* Frees the storage. */
void step_arena_reset(struct step_arena *arena);
/* Gives everything back, but keeps the storage; from here on that is the limit, in bytes. */
void step_arena_clear(struct step_arena *arena, uint64_t limit);

/* Room for `count` items of `size` bytes, aligned for any of our types; at least one byte.  NULL
 * when the limit would be passed (arena->limited is then set) or memory runs out. */
void *step_arena_take(struct step_arena *arena, uint64_t count, size_t size);
/* The same of `size` bytes that are 0. */
void *step_arena_zeroed(struct step_arena *arena, size_t size);
/* A NUL-terminated copy. */
char *step_arena_text(struct step_arena *arena, const char *text, size_t length);

#endif
