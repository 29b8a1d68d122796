/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows what lives through the events of a trace, and gives the heap at chosen moments, all in
 * one pass.  Memory is that of what lives, and of the sites, classes and threads that there are.
 */
#ifndef CONVERTER_HEAP_HEAP_TRACKER_H
#define CONVERTER_HEAP_HEAP_TRACKER_H

#include "converter/base/object_table.h"
#include "converter/base/peak.h"
#include "converter/heap/call_sites.h"
#include "converter/heap/heap_snapshot.h"
#include "converter/trace/collection_clock.h"
#include "converter/trace/death_dates.h"
#include "converter/trace/event.h"
#include "converter/trace/trace_filter.h"
#include "format/core/hash_index.h"
#include "steptrace/status.h"

/*
 * Running sums by class, site and thread, and what they were when most bytes lived: a cell keeps
 * its value of that moment only once it changes afterwards, so that a new peak costs nothing.
 */

/* `births_us` is the sum of the times of birth of what lives, modulo 2^64; `lived_us` the sum of
 * the lifetimes of what has died. */
struct heap_sums {
    uint64_t objects, bytes, births_us, lived_us;
    uint64_t allocated_objects, allocated_bytes;
};

struct heap_cell {
    struct heap_key key;
    uint32_t
        peak; /* the peak that `at_peak` is of; an older one: the sums have not changed since */
    struct heap_sums now;
    struct heap_sums at_peak;
};

struct heap_cells {
    struct heap_cell *items;
    size_t count;
    size_t capacity;
    struct step_index index; /* by key */
    uint32_t peak;           /* number of the last peak; 0: peaks are not followed */
    struct heap_sums all;
    struct heap_sums all_at_peak;
    uint64_t peak_ns;
    uint64_t peak_collections;
};

void heap_cells_init(struct heap_cells *cells, bool follow_peak);
void heap_cells_reset(struct heap_cells *cells);

/* The cell's number, made if need be; UINT32_MAX: out of memory. */
uint32_t heap_cells_put(struct heap_cells *cells, const struct heap_key *key);

static inline void heap_cell_save(const struct heap_cells *cells, struct heap_cell *cell)
{
    if (cell->peak != cells->peak) {
        cell->at_peak = cell->now;
        cell->peak = cells->peak;
    }
}

static inline void heap_sums_add(struct heap_sums *sums, uint64_t bytes, uint64_t birth_us)
{
    sums->objects++;
    sums->bytes += bytes;
    sums->births_us += birth_us;
    sums->allocated_objects++;
    sums->allocated_bytes += bytes;
}

static inline void heap_sums_remove(struct heap_sums *sums, uint64_t bytes, uint64_t birth_us,
                                    uint64_t death_us)
{
    sums->lived_us += death_us > birth_us ? death_us - birth_us : 0;
    sums->objects--;
    sums->bytes -= bytes;
    sums->births_us -= birth_us;
}

/* The peaks' numbers begin anew. */
void heap_cells_renumber(struct heap_cells *cells);

/* What lives has just grown.  True: it never was as large. */
static inline bool heap_cells_note_peak(struct heap_cells *cells, uint64_t time_ns,
                                        uint64_t collections)
{
    struct peak peak = {cells->all_at_peak.bytes, cells->all_at_peak.objects};
    if (cells->peak == 0 || !peak_passed(&peak, cells->all.bytes, cells->all.objects))
        return false;
    cells->all_at_peak = cells->all;
    cells->peak_ns = time_ns;
    cells->peak_collections = collections;
    if (++cells->peak == UINT32_MAX)
        heap_cells_renumber(cells);
    return true;
}

/* The heap now, or at the peak, as rows.  False: out of memory. */
bool heap_cells_snapshot(const struct heap_cells *cells, bool at_peak,
                         struct heap_snapshot *snapshot);

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
/* After the last event: gives the moments that have not come (a time after the
 * last event, and a collection that never came, are reported by `time_ns` UINT64_MAX and no rows).
 */
enum step_status heap_tracker_finish(struct heap_tracker *tracker, struct step_error *error);

/* Calls for each object that lives now and is selected. */
typedef void (*heap_visit)(void *user, const struct heap_key *key, uint64_t bytes, uint64_t age_us);
void heap_tracker_each_object(const struct heap_tracker *tracker, heap_visit visit, void *user);

/*
 * Which objects a tracker's snapshots tell of.  The others are followed in one cell, so that
 * moments are those of the whole heap, and are taken off snapshots.
 */
/* The cell of the objects that are not wanted, where there is a selection. */
#define HEAP_HIDDEN_CELL 0u

#endif
