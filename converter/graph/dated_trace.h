/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a copy of a STEP trace in which deaths have the time when objects became unreachable
 * (java.ObjectDeath), not the time of the collection that found them dead.  The first pass computes
 * these times, the second copies.  All other records keep their contents and positions.
 */
#ifndef CONVERTER_GRAPH_DATED_TRACE_H
#define CONVERTER_GRAPH_DATED_TRACE_H

#include "converter/graph/death_runs.h"
#include "converter/graph/graph_replay.h"
#include "steptrace/writer.h"

/*
 * Computes when objects became unreachable with the Merlin algorithm (Hertz, Blackburn, Moss,
 * McKinley and Stefanovic, 2002).  Each object has the time at which it was last known to be
 * reachable.  When a collection has found dead objects, they propagate their times to the objects
 * that they refer to.  docs/answers/how-long-objects-live.md explains which times are exact and
 * which are bounds.
 */

/* Checks computed deaths against the previous collection, which found the objects alive.  Only
 * for traces in which collections examine all objects (property `collect`). */
struct death_errors {
    uint64_t within; /* not before the last collection that found the object alive */
    uint64_t
        earlier; /* it is before: a frame held the object, or a reference missing from the trace */
    uint64_t ticks; /* sum of the differences in ticks */
    uint64_t most;  /* the largest difference */
};

/* The property of a trace with computed deaths. */
#define DEATHS_PROPERTY "deaths"
#define DEATHS_EXACT "exact"

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

/* Returns whether the trace has java.ObjectDeath records. */
bool dated_trace_is(const struct step_reader *reader);

/* Writes the copy to `output`.  Returns INVALID if the trace has computed deaths already, and
 * FORMAT if it has no Java objects. */
enum step_status dated_trace_write(struct step_reader *reader, const struct step_output *output,
                                   struct dated_summary *summary, struct step_error *error);

#endif
