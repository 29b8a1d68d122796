/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a report shows, gathered in one pass over a trace: its statistics, the heap at a chosen
 * moment and at the end, and what happened over time.  Memory is that of what lives, and of the
 * classes, sites, threads and methods that there are.
 */
#ifndef CONVERTER_REPORT_REPORT_MODEL_H
#define CONVERTER_REPORT_REPORT_MODEL_H

#include "converter/events/event_source.h"
#include "converter/heap/heap_tracker.h"
#include "converter/report/report_bins.h"
#include "converter/report/report_timeline.h"
#include "converter/statistics/statistics.h"

struct report_model {
    const struct event_source *source; /* borrowed */
    struct heap_moment moments[2];     /* what was chosen; the end */
    struct heap_snapshot snapshots[2];
    struct statistics statistics;
    struct heap_tracker heap;
    struct timeline timeline;
    struct report_bins bins;
};

/* False: out of memory; reset is allowed then. */
bool report_model_init(struct report_model *model, const struct event_source *source,
                       const struct heap_moment *moment);
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
