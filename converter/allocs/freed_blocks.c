/* SPDX-License-Identifier: Apache-2.0 */
/* A ring of entries, lists through it, and a table of where each address is. */
#include "converter/allocs/freed_blocks.h"

#include <stdlib.h>
#include <string.h>

bool freed_blocks_init(struct freed_blocks *blocks)
{
    memset(blocks, 0, sizeof *blocks);
    blocks->next = 1;
    return object_table_init(&blocks->addresses);
}

void freed_blocks_reset(struct freed_blocks *blocks)
{
    free(blocks->entries);
    blocks->entries = NULL;
    object_table_reset(&blocks->addresses);
}

uint32_t freed_blocks_find(const struct freed_blocks *blocks, uint64_t address)
{
    struct live_object found;
    return object_table_find(&blocks->addresses, live_address_key(address), &found)
               ? (uint32_t) found.value
               : FREED_NONE;
}

void freed_blocks_remove(struct freed_blocks *blocks, uint32_t entry)
{
    struct freed_block *block = &blocks->entries[entry];
    struct live_object gone;
    if (block->older != FREED_NONE)
        blocks->entries[block->older].newer = block->newer;
    if (block->newer != FREED_NONE)
        blocks->entries[block->newer].older = block->older;
    else
        blocks->newest[block->bin] = block->older;
    block->is_there = false;
    object_table_take(&blocks->addresses, live_address_key(block->address), &gone);
}

static bool make_room(struct freed_blocks *blocks)
{
    uint32_t wanted = blocks->capacity * 2 + 256;
    if (blocks->next < blocks->capacity)
        return true;
    if (wanted > FREED_MOST + 1)
        wanted = FREED_MOST + 1;
    struct freed_block *grown = realloc(blocks->entries, wanted * sizeof *grown);
    if (grown == NULL)
        return false;
    memset(grown + blocks->capacity, 0, (wanted - blocks->capacity) * sizeof *grown);
    blocks->entries = grown;
    blocks->capacity = wanted;
    return true;
}

bool freed_blocks_add(struct freed_blocks *blocks, uint32_t bin, uint64_t address)
{
    uint32_t known = freed_blocks_find(blocks, address);
    uint32_t entry = blocks->next;
    if (!make_room(blocks))
        return false;
    if (known != FREED_NONE)
        freed_blocks_remove(blocks, known);
    if (blocks->entries[entry].is_there)
        freed_blocks_remove(blocks, entry);
    uint32_t newest = blocks->newest[bin];
    blocks->entries[entry] =
        (struct freed_block){.address = address, .older = newest, .bin = bin, .is_there = true};
    if (newest != FREED_NONE)
        blocks->entries[newest].newer = entry;
    blocks->newest[bin] = entry;
    blocks->next = entry == FREED_MOST ? 1 : entry + 1;
    return object_table_put(
        &blocks->addresses,
        &(struct live_object){.object = live_address_key(address), .value = entry});
}
