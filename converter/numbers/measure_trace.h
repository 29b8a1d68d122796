/* SPDX-License-Identifier: Apache-2.0 */
/* One trace into measures, in one pass; memory is that of what lives, and of the rows. */
#ifndef CONVERTER_NUMBERS_MEASURE_TRACE_H
#define CONVERTER_NUMBERS_MEASURE_TRACE_H

#include "converter/formats/input.h"
#include "converter/heap/heap_tracker.h"
#include "converter/numbers/measure_names.h"
#include "converter/numbers/statistics.h"

/* A pass that goes on beside another. */
struct trace_measure {
    const struct trace_names *names;
    struct heap_moment moments[2];
    struct heap_snapshot snapshots[2]; /* peak, end */
    struct heap_tracker heap;
    struct statistics calls; /* of all events but those of objects */
    struct level_curve *curve;
    uint32_t kinds;
    bool has_begun;
    uint64_t first_ns, last_ns;
};

/* False: out of memory; reset is allowed then. */
bool trace_measure_init(struct trace_measure *measure, const struct trace_names *names);
void trace_measure_reset(struct trace_measure *measure);
/* A visit of input_each(); `user` is the measure. */
enum step_status trace_measure_put(void *user, const struct trace_event *events, size_t count,
                                   struct step_error *error);
/* Adds a run to the measures, which have room for it. */
enum step_status trace_measure_finish(struct trace_measure *measure, struct measures *measures,
                                      struct input *input, const char *path, enum measure_side side,
                                      struct step_error *error);

/* Reads a trace and adds it as a run.  Faults and damage are told; CORRUPT: what is whole was
 * added, unless the run count is as before. */
enum step_status measure_trace(struct measures *measures, const char *path, enum measure_side side,
                               const struct event_selection *selected);

#endif
