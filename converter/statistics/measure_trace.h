/* SPDX-License-Identifier: Apache-2.0 */
/* Measures one trace in one pass.  Memory is proportional to the live set and the rows. */
#ifndef CONVERTER_STATISTICS_MEASURE_TRACE_H
#define CONVERTER_STATISTICS_MEASURE_TRACE_H

#include "converter/formats/input.h"
#include "converter/heap/heap_snapshot.h"
#include "converter/heap/heap_tracker.h"
#include "converter/statistics/measures.h"
#include "converter/statistics/statistics.h"

/* Adds the live amounts by class, site and thread.  Returns false if memory runs out. */
bool measure_heap(struct measures *measures, const struct heap_sites *sites,
                  const struct heap_snapshot *snapshot, enum measure_side side);

/* State of a pass, which may run beside others. */
struct trace_measure {
    const struct trace_names *names;
    struct heap_moment moments[2];
    struct heap_snapshot snapshots[2]; /* peak (not of a sampled trace), end */
    struct heap_tracker heap;
    struct statistics calls; /* of all events except those of objects */
    struct level_curve *curve;
    uint32_t kinds;
    bool has_begun;
    uint64_t first_ns, last_ns;
};

/* Call heap_tracker_weigh() before the first event.  Returns false if memory runs out; reset is
 * allowed then. */
bool trace_measure_init(struct trace_measure *measure, const struct event_source *source);
void trace_measure_reset(struct trace_measure *measure);
/* Callback for input_each(); `user` is the measure. */
enum step_status trace_measure_put(void *user, const struct trace_event *events, size_t count,
                                   struct step_error *error);
/* Adds a run to the measures, which must have room for it. */
enum step_status trace_measure_finish(struct trace_measure *measure, struct measures *measures,
                                      struct input *input, const char *path, enum measure_side side,
                                      struct step_error *error);

#endif
