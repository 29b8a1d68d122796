/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a report draws over time: live bytes by class, collections, and what threads did, in a
 * bounded number of steps of equal length.  When time runs past the last step, two become one.
 */
#ifndef CONVERTER_REPORT_REPORT_TIMELINE_H
#define CONVERTER_REPORT_REPORT_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "converter/base/id_table.h"
#include "converter/trace/collection_clock.h"
#include "converter/trace/event.h"

#define TIMELINE_STEPS 480u /* even */
/* At the end of a step the classes with most live bytes are kept; the others are its rest. */
#define TIMELINE_CLASSES 48u

struct timeline_class {
    uint32_t class_id;
    uint64_t bytes; /* live at the step's end */
};

struct timeline_step {
    uint64_t live_bytes; /* at its end */
    uint64_t live_objects;
    uint64_t most_bytes; /* within it */
    uint64_t collections;
    uint64_t freed_bytes;
    uint64_t freed_objects;
    size_t class_count;
    struct timeline_class classes[TIMELINE_CLASSES]; /* most bytes first */
};

/* Amounts by step, of those steps that have some, in order. */
struct timeline_amount {
    uint64_t step;
    uint64_t amount;
};

struct timeline_amounts {
    struct timeline_amount *items;
    size_t count;
    size_t capacity;
};

/* What a thread did in each step. */
struct timeline_thread {
    struct timeline_amounts allocated_bytes;
    struct timeline_amounts calls;
};

struct timeline {
    uint64_t start_ns; /* of the first step */
    uint64_t step_ns;
    uint64_t step_end_ns; /* of the step in use, which has the number `step` */
    size_t step;
    struct timeline_step *steps;
    struct id_table class_bytes; /* uint64_t: live */
    struct id_table threads;     /* struct timeline_thread */
    uint64_t live_bytes;
    uint64_t live_objects;
    struct collection_clock clock;
    uint64_t collections;
    bool is_empty; /* no event so far */
};

/* False: out of memory; reset is allowed then. */
bool timeline_init(struct timeline *timeline);
void timeline_reset(struct timeline *timeline);
/* Frees must tell of class and size.  False: out of memory. */
bool timeline_put(struct timeline *timeline, const struct trace_event *events, size_t count);
/* The last step ends with the last event. */
void timeline_finish(struct timeline *timeline);

#endif
