/* SPDX-License-Identifier: Apache-2.0 */
/* A list of blocks, filled one after the other. */
#include "format/core/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES ((size_t) 64 << 10)

struct dl_arena_block {
    struct dl_arena_block *next;
    size_t size, used;
    max_align_t memory[];
};

void dl_arena_init(struct dl_arena *arena, size_t limit_bytes)
{
    *arena = (struct dl_arena){.limit_bytes = limit_bytes};
}

static struct dl_arena_block *add_block(struct dl_arena *arena, size_t least)
{
    size_t size = least > BLOCK_BYTES ? least : BLOCK_BYTES;
    struct dl_arena_block *block = malloc(sizeof *block + size);
    if (block == NULL)
        return NULL;
    block->size = size;
    block->used = 0;
    block->next = arena->blocks;
    arena->blocks = block;
    return block;
}

void *dl_arena_take(struct dl_arena *arena, size_t size_bytes)
{
    if (size_bytes > arena->limit_bytes - arena->used_bytes) {
        arena->limit_reached = true;
        return NULL;
    }
    size_t size = (size_bytes + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
    struct dl_arena_block *block = arena->blocks;
    if (block == NULL || block->size - block->used < size) {
        block = add_block(arena, size);
        if (block == NULL)
            return NULL;
    }
    void *memory = (char *) block->memory + block->used;
    block->used += size;
    arena->used_bytes += size_bytes;
    return memset(memory, 0, size);
}

char *dl_arena_text(struct dl_arena *arena, const char *text, size_t length)
{
    char *copy = dl_arena_take(arena, length + 1);
    if (copy != NULL && length != 0)
        memcpy(copy, text, length);
    return copy;
}

void dl_arena_reset(struct dl_arena *arena)
{
    while (arena->blocks != NULL) {
        struct dl_arena_block *next = arena->blocks->next;
        free(arena->blocks);
        arena->blocks = next;
    }
    arena->used_bytes = 0;
}
