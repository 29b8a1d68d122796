/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The graph of a trace at a moment: replayed from its stores, or, where it has none, as the last
 * snapshot before has it; and its roots.
 */
#ifndef CONVERTER_GRAPH_GRAPH_MOMENT_H
#define CONVERTER_GRAPH_GRAPH_MOMENT_H

#include "converter/graph/graph_replay.h"
#include "converter/trace/heap_moment.h"

/* Beside the kinds of enum graph_root_kind. */
enum { GRAPH_ROOT_STATIC = 8, GRAPH_ROOT_FRAME = 0 };

/* A root: an object that lives though no other object holds it. */
struct graph_start {
    uint32_t node;
    uint32_t kind;  /* enum graph_root_kind, GRAPH_ROOT_STATIC, or GRAPH_ROOT_FRAME: nothing known
                       holds it; a frame does, or the JVM, or it is dead and no collection came */
    uint32_t field; /* of a static one */
};

struct graph_moment {
    struct graph_source source;
    struct graph_replay replay;
    struct heap_moment moment;
    uint64_t time_ns;     /* of the last event that counts */
    uint64_t collections; /* until then */
    bool is_snapshot;     /* the roots and references are those of a snapshot at that time */
    bool has_stores;
    struct graph_start *roots;
    size_t root_count, root_capacity;
};

/* Reads the trace up to the moment.  NOT_FOUND where it never comes, or where the trace has neither
 * stores nor a snapshot by then (the message says what records them).  graph_moment_reset() in any
 * case. */
enum step_status graph_moment_find(struct graph_moment *graph, struct step_reader *reader,
                                   const struct heap_moment *moment, struct step_error *error);
void graph_moment_reset(struct graph_moment *graph);

/* The roots' nodes, to be freed; NULL: out of memory. */
uint32_t *graph_moment_root_nodes(const struct graph_moment *graph);
/* "static field", "JNI global", ... */
const char *graph_root_name(uint32_t kind);

#endif
