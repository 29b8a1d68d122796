/* SPDX-License-Identifier: Apache-2.0 */
/* Traces that another user's JVM has written: their pages, and what they lack. */
#ifndef CONVERTER_RECORDERS_FOREIGN_TRACES_H
#define CONVERTER_RECORDERS_FOREIGN_TRACES_H

#include <stdbool.h>
#include <time.h>

#include "converter/recorders/attach.h"

/* Writes the pages of the traces since `start` as report_of() does for one's own: FILE.html for
 * each trace that `output` names.  A child with the JVM's rights finds and reads the traces; the
 * caller gets bytes, and opens its pages alone.  Reports errors. */
enum step_status foreign_traces_report(const struct jvm_process *process, const char *output,
                                       const struct timespec *start);

/* The same for the trace in the place that is shared with a JVM that has other files. */
enum step_status foreign_place_report(const struct jvm_process *process,
                                      const struct shared_place *place, const char *output);

/* Reports what those traces lack, as lacks_of() does of one's own. */
enum step_status foreign_traces_lack(const struct jvm_process *process, const char *output,
                                     const struct timespec *start);
/* The same for the trace at `path`, as the JVM sees it, which messages call `name`. */
enum step_status foreign_trace_lacks(const struct jvm_process *process, const char *path,
                                     const char *name);

#endif
