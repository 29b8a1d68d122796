/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `steptrace check --graph`: compares the references from recorded stores with those in heap
 * snapshots.  Replays the graph from the stores up to each snapshot after the initial one, and
 * compares both edge by edge.  After that the replay continues from the snapshot.  Memory is
 * proportional to the live set.
 */
#ifndef CONVERTER_VERBS_SNAPSHOT_CHECK_H
#define CONVERTER_VERBS_SNAPSHOT_CHECK_H

#include "converter/base/id_table.h"
#include "converter/graph/graph_replay.h"
#include "format/json/json_output.h"

/* Counts of references, in total or for one place: a field, or the elements of arrays of a
 * class. */
struct edge_counts {
    uint64_t found;   /* in the snapshot; of these */
    uint64_t missing; /* no store has them, and */
    uint64_t other;   /* stores have another target */
    uint64_t surplus; /* only stores have them, although the snapshot reached the object */
};

/* Result for one snapshot. */
struct snapshot_result {
    uint64_t number, time_ns;
    uint64_t unknown; /* references whose source or target the snapshot does not know */
    bool is_complete;
    struct edge_counts all;
    uint64_t constants;       /* of the missing, those in arrays that only the JVM refers to:
                                 constants that classes have resolved, and roots of an archive */
    struct id_table fields;   /* struct edge_counts, by field */
    struct id_table elements; /* struct edge_counts, by class of the array */
};

/* Called at the end of each compared snapshot; the result is valid during the call. */
typedef void (*snapshot_report)(void *user, const struct graph_source *source,
                                const struct snapshot_result *result);

/* Prints the results: as text, or with `json` as an array "snapshots".  Prints at most `limit`
 * places that differ for each snapshot. */
enum step_status snapshots_print(const char *path, uint64_t limit, struct json_output *json);

#endif
