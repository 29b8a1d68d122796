/* SPDX-License-Identifier: Apache-2.0 */
/* What lives in memory, by address, in order: a treap, whose priorities come from the addresses, so
 * that a trace always gives the same tree. */
#ifndef CONVERTER_BASE_ADDRESS_MAP_H
#define CONVERTER_BASE_ADDRESS_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct address_block {
    uint64_t address;
    uint64_t size; /* bytes; 0 counts as 1 */
    uint64_t heap;
    uint64_t record; /* number of its allocation */
    struct address_block *left;
    struct address_block *right;
};

struct address_map {
    struct address_block *root;
    size_t count;
    uint64_t bytes;
};

/* Frees all blocks; a map of zeros is empty. */
void address_map_reset(struct address_map *map);
struct address_block *address_map_find(const struct address_map *map, uint64_t address);
/* The block with the lowest address from that on, or NULL. */
struct address_block *address_map_from(const struct address_map *map, uint64_t address);
/* A block that shares bytes with the range, or NULL. */
struct address_block *address_map_overlap(const struct address_map *map, uint64_t address,
                                          uint64_t size);
/* What the block would grow over, if it had that size where it is; NULL: nothing. */
struct address_block *address_map_overgrown(const struct address_map *map,
                                            const struct address_block *grown, uint64_t size);
/* Adds a block, of which the links are ignored; one at the same address is replaced.  False: out of
 * memory. */
bool address_map_put(struct address_map *map, const struct address_block *block);
void address_map_resize(struct address_map *map, struct address_block *block, uint64_t size);
/* False: nothing is there. */
bool address_map_remove(struct address_map *map, uint64_t address);
/* Removes all blocks of a heap; returns how many. */
size_t address_map_remove_heap(struct address_map *map, uint64_t heap);

#endif
