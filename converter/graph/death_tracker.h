/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes when objects became unreachable with the Merlin algorithm (Hertz, Blackburn, Moss,
 * McKinley and Stefanovic, 2002). Each object has the time at which it was last known to be
 * reachable.  When a collection has found dead objects, they propagate their times to the objects
 * that they refer to.  docs/answers/how-long-objects-live.md explains which times are exact and
 * which are bounds.  death_tracker.c has the steps:
 *
 * 1. Touches: what a record shows in use has its time (death_tracker_enter(),
 * death_tracker_leave(), and stores in graph_replay.c).
 * 2. A batch of frees, which one collection found, is gathered (death_tracker_put_free()).
 * 3. Each dead object is judged by itself (death_tracker_judge()).
 * 4. The dead pass their times on, the latest first (death_tracker_pass_on()).
 * 5. Garbage that stays gets the time, too, and is not entered (the same).
 * 6. A check against the previous collection corrects times (death_tracker_measure()).
 * 7. The dead are removed (death_tracker_end_collection()).
 */
#ifndef CONVERTER_GRAPH_DEATH_TRACKER_H
#define CONVERTER_GRAPH_DEATH_TRACKER_H

#include "converter/graph/death_runs.h"
#include "converter/graph/graph_replay.h"

struct dying;

/* Checks computed deaths against the previous collection, which found the objects alive.  Only
 * for traces in which collections examine all objects (property `collect`). */
struct death_errors {
    uint64_t within; /* not before the last collection that found the object alive */
    uint64_t
        earlier; /* it is before: a frame held the object, or a reference missing from the trace */
    uint64_t ticks; /* sum of the differences in ticks */
    uint64_t most;  /* the largest difference */
};

/* Statistics of the computation. */
struct dated_summary {
    uint64_t counts[3]; /* deaths by enum touch_kind */
    uint64_t collections;
    uint64_t living; /* objects alive at the end */
    uint64_t stores, snapshots;
    bool has_references, has_calls, has_first_snapshot, has_existing, has_full_collections;
    struct graph_unknowns unknown;
    struct death_errors errors;
    uint64_t resolution_ns;
    enum time_unit unit; /* of times */
    bool is_written;     /* set by date_deaths(): the file was written */
};

#define DEATH_TRACKER_KINDS                                                                        \
    (GRAPH_REPLAY_KINDS | GRAPH_EVENT_BIT(GRAPH_ENTRY) | GRAPH_EVENT_BIT(GRAPH_EXIT))

struct death_tracker {
    struct graph_replay replay;
    struct dated_summary *summary; /* borrowed */
    struct id_table threads;       /* struct receivers of the open calls */
    struct dying *batch;           /* frees of the current collection */
    size_t batch_count, batch_capacity;
    uint64_t batch_time;
    uint64_t previous_time; /* time of the previous collection */
    bool has_previous;
    uint32_t *pending; /* nodes still to process */
    size_t pending_count, pending_capacity;
    struct death_runs *deaths; /* borrowed; receives the deaths */
};

/* Returns false if out of memory; reset is allowed then. */
bool death_tracker_init(struct death_tracker *tracker, const struct graph_source *source,
                        struct death_runs *deaths, struct dated_summary *summary);
void death_tracker_reset(struct death_tracker *tracker);
/* Takes the next event, of DEATH_TRACKER_KINDS. */
enum step_status death_tracker_put(struct death_tracker *tracker, const struct graph_event *event,
                                   struct step_error *error);
/* After the last event: dates the deaths of the last collection, if there is one. */
enum step_status death_tracker_end_collection(struct death_tracker *tracker,
                                              struct step_error *error);

#endif
