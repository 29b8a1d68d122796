/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `steptrace check --graph`: are the references that stores tell of those that a snapshot finds?
 * The graph is replayed from the stores up to each snapshot but that of the start and compared with
 * it, edge for edge; from there on the replay goes by the snapshot.  Memory is that of what lives.
 */
#ifndef CONVERTER_VERBS_SNAPSHOT_CHECK_H
#define CONVERTER_VERBS_SNAPSHOT_CHECK_H

#include "converter/base/id_table.h"
#include "converter/graph/graph_replay.h"
#include "format/json/json_output.h"

/* References, of all places or of one: a field, or the elements of arrays of a class. */
struct edge_counts {
    uint64_t found;   /* in the snapshot; of these */
    uint64_t missing; /* no store told of, and */
    uint64_t other;   /* stores have another target for; */
    uint64_t surplus; /* only stores have them, of objects that the snapshot came to */
};

/* What came of one snapshot. */
struct snapshot_result {
    uint64_t number, time_ns;
    uint64_t unknown; /* references of which the snapshot could not say from where, or to what */
    bool is_complete;
    struct edge_counts all;
    uint64_t constants;       /* of the missing, those in arrays that nothing but the JVM refers to:
                                 constants that classes have resolved, roots of an archive */
    struct id_table fields;   /* struct edge_counts, by field */
    struct id_table elements; /* the same, by the arrays' class */
};

/* Called at the end of each snapshot that is compared; the result lives for the call. */
typedef void (*snapshot_report)(void *user, const struct graph_source *source,
                                const struct snapshot_result *result);

/* FORMAT for a trace that is none of objects. */
enum step_status snapshots_check(const char *path, snapshot_report report, void *user,
                                 struct step_error *error);

/* The same, printed: as text, or as an array "snapshots" where there is `json`; of each snapshot at
 * most `limit` places that differ. */
enum step_status snapshots_print(const char *path, uint64_t limit, struct json_output *json);

#endif
