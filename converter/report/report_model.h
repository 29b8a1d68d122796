/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects the data of a report in one pass over a trace: its statistics, the heap at a chosen
 * moment and at the end, and activity over time.  Memory is proportional to the live set, and to
 * the number of classes, sites, threads and methods.
 */
#ifndef CONVERTER_REPORT_REPORT_MODEL_H
#define CONVERTER_REPORT_REPORT_MODEL_H

#include "converter/heap/heap_tracker.h"
#include "converter/numbers/leak_tracker.h"
#include "converter/numbers/statistics.h"
#include "converter/report/report_advice.h"
#include "converter/report/report_phases.h"
#include "converter/report/report_timeline.h"
#include "converter/trace/call_events.h"
#include "converter/trace/event_source.h"

/*
 * The longest calls of a trace, as many as a page draws, with their position on the thread's stack.
 */

#define REPORT_CALLS ((size_t) 12000)

struct report_call {
    uint64_t start_ns, length_ns;
    uint32_t thread_id, method_id;
    uint32_t depth; /* 0: outermost */
};

struct report_calls {
    struct call_events calls;
    struct report_call *longest; /* a heap, shortest call first */
    size_t count;
    uint64_t seen;
};

/*
 * Allocations and deaths over time by class and site, in bins of equal length.  When time exceeds
 * the last bin, bins are merged in pairs.  A bin has only the tracker's cells that changed in it.
 */

#define REPORT_BINS 64u /* even */

struct bin_change {
    uint32_t cell;                     /* of the tracker; unique and ascending within a bin */
    uint64_t objects, bytes;           /* allocated */
    uint64_t dead_objects, dead_bytes; /* whenever they were allocated */
};

struct report_bin {
    struct bin_change *changes;
    size_t count;
};

struct report_bins {
    struct report_bin bins[REPORT_BINS];
    size_t count; /* closed bins */
    uint64_t start_ns, step_ns, end_ns;
    bool has_begun;
    struct bin_change *before; /* by cell: totals when the last bin was closed */
    size_t before_count;
};

struct report_model {
    const struct event_source *source; /* borrowed */
    struct heap_moment moments[2];     /* the chosen moment, and the end */
    struct heap_snapshot snapshots[2];
    struct statistics statistics;
    struct heap_tracker heap;
    struct timeline timeline;
    struct report_phases phases; /* filled by report_phases_find() */
    struct report_bins bins;
    struct report_calls calls;
    struct leak_tracker leaks; /* valid if `has_leaks` */
    bool has_leaks;
    struct simulation *collectors; /* NULL: a part of the trace was selected */
    struct report_advice advice;
};

/* `has_leaks`: tracks leaks of the whole trace, since a selection would change which collections
 * count.  Returns false if memory runs out; reset is allowed then. */
bool report_model_init(struct report_model *model, const struct event_source *source,
                       const struct heap_moment *moment, bool has_leaks);
void report_model_reset(struct report_model *model);

/* Callback for input_each(); `user` is the model. */
enum step_status report_model_put(void *user, const struct trace_event *events, size_t count,
                                  struct step_error *error);
/* Returns INVALID if the chosen moment is not in the trace. */
enum step_status report_model_finish(struct report_model *model, struct step_error *error);

static inline const struct heap_snapshot *report_moment(const struct report_model *model)
{
    return &model->snapshots[0];
}

static inline const struct heap_snapshot *report_end(const struct report_model *model)
{
    return &model->snapshots[1];
}

#endif
