/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of one size for pages of references and for batches of recycled ones. A collection turns
 * pages into batches, and the program turns batches into pages. With malloc() each would keep its
 * free memory in the arena of the thread that asked for it, and the process would have the peaks
 * of both.  Any thread. */
#ifndef AGENT_DEATHS_REFERENCE_BLOCKS_H
#define AGENT_DEATHS_REFERENCE_BLOCKS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define REFERENCE_BLOCK_BYTES 16384u

/* Returns a block that was given back, else a new one; NULL if out of memory. */
void *reference_block_take(void);
/* NULL is no block. */
void reference_block_give(void *block);
/* Call after a collection: frees some of the blocks that were unused since the one before, or all.
 */
void reference_blocks_trim(bool all);

/* A block in a pool begins with this. */
struct block {
    struct block *next;
};
struct block_pool {
    pthread_mutex_t lock;
    struct block *first;
    _Atomic size_t count;
    size_t least; /* since the last collection */
};
void block_pool_give(struct block_pool *pool, void *block);
/* Returns NULL if there is none. */
void *block_pool_take(struct block_pool *pool);
/* Call after a collection: takes some of the blocks that were not needed since the one before, or
 * all. Returns a list. */
void *block_pool_trim(struct block_pool *pool, bool all);

#endif
