/* SPDX-License-Identifier: Apache-2.0 */
/* Selects the blocks that may contain wanted rows of a table, using only the trace's index. */
#ifndef CONVERTER_TABLES_BLOCK_CHOICE_H
#define CONVERTER_TABLES_BLOCK_CHOICE_H

#include "converter/tables/tables_trace.h"

struct block_choice {
    size_t *blocks;
    size_t count;
    uint64_t passed; /* number of blocks that have rows of the table, but none wanted */
};

/* For tables whose rows are records of one type. */
enum step_status block_choice_init(struct block_choice *choice, const struct tables *tables,
                                   const struct table_request *request, struct step_error *error);
void block_choice_reset(struct block_choice *choice);

/* Returns the number of records of that type in the block. */
uint64_t block_rows(const struct tables *tables, size_t block, uint32_t record);
/* Gets the range of a field's values in a block.  Returns false if the index does not contain
 * it. */
bool block_field_range(const struct tables *tables, size_t block, uint32_t owner, uint32_t field,
                       uint64_t *least, uint64_t *most);
/* Sorts blocks by their first times, then by their order in the file. */
void blocks_sort_by_time(const struct tables *tables, size_t *blocks, size_t count);

#endif
