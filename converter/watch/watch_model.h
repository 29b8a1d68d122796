/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a watched trace comes to so far, by class, call stack, thread and method, and over time.
 * Events may come in any order: a death may be told before the birth, since the streams of a
 * running trace reach its file one farther than another.
 *
 * What is in the file counts for good (watch_model_put); what lies in the live file is counted anew
 * at each look (watch_model_begin_pending, watch_model_pend), until it is in the file.  Memory is
 * that of what lives, and of the names.
 */
#ifndef CONVERTER_WATCH_WATCH_MODEL_H
#define CONVERTER_WATCH_WATCH_MODEL_H

#include "converter/base/id_set.h"
#include "converter/base/id_table.h"
#include "converter/base/object_table.h"
#include "converter/events/names.h"
#include "converter/events/trace_filter.h"
#include "converter/watch/watch_curve.h"

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
    struct watch_sums marked;      /* when the moment was marked */
    struct watch_sums before;      /* at the look before, */
    double bytes_rate, calls_rate; /* and what came since, a second */
};

/* An event stands for so many at most: what was not read is told by what was. */
#define WATCH_WEIGHT_MOST UINT32_C(4095)

struct watch_model {
    const struct trace_names *names; /* borrowed */
    struct trace_filter filter;
    struct id_table rows[WATCH_AXES]; /* struct watch_row */
    struct watch_row total;
    struct object_table live; /* of what was read; `value`: where it is from, and its weight */
    struct id_set early;      /* dead before they were born */
    uint64_t early_count;
    struct watch_curve curve;
    uint64_t look;
    uint64_t last_ns; /* of all that was told */
    bool has_mark;
    uint64_t marked_ns;
    uint64_t pending_frees; /* at this look, of whatever object */
    uint32_t stride;        /* of objects, each so-many-th is followed */
    bool no_memory;
};

/* False: out of memory; reset is allowed then. */
bool watch_model_init(struct watch_model *model, const struct trace_names *names,
                      const struct event_selection *selected);
void watch_model_reset(struct watch_model *model);
/* All is put anew; what was marked stays.  False: out of memory. */
bool watch_model_restart(struct watch_model *model, const struct event_selection *selected);

/* Whether an object is among those that are followed: all, or a share that goes by their numbers.
 */
static inline bool watch_model_samples(const struct watch_model *model, uint64_t object)
{
    return ((object >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 40 & (model->stride - 1)) == 0;
}
/* From now on only each so-many-th is, a power of two and more than before; those that were
 * followed and are no more are told by the others. */
void watch_model_thin(struct watch_model *model, uint32_t stride);

/* An event of the file, which stands for `weight` of its kind; a birth or death that is followed,
 * for all that are not. */
void watch_model_put(struct watch_model *model, const struct trace_event *event, uint32_t weight);
/* Calls of a method that were counted, not recorded. */
void watch_model_put_calls(struct watch_model *model, uint32_t method_id, uint64_t calls);

/* From now on what lies in the live file is told anew. */
void watch_model_begin_pending(struct watch_model *model);
void watch_model_pend(struct watch_model *model, const struct trace_event *event, uint32_t weight);
/* A birth whose object lives, or is dead already. */
void watch_model_pend_object(struct watch_model *model, const struct trace_event *event,
                             bool lives);

/* What a row comes to with what is pending. */
struct watch_sums watch_row_now(const struct watch_model *model, const struct watch_row *row);
static inline uint64_t watch_live_bytes(const struct watch_sums *sums)
{
    return sums->bytes > sums->freed_bytes ? sums->bytes - sums->freed_bytes : 0;
}
static inline uint64_t watch_live_objects(const struct watch_sums *sums)
{
    return sums->objects > sums->freed_objects ? sums->objects - sums->freed_objects : 0;
}

#endif
