/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timeline of a report: live bytes by class, collections, and thread activity, in a bounded
 * number of steps of equal length.  When time exceeds the last step, steps are merged in pairs.
 */
#ifndef CONVERTER_REPORT_REPORT_TIMELINE_H
#define CONVERTER_REPORT_REPORT_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "converter/base/id_table.h"
#include "converter/trace/collection_clock.h"
#include "converter/trace/event.h"
#include "format/json/json_output.h"

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
bool timeline_init(struct timeline *timeline);
void timeline_reset(struct timeline *timeline);
/* Frees must have a class and a size.  Returns false if memory runs out. */
bool timeline_put(struct timeline *timeline, const struct trace_event *events, size_t count);
/* Ends the last step at the last event. */
void timeline_finish(struct timeline *timeline);

#endif
