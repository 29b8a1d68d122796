/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses that were freed and not allocated again: by bin, in the order of their frees, and all
 * of them by address.  The last FREED_MOST frees are kept; what was freed before is forgotten.
 */
#ifndef CONVERTER_ALLOCS_FREED_BLOCKS_H
#define CONVERTER_ALLOCS_FREED_BLOCKS_H

#include "converter/base/object_table.h"

#define FREED_MOST (UINT32_C(1) << 21)
#define FREED_BINS 4096u
#define FREED_NONE 0u /* an entry that is none */

struct freed_block {
    uint64_t address;
    uint32_t older, newer; /* entries of the same bin */
    uint32_t bin;
    bool is_there;
};

struct freed_blocks {
    struct freed_block *entries; /* from 1; of FREED_MOST the oldest is overwritten */
    uint32_t next, capacity;
    uint32_t newest[FREED_BINS];   /* entry, or FREED_NONE */
    struct object_table addresses; /* the entry, by live_address_key() */
};

bool freed_blocks_init(struct freed_blocks *blocks);
void freed_blocks_reset(struct freed_blocks *blocks);
/* The address becomes its bin's newest, wherever it was before.  False: out of memory. */
bool freed_blocks_add(struct freed_blocks *blocks, uint32_t bin, uint64_t address);
/* The entry of an address, or FREED_NONE. */
uint32_t freed_blocks_find(const struct freed_blocks *blocks, uint64_t address);
/* Takes the entry away; its neighbours become each other's. */
void freed_blocks_remove(struct freed_blocks *blocks, uint32_t entry);

#endif
