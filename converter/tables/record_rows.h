/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that are records of one type, for makers that read such rows in order of time. */
#ifndef CONVERTER_TABLES_RECORD_ROWS_H
#define CONVERTER_TABLES_RECORD_ROWS_H

#include "converter/tables/block_choice.h"
#include "converter/tables/table_rows.h"

/* Gets the first time, in ticks, of the block that contains the next row; 0 if it is the current
 * block.  Returns false if there are no more rows.  `rows` must be from record_rows_create(). */
bool record_rows_next_time(const struct table_rows *rows, uint64_t *ticks);
/* Returns the blocks that the rows are read from. */
const struct block_choice *record_rows_choice(const struct table_rows *rows);

#endif
