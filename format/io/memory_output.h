/* SPDX-License-Identifier: Apache-2.0 */
/* A step_output that keeps all bytes in memory. */
#ifndef FORMAT_IO_MEMORY_OUTPUT_H
#define FORMAT_IO_MEMORY_OUTPUT_H

#include "format/core/bytes.h"
#include "steptrace/writer.h"

/* Returns an output that appends to `buffer`, which the caller owns. */
struct step_output step_memory_output(struct step_buffer *buffer);

#endif
