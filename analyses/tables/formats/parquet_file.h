/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a Parquet file (github.com/apache/parquet-format) as rows arrive: row groups of pages with
 * statistics, the page index, and the footer.  Compressed with zstd if this build supports it.
 */
#ifndef ANALYSES_TABLES_FORMATS_PARQUET_FILE_H
#define ANALYSES_TABLES_FORMATS_PARQUET_FILE_H

#include "analyses/tables/formats/parquet_column.h"
#include "steptrace/writer.h"

#define PARQUET_GROUP_ROWS ((size_t) 1 << 19)

struct parquet_group {
    struct parquet_chunk *chunks; /* by column; offsets are relative to the file */
    uint64_t row_count;
};

struct parquet_file {
    const struct table *table; /* borrowed, like the column numbers */
    const size_t *table_columns;
    size_t column_count;
    struct step_output output;
    uint64_t clock_ns; /* if not 0, times are wall clock times, and this is the wall clock at the
                          trace's time 0 */
    uint64_t offset;
    uint64_t row_count;
    struct parquet_column *columns;
    struct parquet_encoder encoder;
    struct byte_output bytes; /* of a chunk, or of the footer */
    struct parquet_group *groups;
    size_t group_count, group_capacity;
    size_t group_rows; /* in the current group */
};

/* `level` is zstd's; 0 means 3. */
enum step_status parquet_file_open(struct parquet_file *file, const struct table *table,
                                   const size_t *columns, size_t column_count,
                                   const struct step_output *output, uint64_t clock_ns, int level,
                                   struct step_error *error);
/* The batch must have the file's columns. */
enum step_status parquet_file_put(struct parquet_file *file, const struct table_batch *batch,
                                  struct step_error *error);
/* Writes the remaining rows and the footer. */
enum step_status parquet_file_finish(struct parquet_file *file, struct step_error *error);
void parquet_file_reset(struct parquet_file *file);

#endif
