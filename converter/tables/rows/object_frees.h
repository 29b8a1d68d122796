/* SPDX-License-Identifier: Apache-2.0 */
/* The deaths of objects, block by block. */
#ifndef CONVERTER_TABLES_ROWS_OBJECT_FREES_H
#define CONVERTER_TABLES_ROWS_OBJECT_FREES_H

#include "converter/tables/rows/object_births.h"

struct object_frees {
    struct tables *tables; /* borrowed */
    uint32_t record;
    size_t time_slot, object_slot;
    size_t *blocks;
    size_t block_count, block_at;
    uint64_t blocks_read, blocks_passed;
    uint8_t **fields;
    struct step_block *block;
    struct collected_field collected;
    bool has_collected; /* and it is asked for */
    /* of the block at hand */
    struct collected_view deaths;
    struct step_column_view objects;
    size_t row; /* how far they were taken */
};

/* Those that the births may meet.  With `wants_collections` it is known who found them dead. */
enum step_status object_frees_open(struct object_frees *frees, struct tables *tables,
                                   const struct object_births *births, bool wants_collections,
                                   struct step_error *error);
void object_frees_close(struct object_frees *frees);

/* The time of the next block's last record; false: there is no more. */
bool object_frees_next_time(const struct object_frees *frees, uint64_t *ticks);
/* Takes the next block; of one that cannot be read there are no rows. */
enum step_status object_frees_load(struct object_frees *frees, struct step_error *error);

#endif
