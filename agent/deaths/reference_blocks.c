/* SPDX-License-Identifier: Apache-2.0 */
/* Pools of blocks, and that of unused ones. */
#include "agent/deaths/reference_blocks.h"

#include <stdint.h>
#include <stdlib.h>

#include "agent/base/memory.h"

#define TRIMMED 8u /* one in so many blocks that were not needed since a collection is removed */

static struct block_pool unused = {.lock = PTHREAD_MUTEX_INITIALIZER};

void block_pool_give(struct block_pool *pool, void *block)
{
    struct block *given = block;
    pthread_mutex_lock(&pool->lock);
    given->next = pool->first;
    pool->first = given;
    pool->count++;
    pthread_mutex_unlock(&pool->lock);
}

/* Takes at most so many; `least` is at most what is left. The caller holds the lock. */
static struct block *take_blocks(struct block_pool *pool, size_t most)
{
    struct block *taken = NULL;
    for (; most != 0 && pool->first != NULL; most--) {
        struct block *block = pool->first;
        pool->first = block->next;
        pool->count--;
        block->next = taken;
        taken = block;
    }
    if (pool->count < pool->least)
        pool->least = pool->count;
    return taken;
}

void *block_pool_take(struct block_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    struct block *block = take_blocks(pool, 1);
    pthread_mutex_unlock(&pool->lock);
    return block;
}

void *block_pool_trim(struct block_pool *pool, bool all)
{
    pthread_mutex_lock(&pool->lock);
    struct block *taken = take_blocks(pool, all ? SIZE_MAX : pool->least / TRIMMED);
    pool->least = pool->count;
    pthread_mutex_unlock(&pool->lock);
    return taken;
}

void *reference_block_take(void)
{
    void *block = block_pool_take(&unused);
    return block != NULL ? block : memory_counted(MEMORY_REFERENCES, malloc(REFERENCE_BLOCK_BYTES));
}

void reference_block_give(void *block)
{
    if (block != NULL)
        block_pool_give(&unused, block);
}

void reference_blocks_trim(bool all)
{
    struct block *block = block_pool_trim(&unused, all);
    while (block != NULL) {
        struct block *next = block->next;
        memory_free(MEMORY_REFERENCES, block);
        block = next;
    }
}
