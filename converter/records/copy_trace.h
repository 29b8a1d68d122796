/* SPDX-License-Identifier: Apache-2.0 */
/* Copies a STEP trace of any definition: all readable data, in the same streams. */
#ifndef CONVERTER_RECORDS_COPY_TRACE_H
#define CONVERTER_RECORDS_COPY_TRACE_H

#include "steptrace/reader.h"
#include "steptrace/writer.h"

/* Copies properties, dictionaries and records.  Skips damaged blocks, which the reader notes;
 * damaged dictionary entries become empty.  `writer` must have the reader's definition.
 * `*records` counts the copied records. */
enum step_status stepfile_copy(struct step_reader *reader, struct step_writer *writer,
                               uint64_t *records, struct step_error *error);

/* The parts of stepfile_copy(): everything except the records; and the records, a block for each
 * block of the input, to preserve their order.  Then follows copy_loss_put_of_reader(). */
enum step_status stepfile_copy_start(struct step_reader *reader, struct step_writer *writer);
enum step_status stepfile_copy_blocks(struct step_reader *reader, struct step_writer *writer,
                                      uint64_t *records, struct step_error *error);
/* Copies the records of block `i`, without a flush.  `*block` is a buffer shared by all calls;
 * initialise it with NULL. */
enum step_status stepfile_copy_block(struct step_reader *reader, size_t i,
                                     struct step_block **block, struct step_writer *writer,
                                     uint64_t *records, struct step_error *error);

#endif
