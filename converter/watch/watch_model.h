/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sums of a watched trace so far, by class, call stack, thread and method, and over time.
 * Events may arrive in any order: a death may come before the birth, since the streams of a
 * running trace reach its file one farther than another.
 *
 * Events of the file are counted once and for good (watch_model_put).  Events of the live file are
 * counted anew at each look (watch_model_begin_pending, watch_model_pend), until the file has them.
 * Memory is proportional to the live objects and the names.
 */
#ifndef CONVERTER_WATCH_WATCH_MODEL_H
#define CONVERTER_WATCH_WATCH_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "converter/base/id_set.h"
#include "converter/base/id_table.h"
#include "converter/base/object_table.h"
#include "converter/trace/names.h"
#include "converter/trace/trace_filter.h"

/*
 * Bytes over time as differences in steps of equal length, of which two become one when time runs
 * past the last: changes may come in any order of time.
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

/* What lived at the end of `columns` equal parts of the time up to `end_ns`, from time 0 on. */
void watch_curve_live(const struct watch_curve *curve, uint64_t end_ns, uint64_t *out,
                      size_t columns);

enum watch_axis { WATCH_CLASSES, WATCH_SITES, WATCH_THREADS, WATCH_METHODS, WATCH_AXES };

struct watch_sums {
    uint64_t objects, bytes;             /* allocated, or there when tracing began */
    uint64_t freed_objects, freed_bytes; /* of these */
    uint64_t calls;                      /* methods */
};

struct watch_row {
    struct watch_sums sums;    /* of what is in the file */
    struct watch_sums pending; /* of what lies in the live file, if `look` is the model's */
    uint64_t look;
    struct watch_sums shown;       /* the most that was known of each sum at any look */
    struct watch_sums marked;      /* `shown` when the moment was marked */
    double bytes_rate, calls_rate; /* a second, between the last two looks */
};

/* Rows that objects of one class, stack and thread are counted in. */
struct watch_place {
    bool is_known;
    uint32_t class_id, stack, thread;
    size_t count;
    struct watch_row *rows[1 + WATCH_AXES];
};
#define WATCH_PLACE_BITS 10u

struct watch_model {
    const struct trace_names *names; /* borrowed */
    struct trace_filter filter;
    struct id_table rows[WATCH_AXES]; /* struct watch_row */
    struct watch_row total;
    struct watch_place places[1u << WATCH_PLACE_BITS]; /* those that were used last */
    struct object_table live;    /* of what was read; `value`: thread and call stack */
    struct id_set early;         /* dead before they were born */
    struct id_set early_pending; /* the same, of this look */
    uint64_t early_count, early_pending_count;
    struct watch_curve curve;
    uint64_t look;
    uint64_t last_ns; /* of all that was told */
    bool has_mark;
    uint64_t marked_ns;
    bool no_memory;
};

/* False: out of memory; reset is allowed then. */
bool watch_model_init(struct watch_model *model, const struct trace_names *names,
                      const struct event_selection *selected);
void watch_model_reset(struct watch_model *model);
/* Begins anew; `marked` stays, and `shown` unless `forget`.  False: out of memory. */
bool watch_model_restart(struct watch_model *model, const struct event_selection *selected,
                         bool forget);

/* An event of the file. */
void watch_model_put(struct watch_model *model, const struct trace_event *event);
/* Calls of a method that were counted, not recorded. */
void watch_model_put_calls(struct watch_model *model, uint32_t method_id, uint64_t calls);

/* Forgets the events of the live file; those that it has now follow, frees before births. */
void watch_model_begin_pending(struct watch_model *model);
void watch_model_pend(struct watch_model *model, const struct trace_event *event);
/* A birth whose object lives, or is dead already. */
void watch_model_pend_object(struct watch_model *model, const struct trace_event *event,
                             bool lives);

/* A row's sums with what is pending. */
struct watch_sums watch_row_now(const struct watch_model *model, const struct watch_row *row);
/* Rows get other numbers: drops them. */
void watch_model_drop_rows(struct watch_model *model);

static inline uint64_t watch_live_bytes(const struct watch_sums *sums)
{
    return sums->bytes > sums->freed_bytes ? sums->bytes - sums->freed_bytes : 0;
}
static inline uint64_t watch_live_objects(const struct watch_sums *sums)
{
    return sums->objects > sums->freed_objects ? sums->objects - sums->freed_objects : 0;
}

/* ---- watch_figures.c ---- */

/*
 * Ends a look: raises each row's `shown` to the row's sums, and computes rates over `seconds`
 * (0: not known).  Every sum that was seen is a lower bound of what happened until now, so the
 * highest one is the best: a sum does not fall where fewer streams were read than at the look
 * before.  `is_final`: all of the trace is read, and its sums replace what was shown.
 */
void watch_model_settle(struct watch_model *model, double seconds, bool is_final);
/* Growth is measured from the last look on. */
void watch_model_mark(struct watch_model *model);

#endif
