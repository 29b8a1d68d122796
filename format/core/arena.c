/* SPDX-License-Identifier: Apache-2.0 */
/* Arena allocation: a list of chunks, merged into one when the arena is cleared. */
#include "format/core/arena.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CHUNK = 4096, LARGEST_CHUNK = 1 << 20, ALIGNMENT = 16 };

struct step_arena_chunk {
    struct step_arena_chunk *next;
    size_t size;
    _Alignas(16) unsigned char data[];
};

void step_arena_reset(struct step_arena *arena)
{
    for (struct step_arena_chunk *chunk = arena->chunks; chunk != NULL;) {
        struct step_arena_chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
    *arena = (struct step_arena){0};
}

static bool add_chunk(struct step_arena *arena, size_t size)
{
    struct step_arena_chunk *chunk = malloc(sizeof *chunk + size);
    if (chunk == NULL)
        return false;
    *chunk = (struct step_arena_chunk){arena->chunks, size};
    arena->chunks = chunk;
    arena->total += size;
    arena->used = 0;
    return true;
}

void step_arena_clear(struct step_arena *arena, uint64_t limit)
{
    if (arena->chunks != NULL && arena->chunks->next != NULL) {
        size_t total = arena->total;
        step_arena_reset(arena);
        add_chunk(arena, total); /* if this fails, the next step_arena_take() tries again */
    }
    arena->used = 0;
    arena->taken = 0;
    arena->limited = false;
    arena->limit = limit;
}

void *step_arena_take(struct step_arena *arena, uint64_t count, size_t size)
{
    uint64_t most = arena->limit - arena->taken;
    if (count > most / size) {
        arena->limited = true;
        return NULL;
    }
    size_t bytes = (size_t) count * size;
    bytes = (bytes + ALIGNMENT) / ALIGNMENT * ALIGNMENT;
    if (arena->chunks == NULL || bytes > arena->chunks->size - arena->used) {
        size_t chunk = arena->total > FIRST_CHUNK ? arena->total / 2 : FIRST_CHUNK;
        chunk = chunk < LARGEST_CHUNK ? chunk : LARGEST_CHUNK;
        if (!add_chunk(arena, bytes > chunk ? bytes : chunk))
            return NULL;
    }
    void *result = arena->chunks->data + arena->used;
    arena->used += bytes;
    arena->taken += (uint64_t) count * size;
    return result;
}

void *step_arena_zeroed(struct step_arena *arena, size_t size)
{
    void *memory = step_arena_take(arena, size, 1);
    return memory != NULL ? memset(memory, 0, size) : NULL;
}

char *step_arena_text(struct step_arena *arena, const char *text, size_t length)
{
    char *copy = length < SIZE_MAX ? step_arena_take(arena, length + 1, 1) : NULL;
    if (copy == NULL)
        return NULL;
    if (length != 0)
        memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}
