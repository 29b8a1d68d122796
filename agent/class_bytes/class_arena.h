/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of one class's rewriting: pieces that are given back together. */
#ifndef AGENT_CLASS_BYTES_CLASS_ARENA_H
#define AGENT_CLASS_BYTES_CLASS_ARENA_H

#include <stddef.h>

struct arena_chunk;

struct class_arena {
    struct arena_chunk *chunk; /* the newest */
    size_t used, room;         /* of it */
    size_t total;              /* of all chunks */
};

/* Most that one class may take: far above what real classes need. */
#define CLASS_ARENA_LIMIT ((size_t) 256 << 20)

/* Memory aligned for anything, not cleared; NULL: out of memory or over the limit. */
void *arena_take(struct class_arena *arena, size_t bytes);
void arena_reset(struct class_arena *arena);

#endif
