/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of one size for pages of references and for batches of recycled ones. A collection turns
 * pages into batches, and the program turns batches into pages. With malloc() each would keep its
 * free memory in the arena of the thread that asked for it, and the process would have the peaks
 * of both.  Any thread. */
#ifndef AGENT_DEATHS_REFERENCE_BLOCKS_H
#define AGENT_DEATHS_REFERENCE_BLOCKS_H

#define REFERENCE_BLOCK_BYTES 16384u

/* Returns a block that was given back, else a new one; NULL if out of memory. */
void *reference_block_take(void);
/* NULL is no block. */
void reference_block_give(void *block);
/* Call after a collection: frees some of the blocks that were unused since the one before. */
void reference_blocks_trim(void);
/* Frees all that were given back. */
void reference_blocks_clear(void);

#endif
