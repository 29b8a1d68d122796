/* SPDX-License-Identifier: Apache-2.0 */
/* Selects what to read for a table: the blocks that may contain wanted rows, using only the trace's
 * index, and the fields of their records. */
#ifndef ANALYSES_TABLES_BLOCK_CHOICE_H
#define ANALYSES_TABLES_BLOCK_CHOICE_H

#include "analyses/tables/tables_trace.h"
#include "steptrace/reader.h"

struct block_choice {
    size_t *blocks;
    size_t count;
    uint64_t passed; /* number of blocks that have rows of the table, but none wanted */
};

/* For tables whose rows are records of one type. */
enum step_status block_choice_init(struct block_choice *choice, const struct tables *tables,
                                   const struct table_request *request, struct step_error *error);
void block_choice_reset(struct block_choice *choice);

/* Gets the range of a field's values in a block.  Returns false if the index does not contain
 * it. */
bool block_field_range(const struct tables *tables, size_t block, uint32_t owner, uint32_t field,
                       uint64_t *least, uint64_t *most);
/* Sorts blocks by their first times, then by their order in the file. */
void blocks_sort_by_time(const struct tables *tables, size_t *blocks, size_t count);

/* Selects the fields of records to decode. */

/* Returns an array for step_reader_load_fields(), by record of the definition, with a byte per
 * field for the record type and those that extend it.  NULL: out of memory. */
uint8_t **wanted_fields_create(const struct step_definition *definition, uint32_t record);
/* Selects a field, also in the types that extend its own. */
void wanted_fields_add(uint8_t **fields, const struct step_definition *definition,
                       const struct table_field *field);
void wanted_fields_destroy(uint8_t **fields, const struct step_definition *definition);

#endif
