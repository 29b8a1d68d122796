/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exports the columns of a column_reader as an Arrow stream of record batches.
 *
 * Types: uint is uint64; int, time and duration are int64; bool is bool; name is a dictionary
 * (int32 to utf8), separate for each batch; text is large_utf8; data is large_binary.
 */
#ifndef CONVERTER_TABLES_ARROW_STREAM_H
#define CONVERTER_TABLES_ARROW_STREAM_H

#include <stdbool.h>

#include "converter/tables/arrow_abi.h"
#include "converter/tables/column_reader.h"

/* Called once, after the last batch and in the thread that requested it, if the trace is
 * damaged. */
typedef void (*arrow_stream_end)(const struct step_error *damage);

/* Creates a stream.  Takes ownership of `reader`, even on failure.  `batch_rows`: rows per
 * record batch.  `at_end` may be NULL. */
enum step_status arrow_stream_create(struct column_reader *reader, uint64_t batch_rows,
                                     arrow_stream_end at_end, struct ArrowArrayStream *out,
                                     struct step_error *error);

/* The parts of a stream.  arrow_array_of() takes ownership of the columns.  Return false if out
 * of memory, after releasing `out`. */
bool arrow_schema_of(const struct column_reader *reader, struct ArrowSchema *out);
bool arrow_array_of(struct whole_columns *columns, struct ArrowArray *out);

#endif
