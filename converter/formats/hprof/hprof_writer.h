/* SPDX-License-Identifier: Apache-2.0 */
/* A graph at a moment as an HPROF 1.0.2 heap dump (docs/formats/hprof.md). */
#ifndef CONVERTER_FORMATS_HPROF_HPROF_WRITER_H
#define CONVERTER_FORMATS_HPROF_HPROF_WRITER_H

#include "converter/base/output_file.h"
#include "converter/graph/graph_moment.h"

/* `lost` counts references that have no place in the dump: elements behind the end that an array's
 * size allows, and what is no field and no element. */
enum step_status hprof_write(const struct graph_moment *graph, struct output_file *output,
                             uint64_t *lost, struct step_error *error);

#endif
