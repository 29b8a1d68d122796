/* SPDX-License-Identifier: Apache-2.0 */
/* The births of objects, in the order of time: allocations as a scan of their table gives them. */
#ifndef CONVERTER_TABLES_OBJECT_BIRTHS_H
#define CONVERTER_TABLES_OBJECT_BIRTHS_H

#include "converter/base/birth_pages.h"
#include "converter/tables/makers.h"
#include "converter/tables/table_scan.h"

struct object_births {
    struct tables *tables; /* borrowed, as is the wish */
    const struct table_wish *wish;
    struct table_definition table; /* without what the join makes */
    struct table_scan *scan;
    size_t columns[OBJECTS_COLUMNS]; /* of the scan, */
    size_t column_count;
    size_t places[OBJECTS_COLUMNS];  /* and where each of ours is there; SIZE_MAX: nowhere */
    const struct table_batch *batch; /* the last one */
};

/* The column comes of a death: births do not have it. */
bool object_column_is_joined(size_t column);

enum step_status object_births_open(struct object_births *births, struct tables *tables,
                                    const struct table_wish *wish, struct step_error *error);
void object_births_close(struct object_births *births);

/* Keeps all in `live` that was born before a time is over. */
enum step_status object_births_keep(struct object_births *births, uint64_t ticks,
                                    struct birth_pages *live, struct step_error *error);
/* Reads on, to the next batch; END: there is none. */
enum step_status object_births_next(struct object_births *births, struct step_error *error);
/* Births of the batch from row `row` on, 1 to `most`, as a page that has no others; how many. */
unsigned object_births_read(const struct object_births *births, size_t row, size_t most,
                            struct birth_page *out);

/* The blocks that births come from. */
const struct block_choice *object_births_choice(const struct object_births *births);
/* What the index knows of the numbers of all objects that may be wanted; false: nothing. */
bool object_births_range(const struct object_births *births, uint64_t *least, uint64_t *most);

#endif
