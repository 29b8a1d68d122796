/* SPDX-License-Identifier: Apache-2.0 */
/* A trace with exact deaths, made for a verb: opened, written, and what came of it told. */
#ifndef CONVERTER_VERBS_DATE_DEATHS_H
#define CONVERTER_VERBS_DATE_DEATHS_H

#include "converter/graph/dated_trace.h"

/* Faults are told, and what the trace lacks.  CORRUPT: the input was damaged; where
 * what could be read was written, `summary` says so, and is of that. */
enum step_status date_deaths(const char *path, const char *output, struct dated_summary *summary);
/* The same into a file without a name, for a verb that goes on with it.  A trace that is dated
 * already stays where it is. */
struct dated_spool {
    char path[256];
    int descriptor; /* to be closed where it is not -1 */
};
enum step_status date_deaths_spooled(const char *path, struct dated_spool *spool);
/* A few lines on stderr: how many deaths of which kind, and what is not known. */
void date_deaths_report(const char *output, const struct dated_summary *summary);

#endif
