/* SPDX-License-Identifier: Apache-2.0 */
/* Copying a STEP trace, whatever its definition: all that can be read, in the same streams. */
#ifndef CONVERTER_RECORDS_COPY_TRACE_H
#define CONVERTER_RECORDS_COPY_TRACE_H

#include <stdbool.h>

#include "steptrace/reader.h"
#include "steptrace/writer.h"

/* The property of a trace that `recover` wrote of one that was cut. */
#define RECOVERED_RECORDS "recovered-records"

/* Copies properties, dictionaries and records; damaged blocks are passed over (the reader keeps
 * note of them), damaged dictionary entries become empty ones.  `writer` has the reader's
 * definition. `records` counts. */
enum step_status stepfile_copy(struct step_reader *reader, struct step_writer *writer,
                               uint64_t *records, struct step_error *error);

/* The two halves of it: all but the records; and the records of block `i`, which are put and not
 * flushed.  `*block` is storage that calls share, NULL at first. */
enum step_status stepfile_copy_start(struct step_reader *reader, struct step_writer *writer);
enum step_status stepfile_copy_block(struct step_reader *reader, size_t i,
                                     struct step_block **block, struct step_writer *writer,
                                     uint64_t *records, struct step_error *error);

#endif
