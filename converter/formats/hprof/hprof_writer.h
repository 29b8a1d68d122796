/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a graph at a moment as an HPROF 1.0.2 heap dump (docs/formats/hprof.md). */
#ifndef CONVERTER_FORMATS_HPROF_HPROF_WRITER_H
#define CONVERTER_FORMATS_HPROF_HPROF_WRITER_H

#include "converter/base/output_file.h"
#include "converter/graph/graph_moment.h"

/* Sets `lost` to the number of references that the dump cannot represent: array elements beyond the
 * length that the array's size implies, and references that are neither fields nor elements. */
enum step_status hprof_write(const struct graph_moment *graph, struct output_file *output,
                             uint64_t *lost, struct step_error *error);

#endif
