/* SPDX-License-Identifier: Apache-2.0 */
/* The traces of several runs: a file, a comma-separated list, or a directory. */
#ifndef CONVERTER_STATISTICS_TRACE_SET_H
#define CONVERTER_STATISTICS_TRACE_SET_H

#include "converter/statistics/measures.h"
#include "converter/trace/event_selection.h"

struct trace_set {
    char *paths[MEASURE_RUNS_MOST];
    size_t count;
};

/* A directory stands for its STEP traces, ordered by name.  Reports errors; reset is allowed in any
 * case. */
enum step_status trace_set_find(const char *operand, struct trace_set *set);
void trace_set_reset(struct trace_set *set);
/* Adds each trace as a run.  Stops at a trace that cannot be read; `run_count` shows how many were
 * added. */
enum step_status trace_set_measure(const struct trace_set *set, enum measure_side side,
                                   const struct event_selection *selected,
                                   struct measures *measures);

#endif
