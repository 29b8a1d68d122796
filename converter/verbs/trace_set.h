/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of several runs: a file, files with commas between, or a directory of traces. */
#ifndef CONVERTER_VERBS_TRACE_SET_H
#define CONVERTER_VERBS_TRACE_SET_H

#include <stddef.h>

#include "converter/numbers/measure_trace.h"
#include "steptrace/status.h"

struct trace_set {
    char **paths;
    size_t count;
};

/* Of a directory, its STEP traces in order of their names.  Faults are told; reset is allowed in
 * any case. */
enum step_status trace_set_find(const char *operand, struct trace_set *set);
void trace_set_reset(struct trace_set *set);
/* Adds each trace as a run; a trace that cannot be read ends it (`run_count` tells). */
enum step_status trace_set_measure(const struct trace_set *set, enum measure_side side,
                                   const struct event_selection *selected,
                                   struct measures *measures);

#endif
