/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A STEP trace with the moments at which its objects became unreachable (java.ObjectDeath) in place
 * of those at which a collection found them dead.  Two passes: the first finds the moments, the
 * second copies.  All other records stay what and where they are.
 */
#ifndef CONVERTER_DEATHS_DATED_TRACE_H
#define CONVERTER_DEATHS_DATED_TRACE_H

#include "converter/deaths/death_tracker.h"
#include "steptrace/writer.h"

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
};

/* True for a trace that has such records. */
bool dated_trace_is(const struct step_reader *reader);

/* Writes it to `output`.  INVALID where the trace is dated already; FORMAT where it is none of a
 * Java program's objects. */
enum step_status dated_trace_write(struct step_reader *reader, const struct step_output *output,
                                   struct dated_summary *summary, struct step_error *error);

#endif
