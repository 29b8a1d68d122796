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

#include "converter/graph/death_tracker.h"
#include "steptrace/writer.h"

/* The property of a trace with computed deaths. */
#define DEATHS_PROPERTY "deaths"
#define DEATHS_EXACT "exact"

/* Returns whether the trace has java.ObjectDeath records. */
bool dated_trace_is(const struct step_reader *reader);

/* Writes the copy to `output`.  Returns INVALID if the trace has computed deaths already, and
 * FORMAT if it has no Java objects. */
enum step_status dated_trace_write(struct step_reader *reader, const struct step_output *output,
                                   struct dated_summary *summary, struct step_error *error);

#endif
