/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for rewriting one class: pieces that are freed together. */
#ifndef AGENT_CLASS_BYTES_CLASS_ARENA_H
#define AGENT_CLASS_BYTES_CLASS_ARENA_H

#include <stddef.h>

struct arena_chunk;

struct class_arena {
    struct arena_chunk *chunk; /* the newest */
    size_t used, room;         /* of the newest chunk */
    size_t total;              /* of all chunks */
};

/* The limit for one class: far above what real classes need. */
#define CLASS_ARENA_LIMIT ((size_t) 256 << 20)

/* Returns memory aligned for any type, not cleared; NULL if out of memory or over the limit. */
void *arena_take(struct class_arena *arena, size_t bytes);
void arena_reset(struct class_arena *arena);

#endif
