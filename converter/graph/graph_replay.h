/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maintains the object graph through the events of a trace: allocations, frees, stores, snapshots.
 * The references of an object in a snapshot replace those known before.
 */
#ifndef CONVERTER_GRAPH_GRAPH_REPLAY_H
#define CONVERTER_GRAPH_GRAPH_REPLAY_H

#include "converter/containers/id_table.h"
#include "converter/graph/graph_source.h"
#include "converter/graph/object_graph.h"

/* The event kinds that change the graph. */
#define GRAPH_REPLAY_KINDS                                                                         \
    (GRAPH_EVENT_BIT(GRAPH_ALLOC) | GRAPH_EVENT_BIT(GRAPH_EXISTING) |                              \
     GRAPH_EVENT_BIT(GRAPH_FREE) | GRAPH_EVENT_BIT(GRAPH_DEATH) | GRAPH_EVENT_BIT(GRAPH_FIELD) |   \
     GRAPH_EVENT_BIT(GRAPH_ELEMENT) | GRAPH_EVENT_BIT(GRAPH_RANGE) |                               \
     GRAPH_EVENT_BIT(GRAPH_CLONE) | GRAPH_EVENT_BIT(GRAPH_SNAPSHOT) |                              \
     GRAPH_EVENT_BIT(GRAPH_ROOT) | GRAPH_EVENT_BIT(GRAPH_HAS_FIELD) |                              \
     GRAPH_EVENT_BIT(GRAPH_HAS_ELEMENT) | GRAPH_EVENT_BIT(GRAPH_HAS_OTHER) |                       \
     GRAPH_EVENT_BIT(GRAPH_SNAPSHOT_END))

/* JVMTI's root kinds (jvmtiHeapReferenceKind). */
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
    uint32_t method_id; /* the method of a local variable */
};

/* Counts of inconsistent events, which are reported and have no effect. */
struct graph_unknowns {
    uint64_t
        holders; /* stores into objects that are not alive in the trace, or that it does not name */
    uint64_t targets; /* stores of such objects */
    uint64_t sources; /* copies from such objects */
    uint64_t frees;   /* frees of such objects */
    uint64_t twice;   /* allocations of objects that are alive already */
    uint64_t keys;    /* indices and fields out of range */
};

/* A store, a copy, a clone or a snapshot set a reference of the holder; nodes, 0 for none.  Before
 * a snapshot says a holder's references, those known are removed. */
typedef void (*graph_stored)(void *user, uint32_t holder, uint32_t key, uint32_t before,
                             uint32_t target);

struct graph_replay {
    struct object_graph graph;
    graph_stored stored; /* called for each store; NULL: nobody asks */
    void *stored_user;
    const struct graph_source *source; /* borrowed */
    struct id_table fields;            /* uint8_t: enum graph_field bits of a field */
    struct graph_root *roots;          /* of the last snapshot */
    size_t root_count, root_capacity;
    uint64_t snapshot;         /* number of the last snapshot, 0: none */
    bool is_in_snapshot;       /* it is incomplete so far */
    uint64_t snapshot_unknown; /* references that it could not resolve */
    uint64_t stores;
    struct graph_unknowns unknown;
    struct edge *copied; /* elements of a copied range */
    size_t copied_capacity;
};

/* Initialises an empty graph.  `keeps_touches`: store when each object was last known to be
 * reachable; `keeps_objects`: store class, size and site of each object.  Returns false if out
 * of memory; graph_replay_reset() is allowed then. */
bool graph_replay_init(struct graph_replay *replay, const struct graph_source *source,
                       bool keeps_touches, bool keeps_objects);
void graph_replay_reset(struct graph_replay *replay);

/* Applies an event.  Returns false if out of memory.  The caller must handle frees, with
 * graph_replay_free(). */
bool graph_replay_put(struct graph_replay *replay, const struct graph_event *event);
/* Removes the object of a free or a death. */
void graph_replay_free(struct graph_replay *replay, uint64_t object);

/* A graph_knows function for a struct graph_replay. */
bool graph_replay_knows(const void *replay, uint64_t object);

/* Properties of a field. */
enum graph_field { GRAPH_FIELD_KNOWN = 1, GRAPH_FIELD_STATIC = 2, GRAPH_FIELD_WEAK = 4 };
/* Returns bits of enum graph_field; 0 if the trace does not define the field. */
unsigned graph_replay_field(struct graph_replay *replay, uint64_t field);

#endif
