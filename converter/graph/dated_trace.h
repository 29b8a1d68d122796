/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a copy of a STEP trace in which deaths have the time when objects became unreachable
 * (java.ObjectDeath), not the time of the collection that found them dead.  The first pass computes
 * these times, the second copies.  All other records keep their contents and positions.
 *
 * Two passes are needed because a death precedes the record that reveals it: an object that became
 * unreachable in the first second may be found dead in the last.  So the death's place in the
 * stream is known only when the whole trace was read.
 */
#ifndef CONVERTER_GRAPH_DATED_TRACE_H
#define CONVERTER_GRAPH_DATED_TRACE_H

#include "converter/graph/death_runs.h"
#include "converter/graph/graph_replay.h"
#include "steptrace/writer.h"

/*
 * Computes when objects became unreachable with the Merlin algorithm (Hertz, Blackburn, Moss,
 * McKinley and Stefanovic, 2002). Each object has the time at which it was last known to be
 * reachable.  When a collection has found dead objects, they propagate their times to the objects
 * that they refer to.  docs/answers/how-long-objects-live.md explains which times are exact and
 * which are bounds.  The steps, with the functions of dated_trace.c that do them:
 *
 * 1. Touches (graph_replay.c, enter(), leave()). The paper stamps what the roots refer to whenever
 * the program could see a difference.  A trace has no local variables, so what a record shows in
 * use is stamped: the objects of a store, the receiver of a call.  That is why a time may be a
 * bound: the frame that used the object may have held it for longer.  Events come in the order of
 * time, so a later touch simply replaces an earlier one.
 *
 * 2. A batch (put_free(), death_tracker_put()): the frees of one time, which a collection found.
 * It must be complete before it is judged.  Of two dead objects that refer to each other, the one
 * that came too late would look like a living holder of the other.  Frees are the last events of a
 * tick but for the end of the JVM (java_rank()), so any other event ends the batch.
 *
 * 3. Each object by itself (judge()). References among the dead say nothing against a death, so
 * they are taken out of the counts of references first.  A strong reference that is left comes from
 * an object that this collection did not find dead.  The collector took that one for living, or for
 * a root if it examined a part of the heap only, and would have kept the object.  So the trace
 * lacks the store that removed the reference, its last store means nothing, and only the collection
 * is known.  All objects are judged with all these references taken out, since the result must not
 * depend on the order of the batch.  Then the counts are put back: removing the objects takes each
 * reference out once more.
 *
 * 4. Passing on (later_first(), dated_pass_on()). An object cannot die before the last object that
 * reaches it.  So its death is the greatest time of all dead objects from which it can be reached,
 * itself included.  The batch is visited from the latest time to the earliest.  The first visit
 * that reaches an object thus comes from the greatest of these, and GRAPH_DONE marks it as settled.
 * So each edge of the dead is followed once, whatever the shape of the graph, and cycles end at a
 * mark.  In another order, a chain of n objects could be walked n times.  Weak references pass
 * nothing on.
 *
 * 5. Garbage that stays.  A collector may leave dead objects alone, as a young collection does with
 * old ones.  What is not in the batch gets the time, but is not entered: it keeps its node, its
 * edges and its greatest time, and continues from there when a later batch contains it.
 *
 * 6. A check (measure()). Where each collection examines all objects, the previous one would have
 * freed an object that died before it.  A time before that means that the trace lacks a use, such
 * as a local variable, and the previous collection is the better bound.  Corrected times need not
 * be passed on again: all that this collection found dead was alive at the previous one, and is
 * corrected by itself.
 *
 * 7. Removal comes last (dated_end_collection()): it takes away the edges along which times are
 * passed, and makes the nodes available for new objects.
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
