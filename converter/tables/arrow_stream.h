/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows as an Arrow stream: record batches of the columns that a reader has.
 *
 * Types: uint is uint64, int, time and duration int64, bool bool, name a dictionary (int32 to
 * utf8) that each batch has anew, text large_utf8, data large_binary.
 */
#ifndef CONVERTER_TABLES_ARROW_STREAM_H
#define CONVERTER_TABLES_ARROW_STREAM_H

#include <stdbool.h>

#include "converter/tables/arrow_abi.h"
#include "converter/tables/column_reader.h"

/* Told of once, after the last batch and by the thread that asks for it: whether anything of the
 * trace was damaged. */
typedef void (*arrow_stream_end)(const struct step_error *damage);

/* The reader becomes the stream's, also on failure.  `batch_rows`: of a record batch.  `at_end` may
 * be NULL. */
enum step_status arrow_stream_create(struct column_reader *reader, uint64_t batch_rows,
                                     arrow_stream_end at_end, struct ArrowArrayStream *out,
                                     struct step_error *error);

/* The parts of it.  The columns are taken over.  False: out of memory; `out` is then released. */
bool arrow_schema_of(const struct column_reader *reader, struct ArrowSchema *out);
bool arrow_array_of(struct whole_columns *columns, struct ArrowArray *out);

#endif
