/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A STEP trace with the moments at which its objects became unreachable (java.ObjectDeath) in place
 * of those at which a collection found them dead.  Two passes: the first finds the moments, the
 * second copies.  All other records stay what and where they are.
 */
#ifndef CONVERTER_GRAPH_DATED_TRACE_H
#define CONVERTER_GRAPH_DATED_TRACE_H

#include "converter/graph/death_runs.h"
#include "converter/graph/graph_replay.h"
#include "steptrace/writer.h"

/*
 * When objects became unreachable: the algorithm of Merlin (Hertz, Blackburn, Moss, McKinley and
 * Stefanovic, 2002).  Each object has the time at which it was last known to be reachable; when a
 * collection has found some dead, what held them until then passes its own time on.
 * docs/answers/how-long-objects-live.md says what is exact and what is a bound.
 */

#define DEATH_TRACKER_KINDS                                                                        \
    (GRAPH_REPLAY_KINDS | GRAPH_EVENT_BIT(GRAPH_ENTRY) | GRAPH_EVENT_BIT(GRAPH_EXIT))

/* How the deaths that were found compare with the collections: of those whose collection looked at
 * all objects (the trace's property `collect`), which were found alive by the one before. */
struct death_errors {
    uint64_t within; /* died, as computed, after the last collection that found them alive */
    uint64_t
        earlier;    /* before it: a frame held them, or a reference that the trace does not have */
    uint64_t ticks; /* sum of how much earlier, */
    uint64_t most;  /* and the most */
};

struct dying {
    uint64_t touched;
    uint32_t node;
    uint32_t thread_id;
    uint32_t how; /* enum touch_kind */
};

struct receivers;

struct death_tracker {
    struct graph_replay replay;
    bool has_references; /* the trace has stores; without them only collections tell of deaths */
    bool has_full_collections; /* what one finds alive is so */
    struct id_table threads;   /* struct receivers: of the open calls */
    struct dying *batch;       /* the frees of the collection at hand */
    size_t batch_count, batch_capacity;
    uint64_t batch_time;
    uint64_t previous_time; /* of the collection before; */
    bool has_previous;
    uint32_t *pending; /* nodes to go on from */
    size_t pending_count, pending_capacity;
    struct death_runs *deaths; /* borrowed: where they go to */
    uint64_t counts[3];        /* by enum touch_kind */
    uint64_t collections;
    struct death_errors errors;
};

/* The property that such a trace has. */
#define DEATHS_PROPERTY "deaths"
#define DEATHS_EXACT "exact"

/* What came of it. */
struct dated_summary {
    uint64_t counts[3]; /* deaths by enum touch_kind */
    uint64_t collections;
    uint64_t living; /* at the end: they have no death */
    uint64_t stores, snapshots;
    bool has_references, has_calls, has_first_snapshot, has_existing, has_full_collections;
    struct graph_unknowns unknown;
    struct death_errors errors;
    uint64_t resolution_ns;
    bool is_written; /* by date_deaths(): the file is there */
};

/* True for a trace that has such records. */
bool dated_trace_is(const struct step_reader *reader);

/* Writes it to `output`.  INVALID where the trace is dated already; FORMAT where it is none of a
 * Java program's objects. */
enum step_status dated_trace_write(struct step_reader *reader, const struct step_output *output,
                                   struct dated_summary *summary, struct step_error *error);

#endif
