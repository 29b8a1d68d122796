/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is freed in one go: a definition owns one. */
#ifndef DL_ARENA_H
#define DL_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct dl_arena {
    struct dl_arena_block *blocks;
    size_t used_bytes; /* handed out, of `limit_bytes` */
    size_t limit_bytes;
    bool limit_reached;
};

void dl_arena_init(struct dl_arena *arena, size_t limit_bytes);
/* Zeroed memory, aligned for anything; NULL when out of memory or over the limit. */
void *dl_arena_take(struct dl_arena *arena, size_t size_bytes);
/* A NUL-terminated copy. */
char *dl_arena_text(struct dl_arena *arena, const char *text, size_t length);
void dl_arena_reset(struct dl_arena *arena);

#endif
