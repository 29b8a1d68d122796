/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects that live and what they refer to.  An object is a node; a node that was freed while
 * others still refer to it stays, without a name, until they do not.  Memory is that of what lives.
 */
#ifndef CONVERTER_GRAPH_OBJECT_GRAPH_H
#define CONVERTER_GRAPH_OBJECT_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "converter/graph/edge_list.h"
#include "converter/graph/node_index.h"

/* A node that is no object: it holds all static fields. */
#define GRAPH_STATICS UINT32_C(1)
#define GRAPH_FIRST_NODE UINT32_C(2)

/* How sure a time is at which something was reachable (java.ObjectDeath, `how`). */
enum touch_kind {
    TOUCH_CUT,  /* a reference from the heap was cut then */
    TOUCH_USE,  /* a frame had it in its hands */
    TOUCH_NONE, /* nothing but the collection is known */
};

struct graph_node {
    uint64_t object;        /* 0: freed, or never used */
    struct edge_list edges; /* its flags: enum graph_flag, and enum touch_kind in the second */
    uint32_t strong;        /* how many edges lead here, */
    uint32_t weak;          /* and how many that keep nothing alive */
};

enum graph_flag {
    GRAPH_EXISTED = 1,   /* it was there when tracing started */
    GRAPH_DYING = 2,     /* the user's, for the frees at hand */
    GRAPH_DONE = 4,      /* the same */
    GRAPH_REACHED = 8,   /* the snapshot at hand has come to it, */
    GRAPH_DESCRIBED = 16 /* and to what it refers to */
};

/* What a heap's report needs of an object. */
struct graph_object {
    uint32_t class_id;
    uint32_t site;
    uint64_t size;
};

struct object_graph {
    struct graph_node *nodes;
    uint64_t *touched;            /* of each node, in ticks; NULL: not kept */
    struct graph_object *objects; /* the same */
    uint32_t node_count;          /* numbers given out, with 0 and GRAPH_STATICS */
    size_t capacity;
    uint32_t *free_nodes;
    size_t free_count, free_capacity;
    uint64_t living;
    struct node_index index;
    struct edge_pool pool;
};

/* False: out of memory; reset is allowed then. */
bool object_graph_init(struct object_graph *graph, bool keeps_touches, bool keeps_objects);
void object_graph_reset(struct object_graph *graph);

/* The node of an object that lives; 0: there is none. */
static inline uint32_t object_graph_find(const struct object_graph *graph, uint64_t object)
{
    return node_index_find(&graph->index, object);
}
/* A node for the object, which does not live yet and is not 0; 0: out of memory. */
uint32_t object_graph_add(struct object_graph *graph, uint64_t object);
/* The object lives no more.  Its edges go. */
void object_graph_remove(struct object_graph *graph, uint32_t node);

/* Sets an edge; `*before` is the target until now.  False: out of memory. */
bool object_graph_set(struct object_graph *graph, uint32_t holder, uint32_t key, uint32_t target,
                      uint32_t *before);
/* Adds one, whatever there is. */
bool object_graph_add_edge(struct object_graph *graph, uint32_t holder, uint32_t key,
                           uint32_t target);
void object_graph_clear_edges(struct object_graph *graph, uint32_t node);

/* True if the edge keeps alive an object that lives.  A freed node may still have edges to it: the
 * JVM clears fields without a store that a probe sees. */
static inline bool object_graph_keeps(const struct object_graph *graph, const struct edge *edge)
{
    return !edge_key_is_weak(edge->key) && graph->nodes[edge->target].object != 0;
}

static inline void object_graph_touch(struct object_graph *graph, uint32_t node, uint64_t time,
                                      enum touch_kind kind)
{
    if (graph->touched != NULL && node != 0) {
        graph->touched[node] = time;
        graph->nodes[node].edges.flags[1] = (uint8_t) kind;
    }
}

#endif
