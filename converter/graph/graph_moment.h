/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The object graph at a moment, and its roots.  Replays the trace's stores; without stores, the
 * graph is that of the latest snapshot before the moment.
 */
#ifndef CONVERTER_GRAPH_GRAPH_MOMENT_H
#define CONVERTER_GRAPH_GRAPH_MOMENT_H

#include "converter/graph/graph_replay.h"
#include "converter/trace/heap_moment.h"

/* Root kinds in addition to enum graph_root_kind. */
enum { GRAPH_ROOT_STATIC = 8, GRAPH_ROOT_FRAME = 0, GRAPH_ROOT_UNCOLLECTED = 9 };

/* A root: an object that is alive without being referred to by another object. */
struct graph_start {
    uint32_t node;
    uint32_t kind;  /* enum graph_root_kind, GRAPH_ROOT_STATIC, GRAPH_ROOT_FRAME: without known
                       holder; held by a frame or the JVM, or dead and not collected yet;
                       GRAPH_ROOT_UNCOLLECTED: the same after the JVM's end, without frames */
    uint32_t field; /* of a static field */
};

struct graph_moment {
    struct graph_source source;
    struct graph_replay replay;
    struct heap_moment moment;
    uint64_t time_ns;     /* time of the last event included */
    uint64_t collections; /* number of collections up to that time */
    bool is_snapshot;     /* roots and references are those of a snapshot at that time */
    bool has_stores;
    /* Roots with a known kind first.  What these reach is not held by those without. */
    struct graph_start *roots;
    size_t root_count, root_capacity;
    size_t known_count;  /* number of roots with a known kind */
    size_t keeper_count; /* number of roots that a collection would find: all, or the known ones */
};

/* Reads the trace up to the moment.  Returns NOT_FOUND if the trace does not reach it, or has
 * neither stores nor a snapshot by then (the message says how to record them).  Call
 * graph_moment_reset() in either case. */
enum step_status graph_moment_find(struct graph_moment *graph, struct step_reader *reader,
                                   const struct heap_moment *moment, struct step_error *error);
void graph_moment_reset(struct graph_moment *graph);

/* Returns the nodes of all roots in their order, which the caller frees; NULL if out of memory. */
uint32_t *graph_moment_root_nodes(const struct graph_moment *graph);
/* Returns "static field", "JNI global", ... */
const char *graph_root_name(uint32_t kind);

#endif
