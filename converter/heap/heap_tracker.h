/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tracks live objects through the events of a trace, and takes snapshots of the heap at given
 * moments, all in one pass.  Memory is proportional to the live set and to the number of sites,
 * classes and threads.
 */
#ifndef CONVERTER_HEAP_HEAP_TRACKER_H
#define CONVERTER_HEAP_HEAP_TRACKER_H

#include "converter/containers/object_table.h"
#include "converter/containers/peak.h"
#include "converter/heap/heap_samples.h"
#include "converter/heap/heap_sites.h"
#include "converter/heap/heap_snapshot.h"
#include "converter/trace/collection_clock.h"
#include "converter/trace/death_dates.h"
#include "converter/trace/event.h"
#include "converter/trace/level_curve.h"
#include "converter/trace/trace_filter.h"
#include "format/core/hash_index.h"
#include "steptrace/status.h"

/*
 * Running sums by class, site and thread, and their values at the peak.  A cell saves its value at
 * the peak only when it changes afterwards, so that a new peak costs nothing.
 *
 * Which moment is the peak is known only at the end of the trace, and a growing heap makes a new
 * peak with every allocation.  Copying all cells each time is out of the question, and a second
 * pass would read the trace again.  So peaks are numbered, and a cell remembers for which one its
 * copy is.  The invariant: if the number is that of the last peak, the copy is the cell's value
 * then; if it is older, the cell has not changed since the last peak, and its present value is
 * that.  heap_cell_save() therefore comes before each change of a cell, and heap_cells_note_peak()
 * after it.
 */

/* `births_us` is the sum of the birth times of live objects, modulo 2^64; `lived_us` is the sum of
 * the lifetimes of dead objects; both in the units of time_age(). The sum of the ages at any moment
 * is the number of objects times the moment, less `births_us`: so ages need no look at the single
 * objects, and that the sums wrap around does not matter, as the difference is right again.
 * Objects that existed when tracing started were not allocated: what lives is what existed or was
 * allocated, and has not died. */
struct heap_sums {
    uint64_t objects, bytes, births_us, lived_us;
    uint64_t allocated_objects, allocated_bytes;
    uint64_t existing_objects, existing_bytes;
};

static inline bool heap_sums_are_empty(const struct heap_sums *sums)
{
    return sums->allocated_objects == 0 && sums->existing_objects == 0;
}

/* Returns false if the trace has no sizes of objects. */
static inline bool heap_sums_have_sizes(const struct heap_sums *sums)
{
    return sums->allocated_bytes != 0 || sums->existing_bytes != 0;
}

struct heap_cell {
    struct heap_key key;
    uint32_t
        peak; /* the peak that `at_peak` is for; if it is older than the last, so is `now` for it */
    struct heap_sums now;
    struct heap_sums at_peak;
    struct peak most; /* of `now`, at any time */
};

struct heap_cells {
    struct heap_cell *items;
    size_t count;
    size_t capacity;
    struct step_index index; /* by key */
    uint32_t peak;           /* number of the last peak; 0: peaks are not tracked */
    struct heap_sums all;
    struct heap_sums all_at_peak;
    uint64_t peak_ns;
    uint64_t peak_collections;
};

void heap_cells_init(struct heap_cells *cells, bool follow_peak);
void heap_cells_reset(struct heap_cells *cells);

/* Returns the index of the cell, adding it if necessary; UINT32_MAX if out of memory. */
uint32_t heap_cells_put(struct heap_cells *cells, const struct heap_key *key);

static inline void heap_cell_save(const struct heap_cells *cells, struct heap_cell *cell)
{
    if (cell->peak != cells->peak) {
        cell->at_peak = cell->now;
        cell->peak = cells->peak;
    }
}

static inline void heap_sums_add(struct heap_sums *sums, uint64_t bytes, uint64_t birth_us,
                                 bool is_existing)
{
    sums->objects++;
    sums->bytes += bytes;
    sums->births_us += birth_us;
    *(is_existing ? &sums->existing_objects : &sums->allocated_objects) += 1;
    *(is_existing ? &sums->existing_bytes : &sums->allocated_bytes) += bytes;
}

static inline void heap_sums_remove(struct heap_sums *sums, uint64_t bytes, uint64_t birth_us,
                                    uint64_t death_us)
{
    sums->lived_us += death_us > birth_us ? death_us - birth_us : 0;
    sums->objects--;
    sums->bytes -= bytes;
    sums->births_us -= birth_us;
}

/* Restarts the numbering of peaks, when numbers run out.  It is called at a peak, when the present
 * value of each cell is that of the peak: all cells count as not changed since. */
void heap_cells_renumber(struct heap_cells *cells);

/* Call it after the heap has grown.  Returns true if this is a new peak. */
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

/* Makes rows of the heap now, or at the peak.  Returns false if out of memory. */
bool heap_cells_snapshot(const struct heap_cells *cells, bool at_peak,
                         struct heap_snapshot *snapshot);

/* Receives a snapshot, and must reset it. */
typedef enum step_status (*heap_receive)(void *user, struct heap_snapshot *snapshot,
                                         struct step_error *error);

/* A collection is over, and the tracker has what it left.  Returns false if out of memory. */
typedef bool (*heap_collected)(void *user, const struct collection *over);

/* An object was born, or died, and the tracker has counted it.  `born`: of a death, what the
 * tracker knew of the object; NULL: a birth, or an object that it does not have.  `cell`: the
 * object's; UINT32_MAX: none, since the tracker does not have it.  Returns false if out of memory.
 */
typedef bool (*heap_follow)(void *user, const struct trace_event *event, uint32_t cell,
                            const struct live_object *born);

struct heap_tracker_options {
    const struct event_selection
        *selected;  /* borrowed; objects that snapshots include, selected by their allocations;
                       moments are those of the whole heap.  NULL: all */
    bool by_thread; /* distinguish threads */
    bool without_existing;             /* leave out the objects that existed when tracing started */
    const struct heap_moment *moments; /* borrowed; moments of which to take snapshots */
    size_t moment_count;
    uint64_t every_ns;         /* not 0: also at this interval, and at the end */
    bool every_collection;     /* also after each collection, and at the end */
    struct level_curve *curve; /* borrowed; gets the size of what is selected.  NULL: none */
    heap_receive receive;
    heap_collected collected; /* called after each collection; NULL: nobody asks */
    void *user;
    heap_follow follow; /* called for each object, with `follower`; NULL: nobody asks */
    void *follower;
};

/* The event kinds that a tracker needs. */
#define HEAP_KINDS                                                                                 \
    (TRACE_KIND_BIT(EVENT_OBJECT_ALLOC) | TRACE_KIND_BIT(EVENT_OBJECT_FREE) |                      \
     TRACE_KIND_BIT(EVENT_METHOD_ENTRY) | TRACE_KIND_BIT(EVENT_METHOD_EXIT) |                      \
     TRACE_KIND_BIT(EVENT_METHOD_POP) | TRACE_KIND_BIT(EVENT_VM_DEATH))
/* Selects the events that heaps are made of; the tracker selects the objects. */
void heap_tracker_select(struct event_selection *selected, const struct event_selection *objects);

/* The cells of the objects that came last from a place; without stacks, of a class. */
struct heap_recent {
    struct {
        uint32_t class_id, thread_id;
        uint32_t cell; /* 1 + its number; 0: none */
    } cells[2];        /* the later first */
};

struct heap_tracker {
    struct heap_tracker_options options;
    enum time_unit unit; /* of the trace's times */
    struct heap_sites sites;
    struct heap_cells cells;
    struct id_table recent_at; /* struct heap_recent, by innermost frame */
    struct id_table recent_of; /* the same, by class, of objects without a stack */
    struct cell_samples samples;
    struct object_table live; /* object -> time of its birth, index of its cell */
    bool selects;
    struct trace_filter filter;
    struct id_table verdicts; /* uint32_t by site: cached result of the selection */
    uint64_t now_ns;
    uint64_t next_ns;   /* time of the next HEAP_AT_TIME moment */
    uint64_t series_ns; /* time of the next snapshot of the series */
    struct collection_clock clock;
    struct death_dates deaths; /* so far */
    uint64_t collections;      /* number of collections begun */
    uint64_t unknown_frees;
    bool zero_is_size; /* of a native program */
    bool lacks_sizes;  /* some selected object has none */
    uint64_t left_out; /* selected objects that existed (without_existing) */
    uint64_t event_count;
    uint64_t event_limit; /* not 0: ignore events after this number */
    uint64_t peak_event;  /* number of events until the peak */
};

/* Returns false if out of memory; heap_tracker_reset() is allowed then.  `source` is that of the
 * events. */
bool heap_tracker_init(struct heap_tracker *tracker, const struct event_source *source,
                       const struct heap_tracker_options *options);
/* Call it before the first event where the trace may be sampled: reads how its samples are weighed.
 * The peak, the curve and single objects remain those of the samples. */
enum step_status heap_tracker_weigh(struct heap_tracker *tracker, struct event_source *source,
                                    struct step_error *error);
void heap_tracker_reset(struct heap_tracker *tracker);

enum step_status heap_tracker_put(struct heap_tracker *tracker, const struct trace_event *events,
                                  size_t count, struct step_error *error);
/* Call it after the last event.  Takes the remaining snapshots.  A moment that the trace does
 * not reach is reported with `time_ns` UINT64_MAX and no rows. */
enum step_status heap_tracker_finish(struct heap_tracker *tracker, struct step_error *error);

/* Selection of objects in snapshots.  The others are tracked in a single cell, so that moments are
 * those of the whole heap, and are removed from snapshots.  A selection thus shows a part of the
 * same heap at the same peak, and shares can be compared; the peak of the part alone would be
 * another moment. */
/* Index of the cell of the objects that are not selected, if there is a selection. */
#define HEAP_HIDDEN_CELL 0u

#endif
