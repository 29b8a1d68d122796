/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the allocations of objects in order of time, with a scan of their table. */
#ifndef ANALYSES_TABLES_OBJECT_BIRTHS_H
#define ANALYSES_TABLES_OBJECT_BIRTHS_H

#include "analyses/tables/makers.h"
#include "analyses/tables/table_rows.h"
#include "converter/containers/birth_pages.h"
#include "converter/containers/object_table.h"

struct object_births {
    struct tables *tables; /* borrowed, as is `wish` */
    const struct table_request *request;
    struct table_scan *scan;
    size_t columns[OBJECTS_COLUMNS]; /* columns of the scan, */
    size_t column_count;
    size_t places[OBJECTS_COLUMNS];  /* and by column of the objects: its position there; SIZE_MAX:
                                        none */
    const struct table_batch *batch; /* the current batch */
    struct object_table weights;     /* of samples that were read: the bits of a double */
};

enum step_status object_births_open(struct object_births *births, struct tables *tables,
                                    const struct table_request *request, struct step_error *error);
void object_births_close(struct object_births *births);

/* Returns the columns that pages of births need: enum birth_column. */
unsigned object_births_columns(const struct object_births *births);
/* Adds all births up to a time (in ticks) to `live`, perhaps with later ones. */
enum step_status object_births_keep(struct object_births *births, uint64_t ticks,
                                    struct birth_pages *live, struct step_error *error);
/* Reads the next batch; END if there is none. */
enum step_status object_births_next(struct object_births *births, struct step_error *error);
/* Reads 1 to `most` births of the batch, from row `row` on, into a page of their own.  Returns
 * their number. */
unsigned object_births_read(const struct object_births *births, size_t row, size_t most,
                            struct birth_page *out);

/* Returns the blocks that births are read from. */
const struct block_choice *object_births_choice(const struct object_births *births);
/* Gets the range of the numbers of all wanted objects from the index.  Returns false if it is
 * unknown. */
bool object_births_range(const struct object_births *births, uint64_t *least, uint64_t *most);

#endif
