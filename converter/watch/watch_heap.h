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

struct watch_heap {
    struct event_source *events; /* NULL: the trace is a Java program's */
    uint64_t events_put;
    bool is_running; /* the source is of a trace that grows */
    bool at_end;     /* of what there is so far */
};

/* From the first event on, into a model that has begun anew and borrows the names. */
enum step_status watch_heap_start(struct watch_heap *heap, const struct watch_tail *tail,
                                  struct watch_model *model, struct step_error *error);
void watch_heap_reset(struct watch_heap *heap);
/* Puts some thousand events. */
enum step_status watch_heap_read(struct watch_heap *heap, struct watch_model *model,
                                 struct step_error *error);

#endif
