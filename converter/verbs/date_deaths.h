/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a trace with exact deaths for a verb, and reports the result. */
#ifndef CONVERTER_VERBS_DATE_DEATHS_H
#define CONVERTER_VERBS_DATE_DEATHS_H

#include "converter/graph/dated_trace.h"

/* Reports errors, and what the trace lacks.  Returns CORRUPT if the input was damaged; `summary`
 * then describes the part that was written, if any. */
enum step_status date_deaths(const char *path, const char *output, struct dated_summary *summary);
/* The same into an unnamed file, for a verb that reads it.  A trace that has exact deaths already
 * is used in place. */
struct dated_spool {
    char path[256];
    int descriptor; /* the caller closes it if it is not -1 */
};
enum step_status date_deaths_spooled(const char *path, struct dated_spool *spool);
/* Prints a few lines on stderr: the number of deaths of each kind, and what is unknown. */
void date_deaths_report(const char *output, const struct dated_summary *summary);

#endif
