/* SPDX-License-Identifier: Apache-2.0 */
/* The file of a trace with exact deaths: written where the user wants it, or into one without a
 * name for a command that reads it. */
#ifndef CONVERTER_GRAPH_DATED_FILE_H
#define CONVERTER_GRAPH_DATED_FILE_H

#include "converter/graph/dated_trace.h"

/* Writes it to `output`.  Reports errors, and what the trace lacks.  Returns CORRUPT if the input
 * was damaged; `summary` then describes the part that was written, if any. */
enum step_status date_deaths(const char *path, const char *output, struct dated_summary *summary);

struct dated_spool {
    char path[256]; /* empty: there is none */
    int descriptor; /* the caller closes it if it is not -1 */
};

/* Writes it into an unnamed file.  A trace that has exact deaths already is used in place.  Reports
 * errors.  Returns CORRUPT if the input was damaged. */
enum step_status date_deaths_spooled(const char *path, struct dated_spool *spool);

#endif
