/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The graph of a trace as its events make it: allocations, frees, stores, snapshots.  What a
 * snapshot tells of an object takes the place of what was known of it.
 */
#ifndef CONVERTER_GRAPH_GRAPH_REPLAY_H
#define CONVERTER_GRAPH_GRAPH_REPLAY_H

#include "converter/base/id_table.h"
#include "converter/graph/graph_source.h"
#include "converter/graph/object_graph.h"

/* The kinds of events that the graph is made of. */
#define GRAPH_REPLAY_KINDS                                                                         \
    (GRAPH_EVENT_BIT(GRAPH_ALLOC) | GRAPH_EVENT_BIT(GRAPH_EXISTING) |                              \
     GRAPH_EVENT_BIT(GRAPH_FREE) | GRAPH_EVENT_BIT(GRAPH_DEATH) | GRAPH_EVENT_BIT(GRAPH_FIELD) |   \
     GRAPH_EVENT_BIT(GRAPH_ELEMENT) | GRAPH_EVENT_BIT(GRAPH_RANGE) |                               \
     GRAPH_EVENT_BIT(GRAPH_CLONE) | GRAPH_EVENT_BIT(GRAPH_SNAPSHOT) |                              \
     GRAPH_EVENT_BIT(GRAPH_ROOT) | GRAPH_EVENT_BIT(GRAPH_HAS_FIELD) |                              \
     GRAPH_EVENT_BIT(GRAPH_HAS_ELEMENT) | GRAPH_EVENT_BIT(GRAPH_HAS_OTHER) |                       \
     GRAPH_EVENT_BIT(GRAPH_SNAPSHOT_END))

/* JVMTI's numbers of roots (jvmtiHeapReferenceKind). */
enum graph_root_kind {
    GRAPH_ROOT_JNI_GLOBAL = 21,
    GRAPH_ROOT_SYSTEM_CLASS = 22,
    GRAPH_ROOT_MONITOR = 23,
    GRAPH_ROOT_STACK_LOCAL = 24,
    GRAPH_ROOT_JNI_LOCAL = 25,
    GRAPH_ROOT_THREAD = 26,
    GRAPH_ROOT_OTHER = 27
};

struct graph_root {
    uint64_t object;
    uint32_t kind;
    uint32_t thread_id;
    uint32_t method_id; /* of a local */
};

/* What the trace names and does not know, and what does not fit: told, never made up. */
struct graph_unknowns {
    uint64_t
        holders; /* stores into objects that do not live in the trace, or that it does not name */
    uint64_t targets; /* stores of such objects */
    uint64_t sources; /* copies from such objects */
    uint64_t frees;   /* frees of such objects */
    uint64_t twice;   /* allocations of objects that lived already */
    uint64_t keys;    /* indices and fields that are out of all bounds */
};

struct graph_replay {
    struct object_graph graph;
    const struct graph_source *source; /* borrowed */
    struct id_table fields;            /* uint8_t: what is known of a field */
    struct graph_root *roots;          /* of the last snapshot */
    size_t root_count, root_capacity;
    uint64_t snapshot;         /* the last one's number, 0: there was none; */
    uint64_t snapshot_time;    /* its time, */
    bool is_in_snapshot;       /* and whether it is not complete */
    uint64_t snapshot_unknown; /* what it could not tell */
    uint64_t stores;
    struct graph_unknowns unknown;
    struct edge *copied; /* of a range */
    size_t copied_capacity;
};

/* False: out of memory; reset is allowed then.  `keeps_touches`: of each object the time at which
 * it was last in somebody's hands; `keeps_objects`: its class, size and site. */
bool graph_replay_init(struct graph_replay *replay, const struct graph_source *source,
                       bool keeps_touches, bool keeps_objects);
void graph_replay_reset(struct graph_replay *replay);

/* False: out of memory.  Frees are the caller's: see graph_replay_free(). */
bool graph_replay_put(struct graph_replay *replay, const struct graph_event *event);
/* The object of a free, or of a death, goes. */
void graph_replay_free(struct graph_replay *replay, uint64_t object);

/* A graph_knows, of a struct graph_replay. */
bool graph_replay_knows(const void *replay, uint64_t object);

/* What is known of a field (graph_replay_field()). */
enum graph_field { GRAPH_FIELD_KNOWN = 1, GRAPH_FIELD_STATIC = 2, GRAPH_FIELD_WEAK = 4 };
/* Bits of enum graph_field; 0: the trace does not have the field. */
unsigned graph_replay_field(struct graph_replay *replay, uint64_t field);

#endif
