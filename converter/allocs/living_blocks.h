/* SPDX-License-Identifier: Apache-2.0 */
/* What lives in a heap trace's memory at a moment: blocks, by address, with their attributes, and
 * the heaps that the program made. */
#ifndef CONVERTER_ALLOCS_LIVING_BLOCKS_H
#define CONVERTER_ALLOCS_LIVING_BLOCKS_H

#include "converter/base/address_map.h"
#include "converter/base/name_index.h"
#include "steptrace/hatf.h"

struct living_blocks {
    struct address_map blocks; /* `record` is the number of the attributes */
    struct address_map heaps;  /* by number */
    struct name_index texts;   /* copies */
};

/* False: out of memory; reset is allowed then. */
bool living_blocks_init(struct living_blocks *living);
void living_blocks_reset(struct living_blocks *living);
/* Takes a record of any tag.  False: out of memory. */
bool living_blocks_put(struct living_blocks *living, const struct hatf_record *record);
/* The attributes of a block's allocation; borrowed. */
struct step_bytes living_blocks_attributes(const struct living_blocks *living,
                                           const struct address_block *block);

#endif
