/* SPDX-License-Identifier: Apache-2.0 */
/* Grows the output of class file bytes; allocates memory in chunks. */
#include "agent/class_bytes/class_bytes.h"

#include <stdlib.h>

#include "format/core/grow.h"

bool output_reserve(struct class_output *output, size_t count)
{
    if (output->failed)
        return false;
    if (output->room - output->used >= count)
        return true;
    uint8_t *bytes = step_grown(output->bytes, &output->room, output->used + count, 1);
    if (bytes == NULL) {
        output->failed = true;
        output->room = output->used; /* nothing fits from now on */
        return false;
    }
    output->bytes = bytes;
    return true;
}

#define CHUNK_BYTES ((size_t) 64 << 10)

struct arena_chunk {
    struct arena_chunk *older;
    max_align_t data[];
};

static unsigned char *add_chunk(struct class_arena *arena, size_t bytes)
{
    size_t room = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
    if (room > CLASS_ARENA_LIMIT - arena->total)
        return NULL;
    struct arena_chunk *chunk = malloc(sizeof *chunk + room);
    if (chunk == NULL)
        return NULL;
    chunk->older = arena->chunk;
    arena->chunk = chunk;
    arena->total += room;
    arena->room = room;
    arena->used = bytes;
    return (unsigned char *) chunk->data;
}

void *arena_take(struct class_arena *arena, size_t bytes)
{
    if (bytes > CLASS_ARENA_LIMIT)
        return NULL;
    bytes = (bytes + sizeof(max_align_t) - 1) & ~(sizeof(max_align_t) - 1);
    if (arena->chunk == NULL || arena->room - arena->used < bytes)
        return add_chunk(arena, bytes);
    unsigned char *memory = (unsigned char *) arena->chunk->data + arena->used;
    arena->used += bytes;
    return memory;
}

void arena_reset(struct class_arena *arena)
{
    while (arena->chunk != NULL) {
        struct arena_chunk *older = arena->chunk->older;
        free(arena->chunk);
        arena->chunk = older;
    }
    *arena = (struct class_arena){0};
}
