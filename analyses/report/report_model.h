/* SPDX-License-Identifier: Apache-2.0 */
/* The data of a report: what is collected in one pass, and of what. */
#ifndef ANALYSES_REPORT_REPORT_MODEL_H
#define ANALYSES_REPORT_REPORT_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyses/leaks/leak_rows.h"
#include "analyses/report/findings/findings.h"
#include "analyses/simulate/simulation.h"
#include "analyses/sites/advice.h"
#include "converter/containers/id_table.h"
#include "converter/heap/heap_tracker.h"
#include "converter/statistics/statistics.h"
#include "converter/trace/call_events.h"
#include "converter/trace/collection_clock.h"
#include "converter/trace/event.h"
#include "converter/trace/event_source.h"
#include "format/json/json_output.h"

/*
 * The timeline of a report: live bytes by class, collections, and thread activity, in a bounded
 * number of steps of equal length.  When time exceeds the last step, steps are merged in pairs.
 */

struct report_model;
/* Writes "timeline": bytes, objects and maximum bytes of each step, collections, and the largest
 * classes.  Returns false if memory runs out. */
bool report_timeline_put_data(const struct report_model *model, struct json_output *json);

#define TIMELINE_STEPS 480u /* even */
/* The classes with most live bytes at the end of a step are stored; the others are its rest. */
#define TIMELINE_CLASSES 48u

struct timeline_class {
    uint32_t class_id;
    uint64_t bytes; /* live at the end of the step */
};

struct timeline_step {
    uint64_t live_bytes; /* at the end of the step */
    uint64_t live_objects;
    uint64_t most_bytes; /* maximum within the step */
    uint64_t collections;
    uint64_t freed_bytes;
    uint64_t freed_objects;
    size_t class_count;
    struct timeline_class classes[TIMELINE_CLASSES]; /* most bytes first */
};

/* Amounts by step, in order, without empty steps. */
struct timeline_amount {
    uint64_t step;
    uint64_t amount;
};

struct timeline_amounts {
    struct timeline_amount *items;
    size_t count;
    size_t capacity;
};

/* Activity of a thread in each step. */
struct timeline_thread {
    struct timeline_amounts allocated_bytes;
    struct timeline_amounts calls;
};

struct timeline {
    uint64_t start_ns; /* of the first step */
    uint64_t step_ns;
    uint64_t step_end_ns; /* end of the current step, which has the number `step` */
    size_t step;
    struct timeline_step *steps;
    struct id_table class_bytes; /* uint64_t: live bytes */
    struct id_table threads;     /* struct timeline_thread */
    uint64_t live_bytes;
    uint64_t live_objects;
    struct collection_clock clock;
    uint64_t collections;
    bool is_empty; /* no event so far */
};

/* Returns false if memory runs out; reset is allowed then. */
bool timeline_init(struct timeline *timeline, uint64_t step_ns);
void timeline_reset(struct timeline *timeline);
/* Frees must have a class and a size.  Returns false if memory runs out. */
bool timeline_put(struct timeline *timeline, const struct trace_event *events, size_t count);
/* Ends the last step at the last event. */
void timeline_finish(struct timeline *timeline);

/* The phases of a trace for the timeline of a report: a row for each name, in the timeline's
 * steps. */

/* The names with the longest total times get a row; the others are counted. */
#define REPORT_PHASES_MOST 16u

struct report_phase {
    struct step_bytes name;
    uint32_t number;
    uint64_t phases, total_ns;
    bool of_program;               /* one of them is */
    uint8_t steps[TIMELINE_STEPS]; /* 1: a phase covers part of the step */
};

struct report_phases {
    struct report_phase rows[REPORT_PHASES_MOST];
    size_t count;
    uint64_t left; /* names without a row */
};

/* Reads the phases; call it after timeline_finish(). */
enum step_status report_phases_find(struct report_phases *phases, struct event_source *source,
                                    const struct timeline *timeline, struct step_error *error);
/* Writes the members "phases" and "phases_left". */
void report_phases_put_data(const struct report_phases *phases, const struct timeline *timeline,
                            struct json_output *json);

/* What `steptrace advise` says with its defaults, for the page. */

struct report_advice {
    struct site_lives lives;
    struct advice_list list;
    bool is_known; /* the page shows the whole trace, and it has sizes */
    bool has_references;
};

/* `reader`: of the trace, for its references; NULL: it has none.  Call it after the last event. */
enum step_status report_advice_find(struct report_advice *advice, const struct trace_names *names,
                                    struct step_reader *reader, struct step_error *error);

/*
 * Collects the data of a report in one pass over a trace: its statistics, the heap at a chosen
 * moment and at the end, and activity over time.  Memory is proportional to the live set, and to
 * the number of classes, sites, threads and methods.
 */

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
 * Allocations and growth over time by class and site, in bins of equal length.  When time exceeds
 * the last bin, bins are merged in pairs.  A bin has only the tracker's cells that changed in it.
 */

#define REPORT_BINS 64u /* even */

struct bin_change {
    uint32_t cell;                       /* of the tracker; unique and ascending within a bin */
    uint64_t objects, bytes;             /* allocated */
    uint64_t grown_objects, grown_bytes; /* what lives at the bin's end, less what did at its start,
                                            modulo 2^64 */
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
    struct findings_pass findings; /* and leaks; valid if `has_leaks` */
    bool has_leaks;
    bool is_sampled; /* of the parts, only statistics, heap, snapshots[0] and leaks are filled */
    struct simulation *collectors; /* NULL: a part of the trace was selected */
    struct report_advice advice;
};

/* Reads how samples are weighed, if the trace has a sample of the objects.  Call it before the
 * first event. */
enum step_status report_model_weigh(struct report_model *model, struct event_source *source,
                                    struct step_error *error);
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
