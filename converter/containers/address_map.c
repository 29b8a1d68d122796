/* SPDX-License-Identifier: Apache-2.0 */
/* A treap: a search tree by address, and a heap by priority. */
#include "converter/containers/address_map.h"

#include <stdlib.h>

static uint64_t priority_of(const struct address_block *block)
{
    uint64_t mixed = (block->address ^ block->address >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    return (mixed ^ mixed >> 32) * UINT64_C(0x94d049bb133111eb);
}

static uint64_t last_byte(uint64_t address, uint64_t size)
{
    uint64_t span = size > 0 ? size - 1 : 0;
    return address <= UINT64_MAX - span ? address + span : UINT64_MAX;
}

struct address_block *address_map_from(const struct address_map *map, uint64_t address)
{
    struct address_block *found = NULL;
    struct address_block *block = map->root;
    while (block != NULL) {
        if (block->address >= address) {
            found = block;
            block = block->left;
        } else {
            block = block->right;
        }
    }
    return found;
}

struct address_block *address_map_overlap(const struct address_map *map, uint64_t address,
                                          uint64_t size)
{
    struct address_block *below = NULL; /* the last block that begins before the end of the range */
    struct address_block *block = map->root;
    uint64_t end = last_byte(address, size);
    while (block != NULL) {
        if (block->address <= end) {
            below = block;
            block = block->right;
        } else {
            block = block->left;
        }
    }
    return below != NULL && last_byte(below->address, below->size) >= address ? below : NULL;
}

struct address_block *address_map_overgrown(const struct address_map *map,
                                            const struct address_block *grown, uint64_t size)
{
    struct address_block *above =
        grown->address < UINT64_MAX ? address_map_from(map, grown->address + 1) : NULL;
    return above != NULL && above->address - grown->address < size ? above : NULL;
}

/* Splits a tree into the blocks below `address` and the others. */
static void split(struct address_block *tree, uint64_t address, struct address_block **below,
                  struct address_block **above)
{
    while (tree != NULL) {
        if (tree->address < address) {
            *below = tree;
            below = &tree->right;
            tree = tree->right;
        } else {
            *above = tree;
            above = &tree->left;
            tree = tree->left;
        }
    }
    *below = NULL;
    *above = NULL;
}

/* Returns the link that points to the block, or would do so. */
static struct address_block **link_of(struct address_map *map, uint64_t address)
{
    struct address_block **link = &map->root;
    while (*link != NULL && (*link)->address != address)
        link = address < (*link)->address ? &(*link)->left : &(*link)->right;
    return link;
}

struct address_block *address_map_find(const struct address_map *map, uint64_t address)
{
    return *link_of((struct address_map *) (uintptr_t) map, address);
}

bool address_map_put(struct address_map *map, const struct address_block *block)
{
    address_map_remove(map, block->address);
    struct address_block *added = malloc(sizeof *added);
    if (added == NULL)
        return false;
    *added = *block;
    struct address_block **link = &map->root;
    uint64_t priority = priority_of(added);
    while (*link != NULL && priority_of(*link) >= priority)
        link = added->address < (*link)->address ? &(*link)->left : &(*link)->right;
    split(*link, added->address, &added->left, &added->right);
    *link = added;
    map->count++;
    map->bytes += added->size;
    return true;
}

void address_map_resize(struct address_map *map, struct address_block *block, uint64_t size)
{
    map->bytes += size - block->size;
    block->size = size;
}

/* Replaces the block by its joined subtrees. */
static void unlink_block(struct address_map *map, struct address_block **link)
{
    struct address_block *block = *link;
    struct address_block *left = block->left;
    struct address_block *right = block->right;
    while (left != NULL && right != NULL) {
        if (priority_of(left) >= priority_of(right)) {
            *link = left;
            link = &left->right;
            left = left->right;
        } else {
            *link = right;
            link = &right->left;
            right = right->left;
        }
    }
    *link = left != NULL ? left : right;
    map->count--;
    map->bytes -= block->size;
    free(block);
}

bool address_map_remove(struct address_map *map, uint64_t address)
{
    struct address_block **link = link_of(map, address);
    if (*link == NULL)
        return false;
    unlink_block(map, link);
    return true;
}

/* Turns a tree into a list.  Rotates left children up instead of recursing. */
static struct address_block *flatten(struct address_block *tree)
{
    struct address_block *first = NULL;
    struct address_block **tail = &first;
    while (tree != NULL) {
        struct address_block *left = tree->left;
        if (left == NULL) {
            *tail = tree;
            tail = &tree->right;
            tree = tree->right;
        } else {
            tree->left = left->right;
            left->right = tree;
            tree = left;
        }
    }
    return first;
}

/* Removes the blocks of a heap; NULL: of all.  Returns their number. */
static size_t remove_blocks(struct address_map *map, const uint64_t *heap)
{
    struct address_block *list = flatten(map->root);
    size_t removed = 0;
    struct address_map kept = {0};
    while (list != NULL) {
        struct address_block *next = list->right;
        if (heap == NULL || list->heap == *heap || !address_map_put(&kept, list))
            removed++;
        free(list);
        list = next;
    }
    *map = kept;
    return removed;
}

size_t address_map_remove_heap(struct address_map *map, uint64_t heap)
{
    return remove_blocks(map, &heap);
}

void address_map_reset(struct address_map *map)
{
    remove_blocks(map, NULL);
}
