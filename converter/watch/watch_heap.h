/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A native program's trace as events for the model: an object's class is what was called (malloc,
 * calloc, new, ...), its call stack what the recorder wrote.  While the trace is written its blocks
 * are taken as they come; once it has ended it is read in the order of time, as `stats` does.
 */
#ifndef CONVERTER_WATCH_WATCH_HEAP_H
#define CONVERTER_WATCH_WATCH_HEAP_H

#include "converter/watch/watch_model.h"
#include "converter/watch/watch_tail.h"

struct watch_birth;

struct watch_heap {
    struct event_source *events;      /* NULL: the trace is a Java program's */
    const struct step_reader *reader; /* the source's own, of a trace that has ended; or NULL */
    uint64_t events_put;
    bool is_running;  /* the source is of a trace that grows */
    bool at_end;      /* of what there is so far */
    bool has_peeked;  /* and of the live file */
    unsigned follows; /* how often the file had grown meanwhile */
    /* of a trace that grows */
    struct alloc_source *order; /* in the events */
    struct id_table told;       /* struct watch_told, by stream */
    struct watch_birth *births; /* in the live file, at this look */
    size_t birth_count, birth_capacity;
    uint64_t clock_multiplier; /* of the live file when it was looked at; 0: it was not */
};

/* From the first event on, into a model that has begun anew and borrows the names. */
enum step_status watch_heap_start(struct watch_heap *heap, const struct watch_tail *tail,
                                  struct watch_model *model, struct step_error *error);
void watch_heap_reset(struct watch_heap *heap);
/* Puts some thousand events. */
enum step_status watch_heap_read(struct watch_heap *heap, struct watch_model *model,
                                 struct step_error *error);

/* Whether times of the live file are others than when it was looked at last: the rate of the clock
 * is found soon after the start.  The trace is to be read from the start then. */
bool watch_heap_clock_is_new(struct watch_heap *heap, const struct watch_tail *tail);
/* All of the file is read: takes what lies in the live file beyond it.  Frees count for good,
 * births are pending.  `*dropped` as in step_live_peek(). */
enum step_status watch_heap_peek(struct watch_heap *heap, const struct watch_tail *tail,
                                 struct watch_model *model, uint64_t *dropped,
                                 struct step_error *error);

#endif
