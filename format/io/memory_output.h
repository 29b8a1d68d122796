/* SPDX-License-Identifier: Apache-2.0 */
/* An output of a writer that keeps all bytes in memory. */
#ifndef FORMAT_IO_MEMORY_OUTPUT_H
#define FORMAT_IO_MEMORY_OUTPUT_H

#include "format/core/bytes.h"
#include "steptrace/writer.h"

/* The bytes go to the end of `buffer`, which is the caller's. */
struct step_output step_memory_output(struct step_buffer *buffer);

#endif
