/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The totals of a watched trace by class, call stack, thread and method, and over time.  Events may
 * arrive in any order.  A death may precede its birth, since a running trace may have more of one
 * stream than of another.
 *
 * Events of the file are counted once (watch_model_put).  Events of the live file are counted again
 * at each look (watch_model_begin_pending, watch_model_pend), until they are in the file.  Memory
 * is proportional to the live objects and the names.
 */
#ifndef CONVERTER_WATCH_WATCH_MODEL_H
#define CONVERTER_WATCH_WATCH_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "converter/base/estimates.h"
#include "converter/base/id_set.h"
#include "converter/base/id_table.h"
#include "converter/base/object_table.h"
#include "converter/trace/names.h"
#include "converter/trace/sample_weights.h"
#include "converter/trace/trace_filter.h"

/*
 * Bytes over time, stored as differences in steps of equal length, so changes may arrive in any
 * time order.  When time exceeds the last step, steps are merged in pairs.
 */

#define WATCH_CURVE_STEPS 512u /* even */

struct watch_curve {
    uint64_t step_ns;
    size_t count; /* steps in use, from time 0 on */
    uint64_t allocated[WATCH_CURVE_STEPS];
    uint64_t freed[WATCH_CURVE_STEPS];
    int64_t pending[WATCH_CURVE_STEPS]; /* replaced at each look */
};

void watch_curve_init(struct watch_curve *curve);
void watch_curve_alloc(struct watch_curve *curve, uint64_t time_ns, uint64_t bytes);
void watch_curve_free(struct watch_curve *curve, uint64_t time_ns, uint64_t bytes);

/* Writes the live bytes at the end of each of `columns` equal parts of the time from 0 to
 * `end_ns`. */
void watch_curve_live(const struct watch_curve *curve, uint64_t end_ns, uint64_t *out,
                      size_t columns);

enum watch_axis { WATCH_CLASSES, WATCH_SITES, WATCH_THREADS, WATCH_METHODS, WATCH_AXES };

struct watch_sums {
    uint64_t objects, bytes;             /* allocated, or existing when tracing began */
    uint64_t freed_objects, freed_bytes; /* of these */
    uint64_t calls;                      /* of methods */
};

struct watch_row {
    struct watch_sums sums;    /* of the file */
    struct watch_sums pending; /* of the live file, valid if `look` equals the model's */
    uint64_t look;
    struct watch_sums shown;       /* maximum of each sum at any look */
    struct watch_sums marked;      /* `shown` at the mark */
    double bytes_rate, calls_rate; /* per second, between the last two looks */
};

/* Of a sampled trace: what the samples of a row stand for.  The row counts the samples. */
struct watch_estimates {
    struct sample_sums allocated, freed;
    struct sample_sums live; /* at the end, if objects were given up (sample_weights.h) */
    struct sample_sums pending, pending_freed; /* of the live file, as in struct watch_row */
    uint64_t look;
};

/* Rows in which objects of one class, stack and thread are counted. */
struct watch_place {
    bool is_known;
    uint32_t class_id, stack, thread;
    size_t count;
    struct watch_row *rows[1 + WATCH_AXES];
    size_t estimate_count; /* 0: the trace has all objects */
    struct watch_estimates *estimates[1 + WATCH_AXES];
};
#define WATCH_PLACE_BITS 10u

struct watch_model {
    const struct trace_names *names; /* borrowed */
    struct trace_filter filter;
    struct id_table rows[WATCH_AXES]; /* struct watch_row */
    struct watch_row total;
    struct watch_place places[1u << WATCH_PLACE_BITS]; /* cache of recent places */
    struct object_table live;                          /* `value`: thread and call stack */
    struct id_set early;                               /* deaths that arrived before their births */
    struct id_set early_pending;                       /* the same, at this look */
    uint64_t early_count, early_pending_count;
    struct watch_curve curve;
    struct sample_weights weights;         /* of a sampled trace; interval_bytes is 0 otherwise */
    struct id_table estimates[WATCH_AXES]; /* struct watch_estimates */
    struct watch_estimates total_estimates;
    bool gave_up;  /* objects were given up, and `weights` does not know when */
    bool has_live; /* the estimates have `live` */
    uint64_t look;
    uint64_t last_ns; /* of all events */
    bool has_mark;
    uint64_t marked_ns;
    bool no_memory;
};

/* Returns false if memory runs out; reset is allowed then. */
bool watch_model_init(struct watch_model *model, const struct trace_names *names,
                      const struct event_selection *selected);
void watch_model_reset(struct watch_model *model);
/* Restarts the model.  Keeps `marked`, and `shown` unless `forget`.  Returns false if memory runs
 * out. */
bool watch_model_restart(struct watch_model *model, const struct event_selection *selected,
                         bool forget);

/* Adds an event of the file. */
void watch_model_put(struct watch_model *model, const struct trace_event *event);
/* Adds calls of a method that were counted without call events. */
void watch_model_put_calls(struct watch_model *model, uint32_t method_id, uint64_t calls);

/* Drops the events of the live file.  The caller adds its current events next, frees before
 * births. */
void watch_model_begin_pending(struct watch_model *model);
void watch_model_pend(struct watch_model *model, const struct trace_event *event);
/* Adds a birth whose object is alive or already dead. */
void watch_model_pend_object(struct watch_model *model, const struct trace_event *event,
                             bool lives);

/* Returns a row's sums, pending ones included. */
struct watch_sums watch_row_now(const struct watch_model *model, const struct watch_row *row);
/* Drops all rows, because their ids change. */
void watch_model_drop_rows(struct watch_model *model);

static inline bool watch_model_is_sampled(const struct watch_model *model)
{
    return model->weights.interval_bytes != 0;
}
/* Returns false if objects were given up and not all is read: deaths have no weights then. */
static inline bool watch_model_knows_deaths(const struct watch_model *model)
{
    return sample_weights_are_whole(&model->weights) ? !model->gave_up : model->has_live;
}
/* Returns a row's estimates, pending ones included. */
struct watch_estimates watch_estimates_now(const struct watch_model *model,
                                           const struct watch_estimates *estimates);
/* Returns what lives of a row, if deaths are known. */
struct sample_sums watch_estimates_live(const struct watch_model *model,
                                        const struct watch_estimates *estimates);
/* Of a sampled trace that was read in the order of time: estimates what lives at its end. */
void watch_model_finish(struct watch_model *model);

static inline uint64_t watch_live_bytes(const struct watch_sums *sums)
{
    return sums->bytes > sums->freed_bytes ? sums->bytes - sums->freed_bytes : 0;
}
static inline uint64_t watch_live_objects(const struct watch_sums *sums)
{
    return sums->objects > sums->freed_objects ? sums->objects - sums->freed_objects : 0;
}

/*
 * Ends a look: raises each row's `shown` to the row's sums, and computes rates over `seconds` (0:
 * unknown).  Each observed sum is a lower bound, so the largest is the best estimate, and sums do
 * not fall if fewer streams were read than at the previous look.  `is_final`: the whole trace was
 * read, and its sums replace `shown`.
 */
void watch_model_settle(struct watch_model *model, double seconds, bool is_final);
/* Starts measuring growth at the last look. */
void watch_model_mark(struct watch_model *model);

#endif
