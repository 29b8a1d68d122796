/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a report shows, gathered in one pass over a trace: its statistics, the heap at a chosen
 * moment and at the end, and what happened over time.  Memory is that of what lives, and of the
 * classes, sites, threads and methods that there are.
 */
#ifndef CONVERTER_REPORT_REPORT_MODEL_H
#define CONVERTER_REPORT_REPORT_MODEL_H

#include "converter/heap/heap_tracker.h"
#include "converter/numbers/leak_tracker.h"
#include "converter/numbers/statistics.h"
#include "converter/report/report_timeline.h"
#include "converter/trace/call_events.h"
#include "converter/trace/event_source.h"

/*
 * The longest calls of a trace, as many as a page draws, with where they stood on their thread's
 * stack.
 */

#define REPORT_CALLS ((size_t) 12000)

struct report_call {
    uint64_t start_ns, length_ns;
    uint32_t thread_id, method_id;
    uint32_t depth; /* 0: outermost */
};

struct report_calls {
    struct call_events calls;
    struct id_table threads;     /* struct open_calls */
    struct report_call *longest; /* a heap, the shortest first */
    size_t count;
    uint64_t seen;
};

/*
 * What was allocated when, and what died, by class and site: bins of equal length, of which two
 * become one when time runs past the last.  A bin has only the cells of the tracker that changed in
 * it.
 */

#define REPORT_BINS 64u /* even */

struct bin_change {
    uint32_t cell;                     /* of the tracker; in a bin each once, in order */
    uint64_t objects, bytes;           /* allocated */
    uint64_t dead_objects, dead_bytes; /* of whenever they were allocated */
};

struct report_bin {
    struct bin_change *changes;
    size_t count;
};

struct report_bins {
    struct report_bin bins[REPORT_BINS];
    size_t count; /* that are closed */
    uint64_t start_ns, step_ns, end_ns;
    bool has_begun;
    struct bin_change *before; /* by cell: what it came to when the last bin was closed */
    size_t before_count;
};

struct report_model {
    const struct event_source *source; /* borrowed */
    struct heap_moment moments[2];     /* what was chosen; the end */
    struct heap_snapshot snapshots[2];
    struct statistics statistics;
    struct heap_tracker heap;
    struct timeline timeline;
    struct report_bins bins;
    struct report_calls calls;
    struct leak_tracker leaks; /* with `has_leaks` */
    bool has_leaks;
};

/* `has_leaks`: of the whole trace; what a selection leaves out would change which collections
 * count. False: out of memory; reset is allowed then. */
bool report_model_init(struct report_model *model, const struct event_source *source,
                       const struct heap_moment *moment, bool has_leaks);
void report_model_reset(struct report_model *model);

/* A visit of input_each(); `user` is the model. */
enum step_status report_model_put(void *user, const struct trace_event *events, size_t count,
                                  struct step_error *error);
/* INVALID: the moment never came. */
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
