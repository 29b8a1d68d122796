/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An array of nodes with counts of incoming references.
 *
 * Nodes are numbers, not pointers: edges take 8 bytes, other arrays (paths, vertices) can be by
 * node, and the array can grow.  A node's number is used again only if nothing refers to it any
 * more: release_if_unused() is called whenever the last reference or the object goes.  An edge can
 * thus never lead to another object than the one that it was made for.
 */
#include "converter/graph/object_graph.h"

#include <stdlib.h>
#include <string.h>

#include "format/core/grow.h"
#include "format/core/large_memory.h"

enum {
    CHUNK_EDGES = 1 << 20,
    ROW_BITS = 3,    /* log2 of the maximum length of an array */
    POOLED_BITS = 7, /* log2 of the maximum size in chunks; larger ones use malloc() */
    ROOM_BITS_MOST = 31
};

#define NO_KEY UINT32_MAX

struct edge_chunk {
    struct edge_chunk *next;
    struct edge edges[CHUNK_EDGES];
};

/* A released place. */
union free_place {
    struct edge *next;
    struct edge edge;
};
_Static_assert(sizeof(union free_place) <= 2 * sizeof(struct edge), "the smallest place has two");

/* ---- the pool ---- */

/* Takes a place for 2^bits edges.  Each size has a list of its own of released places, since lists
 * of edges grow in powers of two and most stay small.  Chunks are given back only with the whole
 * pool. */
static struct edge *take_place(struct edge_pool *pool, unsigned bits)
{
    size_t count = (size_t) 1 << bits;
    if (bits > POOLED_BITS)
        return malloc(count * sizeof(struct edge));
    struct edge *place = pool->free[bits];
    if (place != NULL) {
        memcpy(&pool->free[bits], (const void *) place, sizeof(void *));
        return place;
    }
    if (pool->chunks == NULL || pool->chunk_used + count > CHUNK_EDGES) {
        struct edge_chunk *chunk = malloc(sizeof *chunk);
        if (chunk == NULL)
            return NULL;
        if (pool->chunks != NULL) /* small graphs use only a part of one chunk */
            large_memory_advise(chunk, sizeof *chunk);
        chunk->next = pool->chunks;
        pool->chunks = chunk;
        pool->chunk_used = 0;
    }
    place = &pool->chunks->edges[pool->chunk_used];
    pool->chunk_used += count;
    return place;
}

static void give_place(struct edge_pool *pool, struct edge *place, unsigned bits)
{
    if (bits > POOLED_BITS) {
        free(place);
        return;
    }
    memcpy((void *) place, &pool->free[bits], sizeof(void *));
    pool->free[bits] = place;
}

void edge_pool_reset(struct edge_pool *pool)
{
    while (pool->chunks != NULL) {
        struct edge_chunk *next = pool->chunks->next;
        free(pool->chunks);
        pool->chunks = next;
    }
    *pool = (struct edge_pool){0};
}

/* ---- lists ---- */

static size_t home_of(uint32_t key, unsigned bits)
{
    return (size_t) (step_hash(key) >> (64 - bits));
}

/* Returns the slot of the key, or the empty slot where it would be inserted.  A key is never
 * removed from a table: an edge without target keeps its slot.  So probing needs no marks for
 * deleted slots, and a field that is set and cleared all the time does not move. */
static struct edge *hashed_slot(struct edge *edges, unsigned bits, uint32_t key)
{
    size_t mask = ((size_t) 1 << bits) - 1;
    size_t at = home_of(key, bits);
    while (edges[at].key != key && edges[at].key != NO_KEY)
        at = (at + 1) & mask;
    return &edges[at];
}

/* Returns the slot for another edge of that key: edges of kinds such as GRAPH_HAS_OTHER may share
 * one. */
static struct edge *empty_slot(struct edge *edges, unsigned bits, uint32_t key)
{
    size_t mask = ((size_t) 1 << bits) - 1;
    size_t at = home_of(key, bits);
    while (edges[at].key != NO_KEY)
        at = (at + 1) & mask;
    return &edges[at];
}

static struct edge *graph_find(const struct edge_list *list, uint32_t key)
{
    if (list->room_bits > ROW_BITS) {
        struct edge *slot = hashed_slot(list->at.many, list->room_bits, key);
        return slot->key == key ? slot : NULL;
    }
    size_t count;
    const struct edge *slots = edge_list_slots(list, &count);
    for (size_t i = 0; i < count; i++)
        if (slots[i].key == key)
            return (struct edge *) &slots[i];
    return NULL;
}

static size_t count_targets(const struct edge_list *list)
{
    size_t count, targets = 0;
    const struct edge *slots = edge_list_slots(list, &count);
    for (size_t i = 0; i < count; i++)
        targets += slots[i].target != 0;
    return targets;
}

/* Moves the edges that have a target to a new place with that capacity. */
static bool move_to(struct edge_pool *pool, struct edge_list *list, unsigned bits)
{
    size_t count, used = 0;
    struct edge *edges = take_place(pool, bits);
    if (edges == NULL)
        return false;
    if (bits > ROW_BITS)
        memset(edges, 0xff, sizeof *edges << bits);
    const struct edge *slots = edge_list_slots(list, &count);
    for (size_t i = 0; i < count; i++) {
        if (slots[i].key == NO_KEY || slots[i].target == 0)
            continue;
        *(bits > ROW_BITS ? empty_slot(edges, bits, slots[i].key) : &edges[used]) = slots[i];
        used++;
    }
    for (size_t i = 0; bits > ROW_BITS && i < (size_t) 1 << bits; i++)
        if (edges[i].key == NO_KEY)
            edges[i].target = 0;
    if (list->room_bits > 0)
        give_place(pool, list->at.many, list->room_bits);
    list->at.many = edges;
    list->room_bits = (uint8_t) bits;
    list->used = (uint32_t) used;
    return true;
}

/* Ensures capacity for one more edge.  Hash tables are filled to three quarters.  If half of their
 * slots have lost their target, the table is made anew in the same size, without these edges: an
 * array whose elements come and go would grow for ever otherwise. */
static bool graph_make_room(struct edge_pool *pool, struct edge_list *list)
{
    unsigned bits = list->room_bits;
    size_t room = (size_t) 1 << bits;
    if (list->used < (bits > ROW_BITS ? room / 4 * 3 : room))
        return true;
    if (bits > ROW_BITS && count_targets(list) <= room / 2)
        return move_to(pool, list, bits); /* many edges had no target */
    return bits < ROOM_BITS_MOST && move_to(pool, list, bits == ROW_BITS ? bits + 2 : bits + 1);
}

bool edge_list_add(struct edge_pool *pool, struct edge_list *list, uint32_t key, uint32_t target)
{
    if (!graph_make_room(pool, list))
        return false;
    struct edge *slot = list->room_bits > ROW_BITS ? empty_slot(list->at.many, list->room_bits, key)
                        : list->room_bits == 0     ? &list->at.one
                                                   : &list->at.many[list->used];
    *slot = (struct edge){target, key};
    list->used++;
    return true;
}

bool edge_list_set(struct edge_pool *pool, struct edge_list *list, uint32_t key, uint32_t target,
                   uint32_t *before)
{
    struct edge *edge = graph_find(list, key);
    *before = edge != NULL ? edge->target : 0;
    if (edge == NULL)
        return target == 0 || edge_list_add(pool, list, key, target);
    edge->target = target;
    return true;
}

uint32_t edge_list_get(const struct edge_list *list, uint32_t key)
{
    const struct edge *edge = graph_find(list, key);
    return edge != NULL ? edge->target : 0;
}

void edge_list_reset(struct edge_pool *pool, struct edge_list *list)
{
    if (list->room_bits > 0)
        give_place(pool, list->at.many, list->room_bits);
    list->at.many = NULL;
    list->used = 0;
    list->room_bits = 0;
}

void node_index_reset(struct node_index *index)
{
    step_index_reset(&index->index);
    free(index->pages);
    *index = (struct node_index){.pages = NULL};
}

/*
 * Returns NULL if out of memory.
 *
 * Objects are numbered in the order of allocation, so those that live together mostly have numbers
 * close to each other.  A page covers 16 numbers in 80 bytes, and one entry in the hash index
 * serves them all.
 */
static struct node_page *graph_add_page(struct node_index *index, uint64_t number)
{
    bool is_used = index->free != 0;
    uint32_t page = is_used ? index->free - 1 : index->page_count;
    if (!is_used &&
        !STEP_MAKE_ROOM(index->pages, index->page_capacity, index->page_count + (size_t) 1))
        return NULL;
    if (!step_index_add(&index->index, step_hash_half(number), page))
        return NULL;
    if (is_used)
        index->free = index->pages[page].next_free;
    else
        index->page_count++;
    index->pages[page] = (struct node_page){.number = number};
    return &index->pages[page];
}

bool node_index_put(struct node_index *index, uint64_t object, uint32_t node)
{
    uint64_t number = object >> NODE_PAGE_BITS;
    struct node_page *page = node_index_page(index, number);
    if (page == NULL && (page = graph_add_page(index, number)) == NULL)
        return false;
    uint32_t *place = &page->nodes[object & (NODE_PAGE_SIZE - 1)];
    page->living += *place == 0;
    *place = node;
    return true;
}

void node_index_remove(struct node_index *index, uint64_t object)
{
    uint64_t number = object >> NODE_PAGE_BITS;
    struct node_page *page = node_index_page(index, number);
    if (page == NULL || page->nodes[object & (NODE_PAGE_SIZE - 1)] == 0)
        return;
    page->nodes[object & (NODE_PAGE_SIZE - 1)] = 0;
    if (--page->living > 0)
        return;
    uint32_t place = (uint32_t) (page - index->pages);
    step_index_remove(&index->index, step_hash_half(number), place);
    page->next_free = index->free;
    index->free = place + 1;
}

enum { LEAST_NODES = 1024 };

static bool graph_grow(struct object_graph *graph)
{
    size_t wanted = graph->capacity + graph->capacity / 2 + LEAST_NODES;
    struct graph_node *nodes = realloc(graph->nodes, wanted * sizeof *nodes);
    if (nodes == NULL)
        return false;
    graph->nodes = nodes;
    large_memory_advise(nodes, wanted * sizeof *nodes);
    if (graph->touched != NULL) {
        uint64_t *touched = realloc(graph->touched, wanted * sizeof *touched);
        if (touched == NULL)
            return false;
        graph->touched = touched;
        large_memory_advise(touched, wanted * sizeof *touched);
    }
    if (graph->objects != NULL) {
        struct graph_object *objects = realloc(graph->objects, wanted * sizeof *objects);
        if (objects == NULL)
            return false;
        graph->objects = objects;
    }
    graph->capacity = wanted;
    return true;
}

bool object_graph_init(struct object_graph *graph, bool keeps_touches, bool keeps_objects)
{
    *graph = (struct object_graph){.node_count = GRAPH_FIRST_NODE, .capacity = LEAST_NODES};
    graph->nodes = malloc(LEAST_NODES * sizeof *graph->nodes);
    graph->touched = keeps_touches ? malloc(LEAST_NODES * sizeof *graph->touched) : NULL;
    graph->objects = keeps_objects ? malloc(LEAST_NODES * sizeof *graph->objects) : NULL;
    if (graph->nodes == NULL || (keeps_touches && graph->touched == NULL) ||
        (keeps_objects && graph->objects == NULL))
        return false;
    for (uint32_t i = 0; i < GRAPH_FIRST_NODE; i++) {
        graph->nodes[i] = (struct graph_node){0};
        if (keeps_touches)
            graph->touched[i] = 0;
        if (keeps_objects)
            graph->objects[i] = (struct graph_object){0};
    }
    return true;
}

void object_graph_reset(struct object_graph *graph)
{
    for (uint32_t i = 0; graph->nodes != NULL && i < graph->node_count; i++)
        edge_list_reset(&graph->pool, &graph->nodes[i].edges);
    edge_pool_reset(&graph->pool);
    node_index_reset(&graph->index);
    free(graph->nodes);
    free(graph->touched);
    free(graph->objects);
    free(graph->free_nodes);
    *graph = (struct object_graph){0};
}

uint32_t object_graph_add(struct object_graph *graph, uint64_t object)
{
    uint32_t node;
    if (graph->free_count > 0) {
        node = graph->free_nodes[--graph->free_count];
    } else {
        if (graph->node_count == UINT32_MAX ||
            (graph->node_count == graph->capacity && !graph_grow(graph)))
            return 0;
        node = graph->node_count++;
    }
    graph->nodes[node] = (struct graph_node){.object = object};
    if (graph->touched != NULL)
        graph->touched[node] = 0;
    if (graph->objects != NULL)
        graph->objects[node] = (struct graph_object){0};
    if (!node_index_put(&graph->index, object, node))
        return 0;
    graph->living++;
    return node;
}

/*
 * Makes a node reusable that is not an object and has no references to it.  If there is no memory
 * for the list of such nodes, the node stays unused.
 *
 * A freed object that others still refer to must keep its node.  The trace may have frees of
 * objects that are referred to, as the JVM clears some references without a store that a probe
 * sees.
 */
static void release_if_unused(struct object_graph *graph, uint32_t node)
{
    const struct graph_node *unused = &graph->nodes[node];
    if (unused->object != 0 || unused->strong != 0 || unused->weak != 0 || node <= GRAPH_STATICS)
        return;
    if (!STEP_MAKE_ROOM(graph->free_nodes, graph->free_capacity, graph->free_count + 1))
        return;
    graph->free_nodes[graph->free_count++] = node;
}

static void count_edge(struct object_graph *graph, uint32_t key, uint32_t target)
{
    if (target == 0)
        return;
    if (edge_key_is_weak(key))
        graph->nodes[target].weak++;
    else
        graph->nodes[target].strong++;
}

static void uncount_edge(struct object_graph *graph, uint32_t key, uint32_t target)
{
    if (target == 0)
        return;
    if (edge_key_is_weak(key))
        graph->nodes[target].weak--;
    else
        graph->nodes[target].strong--;
    release_if_unused(graph, target);
}

bool object_graph_set(struct object_graph *graph, uint32_t holder, uint32_t key, uint32_t target,
                      uint32_t *before)
{
    if (!edge_list_set(&graph->pool, &graph->nodes[holder].edges, key, target, before))
        return false;
    if (*before != target) {
        count_edge(graph, key, target);
        uncount_edge(graph, key, *before);
    }
    return true;
}

bool object_graph_add_edge(struct object_graph *graph, uint32_t holder, uint32_t key,
                           uint32_t target)
{
    if (!edge_list_add(&graph->pool, &graph->nodes[holder].edges, key, target))
        return false;
    count_edge(graph, key, target);
    return true;
}

void object_graph_clear_edges(struct object_graph *graph, uint32_t node)
{
    size_t count;
    struct edge_list list = graph->nodes[node].edges;
    const struct edge *edges = edge_list_slots(&list, &count);
    graph->nodes[node].edges.used = 0; /* hides the edges while their targets are updated */
    for (size_t i = 0; i < count; i++)
        uncount_edge(graph, edges[i].key, edges[i].target);
    edge_list_reset(&graph->pool, &graph->nodes[node].edges);
}

/* The object number is cleared after the edges: a reference to itself would otherwise release the
 * node while it is still being removed, and a second time at the end. */
void object_graph_remove(struct object_graph *graph, uint32_t node)
{
    node_index_remove(&graph->index, graph->nodes[node].object);
    object_graph_clear_edges(graph, node);
    graph->nodes[node].object = 0;
    graph->living--;
    release_if_unused(graph, node);
}
