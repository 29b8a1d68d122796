/* SPDX-License-Identifier: Apache-2.0 */
/* A list of unused blocks. */
#include "agent/deaths/reference_blocks.h"

#include <pthread.h>
#include <stdlib.h>

#include "agent/base/memory.h"

#define TRIMMED 8u /* one in so many blocks that were not needed since a collection is freed */

struct unused {
    struct unused *next;
};

static struct {
    pthread_mutex_t lock;
    struct unused *first;
    size_t count, least; /* `least`: since the last collection */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The caller holds the lock. */
static struct unused *take_unused(void)
{
    struct unused *block = pool.first;
    if (block != NULL) {
        pool.first = block->next;
        pool.count--;
    }
    if (pool.count < pool.least)
        pool.least = pool.count;
    return block;
}

void *reference_block_take(void)
{
    pthread_mutex_lock(&pool.lock);
    void *block = take_unused();
    pthread_mutex_unlock(&pool.lock);
    return block != NULL ? block : memory_counted(MEMORY_REFERENCES, malloc(REFERENCE_BLOCK_BYTES));
}

void reference_block_give(void *block)
{
    struct unused *given = block;
    if (given == NULL)
        return;
    pthread_mutex_lock(&pool.lock);
    given->next = pool.first;
    pool.first = given;
    pool.count++;
    pthread_mutex_unlock(&pool.lock);
}

static void free_blocks(struct unused *block)
{
    while (block != NULL) {
        struct unused *next = block->next;
        memory_free(MEMORY_REFERENCES, block);
        block = next;
    }
}

static void free_some(size_t most)
{
    struct unused *freed = NULL;
    pthread_mutex_lock(&pool.lock);
    while (most-- != 0 && pool.first != NULL) {
        struct unused *block = take_unused();
        block->next = freed;
        freed = block;
    }
    pool.least = pool.count;
    pthread_mutex_unlock(&pool.lock);
    free_blocks(freed);
}

void reference_blocks_trim(void)
{
    pthread_mutex_lock(&pool.lock);
    size_t unneeded = pool.least;
    pthread_mutex_unlock(&pool.lock);
    free_some(unneeded / TRIMMED);
}

void reference_blocks_clear(void)
{
    free_some((size_t) -1);
}
