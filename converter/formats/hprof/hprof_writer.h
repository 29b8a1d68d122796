/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a graph at a moment as an HPROF 1.0.2 heap dump (docs/formats/hprof.md). */
#ifndef CONVERTER_FORMATS_HPROF_HPROF_WRITER_H
#define CONVERTER_FORMATS_HPROF_HPROF_WRITER_H

#include "converter/base/output_file.h"
#include "converter/formats/hprof/hprof_classes.h"

/* Sets `notes` to what the dump could not represent (hprof_report()). */
enum step_status hprof_write(const struct graph_moment *graph, struct output_file *output,
                             struct hprof_notes *notes, struct step_error *error);

#endif
