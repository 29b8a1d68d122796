/* SPDX-License-Identifier: Apache-2.0 */
/* Which blocks of a trace have rows of a table that may be wanted, as far as the index tells. */
#ifndef CONVERTER_TABLES_BLOCK_CHOICE_H
#define CONVERTER_TABLES_BLOCK_CHOICE_H

#include "converter/tables/tables_trace.h"

struct block_choice {
    size_t *blocks;
    size_t count;
    uint64_t passed; /* that have such rows, and none that is wanted */
};

/* For tables whose rows are the records of one type. */
enum step_status block_choice_init(struct block_choice *choice, const struct tables *tables,
                                   const struct table_wish *wish, struct step_error *error);
void block_choice_reset(struct block_choice *choice);

/* How many records of the block are of that type. */
uint64_t block_rows(const struct tables *tables, size_t block, uint32_t record);
/* The field's range in a block; false: the index does not know it. */
bool block_field_range(const struct tables *tables, size_t block, uint32_t owner, uint32_t field,
                       uint64_t *least, uint64_t *most);
/* Sorts blocks by their first times, those of one time as they stand in the file. */
void blocks_sort_by_time(const struct tables *tables, size_t *blocks, size_t count);

#endif
