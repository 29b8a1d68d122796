/* SPDX-License-Identifier: Apache-2.0 */
/* A STEP trace that is written anew. */
#ifndef CONVERTER_OUTPUT_TRACE_OUTPUT_H
#define CONVERTER_OUTPUT_TRACE_OUTPUT_H

#include <stdint.h>

#include "steptrace/status.h"
#include "steptrace/writer.h"

/* Writes the records that `fill` puts into a trace at `output`, which appears when it is whole.
 * Sets the options' output, and `*size_bytes`, unless NULL. */
enum step_status trace_write(const char *output, struct step_writer_options *options,
                             enum step_status (*fill)(void *user, struct step_writer *writer,
                                                      struct step_error *error),
                             void *user, uint64_t *size_bytes, struct step_error *error);

#endif
