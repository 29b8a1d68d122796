/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash index over the items of an array that the caller owns: finds an item's number by a hash of
 * 32 bits.  It stores the hash, so it grows and removes without accessing items.  Open addressing,
 * at most half full; linear probing; backward-shift deletion.  Items whose hashes differ only in
 * the lowest bits are adjacent.
 */
#ifndef FORMAT_CORE_HASH_INDEX_H
#define FORMAT_CORE_HASH_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct step_index_slot {
    uint32_t hash;
    uint32_t item; /* the item's number plus one; 0: the slot is empty */
};

/* Zero-initialise for an empty index. */
struct step_index {
    struct step_index_slot *slots;
    size_t mask; /* slots - 1 */
    size_t count;
};

/* Frees the memory; the index is empty. */
void step_index_reset(struct step_index *index);
/* Empties the index and keeps its memory. */
void step_index_clear(struct step_index *index);

/* At least doubles the room.  Returns false if out of memory; nothing has changed then. */
bool step_index_grow(struct step_index *index);
/* Removes an existing item with that hash. */
void step_index_remove(struct step_index *index, uint32_t hash, uint32_t item);

/* Makes room for one more item.  Returns false if out of memory; nothing has changed then. */
static inline bool step_index_reserve(struct step_index *index)
{
    return (index->slots != NULL && index->count <= index->mask / 2) || step_index_grow(index);
}

/* Adds a new item; its number must be below UINT32_MAX.  Cannot fail after step_index_reserve().
 * Returns false if out of memory; nothing has changed then. */
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

/* Advances STEP_INDEX_EACH to the next item with that hash. */
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

/* Iterates over the items with that hash: the following statement runs for each, with its number in
 * the uint32_t variable `item`. */
#define STEP_INDEX_EACH(index, hash, item)                                                         \
    for (size_t step_index_at = (hash); step_index_next(index, hash, &step_index_at, &(item));)

#endif
