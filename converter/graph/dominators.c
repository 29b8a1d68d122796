/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the dominator tree in three steps, which the sections below follow (Lengauer and Tarjan,
 * 1979, but for the last):
 *
 *   1. A depth-first search numbers the vertices.  All roots are children of vertex 0, which stands
 *      for the roots together, so the graph has the single root that the algorithm needs.  A
 *      parent's number is always lower than its children's.
 *   2. Semidominators, from the highest vertex to the lowest.  The semidominator of v is the lowest
 *      vertex from which a path leads to v whose inner vertices are all higher than v.
 *   3. The immediate dominator of v is the nearest common ancestor, in the dominator tree so far,
 *      of its parent and its semidominator (the "semi-NCA" algorithm of Georgiadis). From the
 *      lowest to the highest, each is found by walking up from the parent.
 *
 * Step 3 replaces the buckets of the original algorithm.  It is less good in the worst case, where
 * the walk up is long, but needs no further arrays.  Arrays by vertex are 32 bits wide: memory is
 * what limits the heaps that can be examined.
 */
#include "converter/graph/dominators.h"

#include <stdlib.h>

#include "format/core/grow.h"
#include "format/core/large_memory.h"

/* Prefetch distance in vertices.  The graph does not fit in the cache, and its nodes lie in another
 * order than that of the search: without prefetching, each step waits for memory. */
enum { AHEAD = 12 };

/* A vertex of the search, and the next edge of its node. */
struct place {
    uint32_t vertex;
    uint32_t slot;
};

/* An edge from a higher vertex to a lower one: back to an ancestor, or across to another branch.
 * In a depth-first numbering the others, to a higher vertex, come from an ancestor; they decide at
 * once (put_edges()) and are not stored. */
struct back_edge {
    uint32_t from;
    uint32_t next; /* 1 + next edge to the same vertex; 0: none */
};

/* A vertex in the forest of vertices with known semidominators.  Those are the vertices above the
 * current one, each linked to its parent in the search tree.  Paths are compressed: `above` may
 * skip ancestors, whose least semidominator is then in `least`. */
struct forest_place {
    uint32_t above; /* ancestor on the compressed path */
    uint32_t least; /* least semidominator on the removed part of the path */
};

struct search {
    const struct object_graph *graph;
    struct dominators *out; /* until the end, `idom` stores parents in the search tree */
    uint32_t *vertex_of;    /* by node; 0: not reached */
    uint32_t second;        /* first vertex that the first roots do not reach */
    struct place *places;
    size_t place_count, place_capacity;
    uint32_t *semi;
    uint32_t *first_back; /* by vertex: 1 + index of its first edge in `back` */
    struct back_edge *back;
    size_t back_count, back_capacity;
    struct forest_place *forest;
    uint32_t *path;
    size_t path_capacity;
};

static const struct edge *edges_of(const struct search *search, uint32_t vertex, size_t *count)
{
    return edge_list_slots(&search->graph->nodes[search->out->node_of[vertex]].edges, count);
}

/* ---- depth-first search ---- */

/* Prefetches vertex numbers and edges of the targets. */
static void fetch_targets(const struct search *search, uint32_t vertex)
{
    size_t count;
    const struct edge *edges = edges_of(search, vertex, &count);
    for (size_t i = 0; i < count && i < 8; i++) {
        __builtin_prefetch(&search->vertex_of[edges[i].target]);
        __builtin_prefetch(&search->graph->nodes[edges[i].target].edges);
    }
}

/* Numbers a vertex.  The parent is kept in `idom`: step 3 overwrites a parent only when the vertex
 * is done, so one array serves both. */
static bool come_to(struct search *search, uint32_t node, uint32_t parent)
{
    struct dominators *out = search->out;
    if (!STEP_MAKE_ROOM(search->places, search->place_capacity, search->place_count + 1))
        return false;
    uint32_t vertex = out->count++;
    out->node_of[vertex] = node;
    out->idom[vertex] = parent;
    search->vertex_of[node] = vertex;
    search->places[search->place_count++] = (struct place){vertex, 0};
    fetch_targets(search, vertex);
    return true;
}

/* Visits all that a root reaches and that has no number yet.  The stack keeps the next edge of each
 * vertex, so a path may be as long as memory allows: linked lists of millions of objects are
 * common. */
static bool search_from(struct search *search, uint32_t root)
{
    if (search->vertex_of[root] != 0)
        return true;
    bool ok = come_to(search, root, 0);
    while (ok && search->place_count > 0) {
        size_t count;
        struct place *place = &search->places[search->place_count - 1];
        uint32_t vertex = place->vertex;
        const struct edge *edges = edges_of(search, vertex, &count);
        while (place->slot < count && (search->vertex_of[edges[place->slot].target] != 0 ||
                                       !object_graph_keeps(search->graph, &edges[place->slot])))
            place->slot++;
        if (place->slot == count)
            search->place_count--;
        else
            ok = come_to(search, edges[place->slot++].target, vertex);
    }
    return ok;
}

/* The roots with a known kind are searched first.  What they reach is numbered below `second`, the
 * rest from there on.  So one comparison decides whether the known roots hold a vertex. */
static bool number_vertices(struct search *search, const uint32_t *roots, size_t root_count,
                            size_t first_count)
{
    size_t nodes = search->graph->node_count;
    struct dominators *out = search->out;
    search->vertex_of = calloc(nodes, sizeof(uint32_t));
    out->node_of = malloc(nodes * sizeof(uint32_t));
    out->idom = malloc(nodes * sizeof(uint32_t));
    if (search->vertex_of == NULL || out->idom == NULL || out->node_of == NULL)
        return false;
    large_memory_advise(search->vertex_of, nodes * sizeof(uint32_t));
    out->node_of[0] = out->idom[0] = 0;
    out->count = 1;
    for (size_t i = 0; i < root_count; i++) {
        if (i == first_count)
            search->second = out->count;
        if (!search_from(search, roots[i]))
            return false;
    }
    free(search->places);
    search->places = NULL;
    return true;
}

/* ---- edges ---- */

static bool add_back(struct search *search, uint32_t from, uint32_t to)
{
    if (search->back_count == UINT32_MAX - 1 ||
        !STEP_MAKE_ROOM(search->back, search->back_capacity, search->back_count + 1))
        return false;
    search->back[search->back_count++] = (struct back_edge){from, search->first_back[to]};
    search->first_back[to] = (uint32_t) search->back_count;
    return true;
}

/*
 * Evaluates the edges of a vertex.  By the definition of semidominators, an edge from a lower
 * vertex offers that vertex itself, and an edge from a higher one what is least on the way to it,
 * which is not known yet.
 *
 * An edge that leads from what only unknown roots reach into what known roots hold is ignored.  An
 * unknown root may be garbage that no collection has found; with this edge, all that it refers to
 * would seem to have a second holder, and nothing else would retain it.
 */
static bool put_edges(struct search *search, uint32_t from)
{
    size_t count;
    const struct edge *edges = edges_of(search, from, &count);
    for (size_t i = 0; i < count; i++) {
        uint32_t to = edge_key_is_weak(edges[i].key) ? 0 : search->vertex_of[edges[i].target];
        if (to == 0) /* weak, without target, or a freed target */
            continue;
        if (from >= search->second && to < search->second) /* the first roots hold it */
            continue;
        /* A reference of an object to itself (from == to) decides nothing. */
        if (to > from && from < search->semi[to])
            search->semi[to] = from;
        else if (to < from && !add_back(search, from, to))
            return false;
    }
    return true;
}

/* Prefetches in stages: the nodes of vertices, then their edges, then the numbers of the
 * targets. */
static void fetch_ahead(const struct search *search, uint32_t vertex)
{
    uint32_t last = search->out->count - 1;
    size_t count;
    if (vertex + 3 * AHEAD > last)
        return;
    const struct graph_node *nodes = search->graph->nodes;
    __builtin_prefetch(&nodes[search->out->node_of[vertex + 3 * AHEAD]].edges);
    __builtin_prefetch(edges_of(search, vertex + 2 * AHEAD, &count));
    const struct edge *edges = edges_of(search, vertex + AHEAD, &count);
    for (size_t i = 0; i < count && i < 8; i++)
        __builtin_prefetch(&search->vertex_of[edges[i].target]);
}

/* Evaluates the edges of all vertices. */
static bool find_edges(struct search *search, const uint32_t *roots, size_t root_count)
{
    uint32_t count = search->out->count;
    search->semi = malloc(count * sizeof(uint32_t));
    search->first_back = calloc(count, sizeof(uint32_t));
    if (search->semi == NULL || search->first_back == NULL)
        return false;
    large_memory_advise(search->semi, count * sizeof(uint32_t));
    large_memory_advise(search->first_back, count * sizeof(uint32_t));
    for (uint32_t v = 0; v < count; v++)
        search->semi[v] = search->out->idom[v];
    for (size_t i = 0; i < root_count; i++)
        search->semi[search->vertex_of[roots[i]]] = 0;
    for (uint32_t v = 1; v < count; v++) {
        fetch_ahead(search, v);
        if (!put_edges(search, v))
            return false;
    }
    free(search->vertex_of);
    search->vertex_of = NULL;
    return true;
}

/* ---- dominators ---- */

static bool keep_path(struct search *search, size_t length, uint32_t vertex)
{
    if (!STEP_MAKE_ROOM(search->path, search->path_capacity, length + 1))
        return false;
    search->path[length] = vertex;
    return true;
}

/*
 * Finds the least semidominator on the path from `vertex` up to its highest ancestor that is in the
 * forest, which contains the vertices from `linked` on.  Compresses the path.
 *
 * The loop ends below the root of the tree in the forest, whose `above` is a vertex that is not
 * linked yet: the path excludes that one, as the algorithm demands.  Compression goes from the top
 * downwards, so that each place takes over an `above` that is compressed already.  Without it, a
 * long path would be walked again for each edge that ends on it.
 */
static bool evaluate(struct search *search, uint32_t vertex, uint32_t linked, uint32_t *least)
{
    struct forest_place *forest = search->forest;
    size_t length = 0;
    for (uint32_t at = vertex; forest[at].above >= linked; at = forest[at].above)
        if (!keep_path(search, length++, at))
            return false;
    while (length-- > 0) {
        struct forest_place *place = &forest[search->path[length]];
        const struct forest_place *above = &forest[place->above];
        if (above->least < place->least)
            place->least = above->least;
        place->above = above->above;
    }
    *least = forest[vertex].least;
    return true;
}

/* Goes down through the vertices.  When v is evaluated, exactly the vertices above it are linked.
 * So a path in the forest has only vertices that are higher than v, which is the condition in the
 * definition of semidominators.  Linking v afterwards keeps that true for the next one. */
static bool find_semidominators(struct search *search)
{
    const uint32_t *parents = search->out->idom;
    for (uint32_t v = search->out->count - 1; v > 0; v--) {
        uint32_t semi = search->semi[v], least;
        for (uint32_t edge = search->first_back[v]; edge != 0;) {
            const struct back_edge *back = &search->back[edge - 1];
            edge = back->next;
            if (edge != 0)
                __builtin_prefetch(&search->back[edge - 1]);
            if (!evaluate(search, back->from, v + 1, &least))
                return false;
            semi = least < semi ? least : semi;
        }
        search->semi[v] = semi;
        search->forest[v] = (struct forest_place){parents[v], semi};
    }
    return true;
}

/* Goes up through the vertices.  The dominators of all lower vertices are final then.  Walking up
 * the dominator tree from the parent, the first vertex that is not above the semidominator is the
 * nearest common ancestor of the two, as numbers decrease towards the root.  Vertices between them
 * have another path around them. */
static bool find_dominators(struct search *search)
{
    uint32_t count = search->out->count, *idom = search->out->idom;
    search->forest = malloc(count * sizeof *search->forest);
    if (search->forest == NULL)
        return false;
    large_memory_advise(search->forest, count * sizeof *search->forest);
    if (!find_semidominators(search))
        return false;
    for (uint32_t v = 1; v < count; v++)
        while (idom[v] > search->semi[v])
            idom[v] = idom[idom[v]];
    return true;
}

/* ---- all of it ---- */

bool dominators_find(const struct object_graph *graph, const uint32_t *roots, size_t root_count,
                     size_t first_count, struct dominators *out)
{
    *out = (struct dominators){0};
    struct search search = {.graph = graph, .out = out, .second = UINT32_MAX};
    bool ok = number_vertices(&search, roots, root_count, first_count) &&
              find_edges(&search, roots, root_count) && find_dominators(&search);
    void *const used[] = {search.vertex_of, search.places, search.semi, search.first_back,
                          search.back,      search.forest, search.path};
    for (size_t i = 0; i < sizeof used / sizeof used[0]; i++)
        free(used[i]);
    return ok;
}

void dominators_reset(struct dominators *dominators)
{
    free(dominators->node_of);
    free(dominators->idom);
    *dominators = (struct dominators){0};
}
