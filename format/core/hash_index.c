/* SPDX-License-Identifier: Apache-2.0 */
/* The hash index of arrays: growth and removal by the hashes in the slots. */
#include "format/core/hash_index.h"

#include <stdlib.h>
#include <string.h>

#include "format/core/large_memory.h"

#define FIRST_SLOTS ((size_t) 64)
#define FEW_SLOTS ((size_t) 65536) /* grows fourfold below this, to move items less often */

void step_index_reset(struct step_index *index)
{
    free(index->slots);
    *index = (struct step_index){.slots = NULL};
}

void step_index_clear(struct step_index *index)
{
    index->count = 0;
    if (index->slots != NULL)
        memset(index->slots, 0, (index->mask + 1) * sizeof *index->slots);
}

static void insert(struct step_index *index, struct step_index_slot slot)
{
    size_t at = slot.hash & index->mask;
    while (index->slots[at].item != 0)
        at = (at + 1) & index->mask;
    index->slots[at] = slot;
}

bool step_index_grow(struct step_index *index)
{
    size_t old_count = index->slots != NULL ? index->mask + 1 : 0;
    size_t count = old_count == 0          ? FIRST_SLOTS
                   : old_count < FEW_SLOTS ? old_count * 4
                                           : old_count * 2;
    struct step_index_slot *old = index->slots;
    struct step_index_slot *slots = large_memory_zeroed(count, sizeof *slots);
    if (slots == NULL)
        return false;
    index->slots = slots;
    index->mask = count - 1;
    for (size_t i = 0; i < old_count; i++)
        if (old[i].item != 0)
            insert(index, old[i]);
    free(old);
    return true;
}

void step_index_remove(struct step_index *index, uint32_t hash, uint32_t item)
{
    size_t mask = index->mask, at = hash & mask;
    while (index->slots[at].item != item + 1)
        at = (at + 1) & mask;
    /* An item behind the gap moves into it if that is nearer to its home slot. */
    for (size_t next = (at + 1) & mask; index->slots[next].item != 0; next = (next + 1) & mask) {
        if (((next - index->slots[next].hash) & mask) < ((next - at) & mask))
            continue;
        index->slots[at] = index->slots[next];
        at = next;
    }
    index->slots[at].item = 0;
    index->count--;
}
