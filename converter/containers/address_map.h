/* SPDX-License-Identifier: Apache-2.0 */
/* Address map: the live blocks of a heap, sorted by address.  A treap whose priorities are
 * hashes of the addresses, so that a trace always gives the same tree.  Not thread-safe. */
#ifndef CONVERTER_CONTAINERS_ADDRESS_MAP_H
#define CONVERTER_CONTAINERS_ADDRESS_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct address_block {
    uint64_t address;
    uint64_t size; /* bytes; 0 counts as 1 */
    uint64_t heap;
    uint64_t record; /* the number of its allocation */
    struct address_block *left;
    struct address_block *right;
};

struct address_map {
    struct address_block *root;
    size_t count;
    uint64_t bytes;
};

/* Frees all blocks and empties the map.  A zero-initialised map is empty. */
void address_map_reset(struct address_map *map);
struct address_block *address_map_find(const struct address_map *map, uint64_t address);
/* Returns the block with the lowest address >= `address`, or NULL. */
struct address_block *address_map_from(const struct address_map *map, uint64_t address);
/* Returns a block that overlaps the range, or NULL. */
struct address_block *address_map_overlap(const struct address_map *map, uint64_t address,
                                          uint64_t size);
/* Returns a block that `grown` would overlap if it had `size` bytes at its address, or NULL. */
struct address_block *address_map_overgrown(const struct address_map *map,
                                            const struct address_block *grown, uint64_t size);
/* Adds a copy of `block` (its links are ignored), replacing any block at the same address.
 * Returns false if out of memory. */
bool address_map_put(struct address_map *map, const struct address_block *block);
void address_map_resize(struct address_map *map, struct address_block *block, uint64_t size);
/* Returns false if there is no block at `address`. */
bool address_map_remove(struct address_map *map, uint64_t address);
/* Removes all blocks of a heap.  Returns their number. */
size_t address_map_remove_heap(struct address_map *map, uint64_t heap);

#endif
