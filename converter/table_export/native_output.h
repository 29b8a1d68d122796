/* SPDX-License-Identifier: Apache-2.0 */
/* Batches as blocks of ClickHouse's format Native: columns with their names and types. */
#ifndef CONVERTER_TABLE_EXPORT_NATIVE_OUTPUT_H
#define CONVERTER_TABLE_EXPORT_NATIVE_OUTPUT_H

#include "converter/tables/table.h"
#include "format/core/bytes.h"

/* Appends a block of the batch's rows; `columns` are numbers of the table's.  False: out of memory.
 */
bool native_put_block(struct step_buffer *out, const struct table *table, const size_t *columns,
                      size_t column_count, const struct table_batch *batch);
/* What `create table` says of a column: "Nullable(UInt64)". */
void native_type(const struct table_column *column, char *out, size_t out_size);

#endif
