/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hash index over the items of an array that the caller owns: it finds an item's number by a hash
 * of 32 bits, which it keeps, so that it grows and removes without looking at items.  Open
 * addressing at most half full, linear probing, backward-shift deletion.  Items whose hashes differ
 * in the lowest bits alone lie next to each other.
 */
#ifndef FORMAT_CORE_HASH_INDEX_H
#define FORMAT_CORE_HASH_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct step_index_slot {
    uint32_t hash;
    uint32_t item; /* the item's number and one; 0: the slot is empty */
};

/* Zero-initialised is empty. */
struct step_index {
    struct step_index_slot *slots;
    size_t mask; /* slots - 1 */
    size_t count;
};

/* Frees the memory; the index is empty. */
void step_index_reset(struct step_index *index);
/* The index is empty and keeps its memory. */
void step_index_clear(struct step_index *index);

/* Doubles the room at least; false: out of memory, and nothing has changed. */
bool step_index_grow(struct step_index *index);
/* Removes an item that is there under that hash. */
void step_index_remove(struct step_index *index, uint32_t hash, uint32_t item);

/* Makes room for one more; false: out of memory, and nothing has changed. */
static inline bool step_index_reserve(struct step_index *index)
{
    return (index->slots != NULL && index->count <= index->mask / 2) || step_index_grow(index);
}

/* Adds an item that is not there, of a number below UINT32_MAX; after step_index_reserve() it does
 * not fail.  False: out of memory, and nothing has changed. */
static inline bool step_index_add(struct step_index *index, uint32_t hash, uint32_t item)
{
    if (item == UINT32_MAX || !step_index_reserve(index))
        return false;
    size_t at = hash & index->mask;
    while (index->slots[at].item != 0)
        at = (at + 1) & index->mask;
    index->slots[at] = (struct step_index_slot){hash, item + 1};
    index->count++;
    return true;
}

/* The step of STEP_INDEX_EACH: the next item of that hash. */
static inline bool step_index_next(const struct step_index *index, uint32_t hash, size_t *at,
                                   uint32_t *item)
{
    if (index->slots == NULL)
        return false;
    for (;;) {
        const struct step_index_slot *slot = &index->slots[(*at)++ & index->mask];
        if (slot->item == 0)
            return false;
        *item = slot->item - 1;
        if (slot->hash == hash)
            return true;
    }
}

/* Goes over the numbers of the items of that hash: what follows is done for each, with the number
 * in the variable `item`, a uint32_t. */
#define STEP_INDEX_EACH(index, hash, item)                                                         \
    for (size_t step_index_at = (hash); step_index_next(index, hash, &step_index_at, &(item));)

#endif
