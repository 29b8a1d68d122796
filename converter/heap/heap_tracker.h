/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows what lives through the events of a trace, and gives the heap at chosen moments, all in
 * one pass.  Memory is that of what lives, and of the sites, classes and threads that there are.
 */
#ifndef CONVERTER_HEAP_HEAP_TRACKER_H
#define CONVERTER_HEAP_HEAP_TRACKER_H

#include "converter/base/object_table.h"
#include "converter/events/collection_clock.h"
#include "converter/events/death_dates.h"
#include "converter/events/event.h"
#include "converter/events/trace_filter.h"
#include "converter/heap/call_sites.h"
#include "converter/heap/heap_cells.h"
#include "steptrace/status.h"

/* Gets the heap at a moment; the snapshot is the receiver's, who resets it. */
typedef enum step_status (*heap_receive)(void *user, struct heap_snapshot *snapshot,
                                         struct step_error *error);

struct heap_tracker_options {
    const struct event_selection
        *selected;                     /* borrowed: objects that snapshots tell of, by their
                                          allocations; moments are the whole heap's.  NULL: all */
    bool by_thread;                    /* threads are distinguished */
    const struct heap_moment *moments; /* borrowed; the snapshot's `moment` is one of them */
    size_t moment_count;
    uint64_t every_ns;     /* not 0: also at these distances, and at the end */
    bool every_collection; /* also after each collection, and at the end */
    heap_receive receive;
    void *user;
};

/* The kinds of events that heaps are made of. */
#define HEAP_KINDS                                                                                 \
    (TRACE_KIND_BIT(EVENT_OBJECT_ALLOC) | TRACE_KIND_BIT(EVENT_OBJECT_FREE) |                      \
     TRACE_KIND_BIT(EVENT_METHOD_ENTRY) | TRACE_KIND_BIT(EVENT_METHOD_EXIT) |                      \
     TRACE_KIND_BIT(EVENT_METHOD_POP) | TRACE_KIND_BIT(EVENT_VM_DEATH))

struct heap_tracker {
    struct heap_tracker_options options;
    struct heap_sites sites;
    struct call_sites calls;
    struct heap_cells cells;
    struct object_table live; /* object -> birth in us, cell */
    bool selects;
    struct trace_filter filter;
    struct id_table verdicts; /* uint32_t: what the selection says of a site (heap_choice.c) */
    uint64_t now_ns;
    uint64_t next_ns;   /* the earliest moment to come that is a time */
    uint64_t series_ns; /* the next of a series */
    struct collection_clock clock;
    struct death_dates deaths; /* so far */
    uint64_t collections;      /* begun */
    uint64_t unknown_frees;
    uint64_t event_count;
    uint64_t event_limit; /* not 0: events after so many are passed over */
    uint64_t peak_event;  /* how many events there had been at the peak */
};

/* False: out of memory; reset is allowed then.  `names` are those of the events' source. */
bool heap_tracker_init(struct heap_tracker *tracker, const struct trace_names *names,
                       const struct heap_tracker_options *options);
void heap_tracker_reset(struct heap_tracker *tracker);

enum step_status heap_tracker_put(struct heap_tracker *tracker, const struct trace_event *events,
                                  size_t count, struct step_error *error);
/* After the last event: gives the moments that have not come (a time after the end is the end; a
 * collection that never came is reported by `time_ns` UINT64_MAX and no rows). */
enum step_status heap_tracker_finish(struct heap_tracker *tracker, struct step_error *error);

/* Calls for each object that lives now and is selected. */
typedef void (*heap_visit)(void *user, const struct heap_key *key, uint64_t bytes, uint64_t age_us);
void heap_tracker_each_object(const struct heap_tracker *tracker, heap_visit visit, void *user);

#endif
