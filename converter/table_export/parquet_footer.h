/* SPDX-License-Identifier: Apache-2.0 */
/* The metadata of a Parquet file, in Thrift. */
#ifndef CONVERTER_TABLE_EXPORT_PARQUET_FOOTER_H
#define CONVERTER_TABLE_EXPORT_PARQUET_FOOTER_H

#include "converter/table_export/parquet_file.h"

/* Where the page index of a chunk stands. */
struct parquet_index_place {
    uint64_t offset_index, column_index; /* offset_index 0: there is none */
    uint32_t offset_index_bytes, column_index_bytes;
};

/* Append to `out`; false: out of memory. */
bool parquet_put_column_index(struct step_buffer *out, const struct parquet_chunk *chunk);
bool parquet_put_offset_index(struct step_buffer *out, const struct parquet_chunk *chunk);
/* `places` by group and column. */
bool parquet_put_footer(struct step_buffer *out, const struct parquet_file *file,
                        const struct parquet_index_place *places);

#endif
