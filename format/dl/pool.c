/* SPDX-License-Identifier: Apache-2.0 */
/* Chunks of memory, handed out from the front. */
#include "pool.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 16 << 10, ALIGNMENT = 16 };

struct step_dl_pool_chunk {
    _Alignas(ALIGNMENT) struct step_dl_pool_chunk *next;
    size_t size;
    _Alignas(ALIGNMENT) unsigned char bytes[];
};

void step_dl_pool_init(struct step_dl_pool *pool, size_t budget_bytes)
{
    *pool = (struct step_dl_pool){.left_bytes = budget_bytes};
}

void step_dl_pool_reset(struct step_dl_pool *pool)
{
    while (pool->chunks != NULL) {
        struct step_dl_pool_chunk *chunk = pool->chunks;
        pool->chunks = chunk->next;
        free(chunk);
    }
    pool->free_bytes = 0;
}

static bool add_chunk(struct step_dl_pool *pool, size_t least)
{
    size_t size = least > CHUNK_BYTES ? least : CHUNK_BYTES;
    if (size > pool->left_bytes) {
        pool->over_budget = true;
        return false;
    }
    struct step_dl_pool_chunk *chunk = calloc(1, sizeof *chunk + size);
    if (chunk == NULL)
        return false;
    pool->left_bytes -= size;
    chunk->size = size;
    chunk->next = pool->chunks;
    pool->chunks = chunk;
    pool->free_bytes = size;
    return true;
}

void *step_dl_pool_take(struct step_dl_pool *pool, size_t count, size_t size)
{
    if (size != 0 && count > (SIZE_MAX / 2) / size) {
        pool->over_budget = true;
        return NULL;
    }
    size_t bytes = (count * size + ALIGNMENT) & ~(size_t) (ALIGNMENT - 1);
    if (bytes > pool->free_bytes && !add_chunk(pool, bytes))
        return NULL;
    void *taken = pool->chunks->bytes + (pool->chunks->size - pool->free_bytes);
    pool->free_bytes -= bytes;
    return taken;
}

char *step_dl_pool_text(struct step_dl_pool *pool, const char *text, size_t length)
{
    char *copy = step_dl_pool_take(pool, length + 1, 1);
    if (copy != NULL && length > 0)
        memcpy(copy, text, length);
    return copy;
}
