/* SPDX-License-Identifier: Apache-2.0 */
/* `steptrace pack` for heap traces: their addresses become places of the heap's model. */
#ifndef CONVERTER_VERB_PARTS_PACK_ALLOCS_H
#define CONVERTER_VERB_PARTS_PACK_ALLOCS_H

#include <stdint.h>

#include "converter/open/format_table.h"
#include "steptrace/status.h"

/* Writes the trace `path` anew; all faults are reported, and the sizes too. */
enum step_status pack_allocs(const char *path, const struct trace_format *from, const char *output,
                             uint32_t block_records);

#endif
