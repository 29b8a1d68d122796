/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The live objects and their references.  Each object is a node.  The node of a freed object that
 * others still refer to remains without object number until they do not.  Memory is proportional to
 * the live set.
 */
#ifndef CONVERTER_GRAPH_OBJECT_GRAPH_H
#define CONVERTER_GRAPH_OBJECT_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/core/hash.h"
#include "format/core/hash_index.h"

/*
 * The references of one object: key -> target.  A key is an array index, a field, or another kind
 * of reference; the latter may occur several times.  A single edge is stored in the list itself, up
 * to 8 in an array, more in a hash table.
 *
 * Most objects have few references, and some arrays have millions: each of the three has the form
 * that takes the least memory at its size, and a store must not become slower with the length of
 * the list.
 */

/* Encoding of keys.  The highest bits say what a key is: 0 an index (31 bits), 4 a field, 6 a field
 * that is weak, 7 another kind.  So the traversals, which look at millions of edges, decide by the
 * key alone whether an edge keeps its target; the field's name is looked up once, when the edge is
 * made. */
#define EDGE_INDEX_MOST UINT32_C(0x7fffffff)
#define EDGE_NUMBER_MOST UINT32_C(0x1ffffffe)
static inline uint32_t edge_key_of_field(uint32_t field)
{
    return UINT32_C(4) << 29 | field;
}
/* A field that does not keep its target alive: Reference.referent. */
static inline uint32_t edge_key_of_weak_field(uint32_t field)
{
    return UINT32_C(6) << 29 | field;
}
static inline uint32_t edge_key_of_other(uint32_t kind)
{
    return UINT32_C(7) << 29 | kind;
}
static inline bool edge_key_is_index(uint32_t key)
{
    return key <= EDGE_INDEX_MOST;
}
static inline bool edge_key_is_field(uint32_t key)
{
    return key >> 29 >= 4 && key >> 29 < 7;
}
static inline bool edge_key_is_weak(uint32_t key)
{
    return key >> 29 == 6;
}
static inline bool edge_key_is_other(uint32_t key)
{
    return key >> 29 == 7;
}
/* Returns the field, or the kind of another reference. */
static inline uint32_t edge_key_number(uint32_t key)
{
    return key & UINT32_C(0x1fffffff);
}

struct edge {
    uint32_t target; /* node index; 0: none */
    uint32_t key;
};

/* Zero-initialise for an empty list. */
struct edge_list {
    union {
        struct edge one;
        struct edge *many;
    } at;
    uint32_t used;     /* number of edges, including those without target */
    uint8_t room_bits; /* 0: `one`; otherwise capacity 1 << room_bits */
    /* Of the node that has the list, which they make no larger here. */
    uint8_t marks; /* enum graph_flag, and those of who walks the graph */
    uint8_t touch; /* enum touch_kind: how the node was last reached */
};

struct edge_chunk;

/* Memory for the edges of lists.  Zero-initialise. */
struct edge_pool {
    struct edge_chunk *chunks;
    size_t chunk_used;
    struct edge *free[8]; /* by room bits */
};

void edge_pool_reset(struct edge_pool *pool);

/* Sets the target of an edge (0 removes it) and returns the previous target, or 0, in `*before`.
 * Returns false if out of memory. */
bool edge_list_set(struct edge_pool *pool, struct edge_list *list, uint32_t key, uint32_t target,
                   uint32_t *before);
/* Adds an edge even if the key exists.  Returns false if out of memory. */
bool edge_list_add(struct edge_pool *pool, struct edge_list *list, uint32_t key, uint32_t target);
uint32_t edge_list_get(const struct edge_list *list, uint32_t key);
/* Returns the list's edges to the pool. */
void edge_list_reset(struct edge_pool *pool, struct edge_list *list);

/* Returns the slots for iteration; skip those without target. */
static inline const struct edge *edge_list_slots(const struct edge_list *list, size_t *count)
{
    *count = list->room_bits > 3 ? (size_t) 1 << list->room_bits : list->used;
    return list->room_bits == 0 ? &list->at.one : list->at.many;
}

#define NODE_PAGE_BITS 4u
#define NODE_PAGE_SIZE (1u << NODE_PAGE_BITS)

struct node_page {
    uint64_t number;                /* object numbers without their lowest NODE_PAGE_BITS bits */
    uint32_t nodes[NODE_PAGE_SIZE]; /* 0: not alive */
    uint32_t living;
    uint32_t next_free;
};

/* Zero-initialise for an empty index. */
struct node_index {
    struct step_index index; /* finds pages by number */
    struct node_page *pages;
    uint32_t page_count;
    uint32_t free; /* 1 + first released page, to be reused; 0: none */
    size_t page_capacity;
};

void node_index_reset(struct node_index *index);

static inline struct node_page *node_index_page(const struct node_index *index, uint64_t number)
{
    uint32_t page;
    STEP_INDEX_EACH (&index->index, step_hash_half(number), page)
        if (index->pages[page].number == number)
            return &index->pages[page];
    return NULL;
}

/* Returns the object's node, or 0 if it has none. */
static inline uint32_t node_index_find(const struct node_index *index, uint64_t object)
{
    const struct node_page *page = node_index_page(index, object >> NODE_PAGE_BITS);
    return page != NULL ? page->nodes[object & (NODE_PAGE_SIZE - 1)] : 0;
}

/* Returns false if out of memory. */
bool node_index_put(struct node_index *index, uint64_t object, uint32_t node);
void node_index_remove(struct node_index *index, uint64_t object);

/* A node that is not an object: it holds all static fields. */
#define GRAPH_STATICS UINT32_C(1)
#define GRAPH_FIRST_NODE UINT32_C(2)

/* The precision of the time when an object was last reachable (java.ObjectDeath, `how`). */
enum touch_kind {
    TOUCH_CUT,  /* a reference from the heap was removed then */
    TOUCH_USE,  /* a frame used it then */
    TOUCH_NONE, /* only the collection is known */
};

struct graph_node {
    uint64_t object; /* 0: freed, or unused */
    struct edge_list edges;
    uint32_t strong; /* number of strong references to the node */
    uint32_t weak;   /* number of weak references to the node */
};

enum graph_flag {
    GRAPH_EXISTED = 1,   /* existed when tracing started */
    GRAPH_DYING = 2,     /* for the caller: it is being freed */
    GRAPH_DONE = 4,      /* for the caller: it was processed */
    GRAPH_REACHED = 8,   /* the current snapshot has reached it */
    GRAPH_DESCRIBED = 16 /* the current snapshot has its references */
};

#define GRAPH_SIZE_MOST ((UINT64_C(1) << 56) - 1)

/* Properties of an object for heap reports. */
struct graph_object {
    uint32_t class_id;
    uint32_t site;
    uint64_t size : 56;   /* GRAPH_SIZE_MOST at most */
    uint64_t padding : 8; /* bytes after an array's elements, if the agent had layout=yes */
};

struct object_graph {
    struct graph_node *nodes;
    uint64_t *touched;            /* by node, in ticks; NULL: not stored */
    struct graph_object *objects; /* by node; NULL: not stored */
    uint32_t node_count;          /* number of node indexes used, including 0 and GRAPH_STATICS */
    size_t capacity;
    uint32_t *free_nodes;
    size_t free_count, free_capacity;
    uint64_t living;
    struct node_index index;
    struct edge_pool pool;
};

/* Returns false if out of memory; object_graph_reset() is allowed then. */
bool object_graph_init(struct object_graph *graph, bool keeps_touches, bool keeps_objects);
void object_graph_reset(struct object_graph *graph);

/* Returns the node of a live object, or 0. */
static inline uint32_t object_graph_find(const struct object_graph *graph, uint64_t object)
{
    return node_index_find(&graph->index, object);
}
/* Adds a node for an object, which must be new and not 0.  Returns 0 if out of memory. */
uint32_t object_graph_add(struct object_graph *graph, uint64_t object);
/* Removes an object and its edges. */
void object_graph_remove(struct object_graph *graph, uint32_t node);

/* Sets an edge; `*before` is its previous target.  Returns false if out of memory. */
bool object_graph_set(struct object_graph *graph, uint32_t holder, uint32_t key, uint32_t target,
                      uint32_t *before);
/* Adds an edge even if the key exists.  Returns false if out of memory. */
bool object_graph_add_edge(struct object_graph *graph, uint32_t holder, uint32_t key,
                           uint32_t target);
void object_graph_clear_edges(struct object_graph *graph, uint32_t node);

/* Returns whether the edge is strong and its target is alive.  Edges to freed nodes occur, as
 * the JVM clears fields without a store that a probe sees. */
static inline bool object_graph_keeps(const struct object_graph *graph, const struct edge *edge)
{
    return !edge_key_is_weak(edge->key) && graph->nodes[edge->target].object != 0;
}

static inline void object_graph_touch(struct object_graph *graph, uint32_t node, uint64_t time,
                                      enum touch_kind kind)
{
    if (graph->touched != NULL && node != 0) {
        graph->touched[node] = time;
        graph->nodes[node].edges.touch = (uint8_t) kind;
    }
}

#endif
