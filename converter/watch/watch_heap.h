/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts a native program's trace to events for the model.  An object's class is the function
 * that allocated it (malloc, calloc, new, ...).  While the trace is being written, blocks are read
 * as they arrive; a completed trace is read in time order, like `stats` does.
 */
#ifndef CONVERTER_WATCH_WATCH_HEAP_H
#define CONVERTER_WATCH_WATCH_HEAP_H

#include "converter/watch/watch_model.h"
#include "converter/watch/watch_tail.h"

struct watch_birth;

struct watch_heap {
    struct event_source *events;      /* NULL: a Java program's trace is read by blocks */
    const struct step_reader *reader; /* reader of the source, for a completed trace; or NULL */
    uint64_t events_put;
    bool is_running;  /* the source reads a growing trace */
    bool at_end;      /* everything available was read */
    bool has_peeked;  /* of the live file too */
    unsigned follows; /* how often the file has grown meanwhile */
    /* for a growing trace */
    struct alloc_source *order; /* within `events` */
    struct id_table reported;   /* struct watch_seen, by stream */
    struct watch_birth *births; /* in the live file, at this look */
    size_t birth_count, birth_capacity;
    uint64_t clock_multiplier; /* of the live file at the last look; 0: none */
};

/* Starts at the first event, with a model that was restarted and borrows the names. */
enum step_status watch_heap_start(struct watch_heap *heap, const struct watch_tail *tail,
                                  struct watch_model *model, struct step_error *error);
/* The same for a Java program's trace that has ended, in the order of time: with phases. */
enum step_status watch_heap_start_ordered(struct watch_heap *heap, const struct watch_tail *tail,
                                          struct watch_model *model, struct step_error *error);
void watch_heap_reset(struct watch_heap *heap);
/* Adds some thousand events. */
enum step_status watch_heap_read(struct watch_heap *heap, struct watch_model *model,
                                 struct step_error *error);

/* Returns true if times of the live file have changed since the last look: the clock's rate is
 * measured soon after the start.  The trace must then be read again from the start. */
bool watch_heap_clock_is_new(struct watch_heap *heap, const struct watch_tail *tail);
/* Adds what the live file has beyond the end of the trace, which must have been read completely.
 * Frees are permanent, births are pending.  `*dropped` as in step_live_peek(). */
enum step_status watch_heap_peek(struct watch_heap *heap, const struct watch_tail *tail,
                                 struct watch_model *model, uint64_t *dropped,
                                 struct step_error *error);

#endif
