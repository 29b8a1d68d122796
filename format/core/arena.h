/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arena: storage that is allocated in pieces and released as a whole, with a limit so that a small
 * file cannot request much memory.
 */
#ifndef FORMAT_CORE_ARENA_H
#define FORMAT_CORE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct step_arena_chunk;

/* Zero-initialise for an empty arena with a limit of 0. */
struct step_arena {
    struct step_arena_chunk *chunks; /* the newest first */
    size_t used;                     /* of the newest */
    size_t total;                    /* of all */
    uint64_t limit;
    uint64_t taken;
    bool limited; /* an allocation exceeded the limit */
};

/* Frees the storage. */
void step_arena_reset(struct step_arena *arena);
/* Releases everything but keeps the storage.  `limit` applies from now on, in bytes. */
void step_arena_clear(struct step_arena *arena, uint64_t limit);

/* Returns room for `count` items of `size` bytes, aligned for any of our types; at least one byte.
 * Returns NULL if the limit would be exceeded (arena->limited is then set) or memory runs out. */
void *step_arena_take(struct step_arena *arena, uint64_t count, size_t size);
/* Like step_arena_take(), zeroed. */
void *step_arena_zeroed(struct step_arena *arena, size_t size);
/* Returns a NUL-terminated copy. */
char *step_arena_text(struct step_arena *arena, const char *text, size_t length);

#endif
