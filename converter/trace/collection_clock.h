/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Infers the garbage collections of a trace from its frees.  Frees with the same time belong to one
 * collection, which comes after all that happened at that time: it is over with the first event of
 * a later time, and what was born at its time and is not among its frees has survived it.  In a
 * trace with exact deaths, each death names the collection that found the object, which may be
 * later.  Times are in the caller's unit, nanoseconds or ticks.  Memory is proportional to the
 * number of pending collections.
 */
#ifndef CONVERTER_TRACE_COLLECTION_CLOCK_H
#define CONVERTER_TRACE_COLLECTION_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "converter/trace/event.h"

struct collection {
    uint64_t number; /* counted from 1, in order of time */
    uint64_t time;
    uint64_t objects; /* number of objects that it found dead */
    uint64_t bytes;
};

#define COLLECTION_CLOCK_RECENT_BITS 4u
#define COLLECTION_CLOCK_RECENT (1u << COLLECTION_CLOCK_RECENT_BITS)

/* Zero-initialise at the start of a trace. */
struct collection_clock {
    uint64_t ended;            /* number of finished collections */
    struct collection last;    /* the last finished collection, or the current one */
    bool is_under_way;         /* a collection is in progress */
    struct collection *coming; /* pending collections, which deaths have named */
    uint64_t *heap;            /* a min-heap by time of indexes into `coming` */
    size_t count, place_count, capacity;
    size_t free_place;                      /* 1 + first unused index of `coming`; 0: none */
    size_t recent[COLLECTION_CLOCK_RECENT]; /* cache by time, 1 + index: most deaths name the same
                                               collection */
};

void collection_clock_reset(struct collection_clock *clock);

/* Returns the number of collections that are finished or in progress. */
static inline uint64_t collection_clock_begun(const struct collection_clock *clock)
{
    return clock->ended + clock->is_under_way;
}

bool collection_clock_next(struct collection_clock *clock, uint64_t time, struct collection *over);

/* Call it before each event until it returns false: returns true and sets `*over` for each
 * collection that is finished by then. */
static inline bool collection_clock_ends(struct collection_clock *clock, uint64_t time,
                                         struct collection *over)
{
    return (clock->is_under_way ? time != clock->last.time : clock->count > 0) &&
           collection_clock_next(clock, time, over);
}

/* Adds a free, at its time, or with `is_dated` a death, at the time of its collection.  Returns
 * false if out of memory. */
bool collection_clock_put(struct collection_clock *clock, uint64_t time, bool is_dated,
                          uint64_t bytes);
/* Call it after the last event until it returns false. */
bool collection_clock_finish(struct collection_clock *clock, struct collection *over);

/* The same for events. */
static inline bool collection_clock_ends_before(struct collection_clock *clock,
                                                const struct trace_event *event,
                                                struct collection *over)
{
    return collection_clock_ends(clock, event->time_ns, over);
}
static inline bool collection_clock_put_free(struct collection_clock *clock,
                                             const struct trace_event *event)
{
    bool is_dated = (event->flags & TRACE_DATED) != 0;
    uint64_t time = is_dated ? event->collected_ns : event->time_ns;
    if (!clock->is_under_way || clock->last.time != time)
        return collection_clock_put(clock, time, is_dated, event->size);
    clock->last.objects++;
    clock->last.bytes += event->size;
    return true;
}

#endif
