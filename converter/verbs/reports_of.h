/* SPDX-License-Identifier: Apache-2.0 */
/* Report pages and summaries of traces that have just been recorded. */
#ifndef CONVERTER_VERBS_REPORTS_OF_H
#define CONVERTER_VERBS_REPORTS_OF_H

#include <sys/types.h>
#include <time.h>

#include "steptrace/status.h"

/* Writes FILE.html for FILE.step, and reports its name on stderr. */
enum step_status report_of(const char *trace);
/* Prints on stderr what the trace allocated, and its largest sites. */
enum step_status summary_of(const char *trace);
/* Calls `each` for all traces since `start` whose names match an agent's file name pattern (with
 * %p, %t, %h): NAME.step, or NAME.2.step if that existed.  If `process` (0: any) wrote any of them,
 * only for those.  IO, reported: there is none. */
enum step_status traces_since(const char *pattern, const struct timespec *start, pid_t process,
                              enum step_status (*each)(const char *trace));

#endif
