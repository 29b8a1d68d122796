/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that are the records of one type, for makers that read such rows in the order of time. */
#ifndef CONVERTER_TABLES_RECORD_ROWS_H
#define CONVERTER_TABLES_RECORD_ROWS_H

#include "converter/tables/block_choice.h"
#include "converter/tables/table_rows.h"

/* The first time, in ticks, of the block that the next row is from (0 where that is the block at
 * hand); false: there is no more.  Of rows that record_rows_create() made. */
bool record_rows_next_time(const struct table_rows *rows, uint64_t *ticks);
/* The blocks that such rows come from. */
const struct block_choice *record_rows_choice(const struct table_rows *rows);

#endif
