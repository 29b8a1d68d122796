/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of traces that have just been recorded. */
#ifndef CONVERTER_VERBS_REPORTS_OF_H
#define CONVERTER_VERBS_REPORTS_OF_H

#include <sys/types.h>
#include <time.h>

#include "steptrace/status.h"

/* Makes FILE.html of FILE.step, and says so on stderr. */
enum step_status report_of(const char *trace);
/* The same of all traces that an agent's name of a file (with %p, %t, %h) may have become since
 * `start`: NAME.step, or NAME.2.step where that existed.  Where `process` (0: any) wrote one of
 * them, only of what it wrote. */
enum step_status reports_since(const char *pattern, const struct timespec *start, pid_t process);

#endif
