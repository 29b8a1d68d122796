/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells, free by free, which collections there were.  The frees of one time are of one collection;
 * in a trace with exact deaths each death names the collection that found it, which may be yet to
 * come.  Times are the caller's, nanoseconds or ticks.  Memory is that of the collections to come.
 */
#ifndef CONVERTER_TRACE_COLLECTION_CLOCK_H
#define CONVERTER_TRACE_COLLECTION_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "converter/trace/event.h"

struct collection {
    uint64_t number; /* from 1, in the order of their times */
    uint64_t time;
    uint64_t objects; /* that it found dead */
    uint64_t bytes;
};

#define COLLECTION_CLOCK_RECENT_BITS 4u
#define COLLECTION_CLOCK_RECENT (1u << COLLECTION_CLOCK_RECENT_BITS)

/* Zero-initialised is at the start. */
struct collection_clock {
    uint64_t ended;            /* collections that are over */
    struct collection last;    /* of these; or, if it is under way, the one at hand */
    bool is_under_way;         /* its frees come in */
    struct collection *coming; /* that deaths have named; by place */
    uint64_t *heap;            /* their places, the earliest first */
    size_t count, place_count, capacity;
    size_t free_place;                      /* 1 + the first of those that are not used; 0: none */
    size_t recent[COLLECTION_CLOCK_RECENT]; /* 1 + place, by time: most deaths name the same */
};

void collection_clock_reset(struct collection_clock *clock);

/* Those that are under way or over. */
static inline uint64_t collection_clock_begun(const struct collection_clock *clock)
{
    return clock->ended + clock->is_under_way;
}

bool collection_clock_next(struct collection_clock *clock, uint64_t time, bool is_free,
                           struct collection *over);

/* Before each event, until it is false: tells of a collection that is over by then.  `is_free`: the
 * event is a free or a death. */
static inline bool collection_clock_ends(struct collection_clock *clock, uint64_t time,
                                         bool is_free, struct collection *over)
{
    return (clock->is_under_way || clock->count > 0) &&
           collection_clock_next(clock, time, is_free, over);
}

/* A free, at its time; or a death with `is_dated`, at the time of its collection.  False: out of
 * memory. */
bool collection_clock_put(struct collection_clock *clock, uint64_t time, bool is_dated,
                          uint64_t bytes);
/* After the last event, until it is false. */
bool collection_clock_finish(struct collection_clock *clock, struct collection *over);

/* The same, of events. */
static inline bool collection_clock_ends_before(struct collection_clock *clock,
                                                const struct trace_event *event,
                                                struct collection *over)
{
    return collection_clock_ends(clock, event->time_ns, event->kind == EVENT_OBJECT_FREE, over);
}
static inline bool collection_clock_put_free(struct collection_clock *clock,
                                             const struct trace_event *event)
{
    bool is_dated = (event->flags & TRACE_DATED) != 0;
    return collection_clock_put(clock, is_dated ? event->collected_ns : event->time_ns, is_dated,
                                event->size);
}

#endif
