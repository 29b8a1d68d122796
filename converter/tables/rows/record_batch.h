/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A batch of rows that are records: a slice of a block, column by column.  Values that need no
 * change are the block's own.
 */
#ifndef CONVERTER_TABLES_ROWS_RECORD_BATCH_H
#define CONVERTER_TABLES_ROWS_RECORD_BATCH_H

#include "converter/tables/tables_trace.h"

struct slice_room;

struct record_batch {
    struct tables *tables; /* borrowed, as are the next two */
    const struct table_wish *wish;
    struct table_vector *vectors; /* what is filled, by column */
    struct slice_room *room;
    /* of the block at hand: set by whoever has it */
    struct step_column_view *views; /* by column */
    struct step_column_view types;
    struct collected_view deaths; /* of CELL_COLLECTION */
    uint64_t bound_ticks;         /* no time of the block is above */
};

/* The trace's definition lacks what the column is made of. */
bool record_cell_is_absent(const struct table_cell *cell);
/* The column is made of a field: it has a view. */
bool record_cell_has_view(const struct table_cell *cell);

/* False: out of memory.  Reset is allowed then, and of a zeroed one. */
bool record_batch_init(struct record_batch *batch, struct tables *tables,
                       const struct table_wish *wish, struct table_vector *vectors);
void record_batch_reset(struct record_batch *batch);

/* Fills a column with rows `from` on of the block; what it had before is no more.  False: out of
 * memory. */
bool record_batch_fill(struct record_batch *batch, size_t column, size_t from, size_t count);

#endif
