/* SPDX-License-Identifier: Apache-2.0 */
/* Copying a STEP trace, whatever its definition: all that can be read, in the same streams. */
#ifndef CONVERTER_STEP_COPY_H
#define CONVERTER_STEP_COPY_H

#include "steptrace/reader.h"
#include "steptrace/writer.h"

/* Copies properties, dictionaries and records; damaged blocks are passed over (the reader keeps
 * note of them), damaged dictionary entries become empty ones.  `writer` has the reader's
 * definition. `records` counts. */
enum step_status step_copy(struct step_reader *reader, struct step_writer *writer,
                           uint64_t *records, struct step_error *error);

#endif
