/* SPDX-License-Identifier: Apache-2.0 */
/* The search, the predecessors, and then semidominators from the last vertex to the first. */
#include "converter/graph/dominators.h"

#include <stdlib.h>
#include <string.h>

#include "format/core/grow.h"

/* A vertex of the search, and which of its node's edges comes next. */
struct place {
    uint32_t vertex;
    uint32_t slot;
};

struct search {
    const struct object_graph *graph;
    struct dominators *out;
    uint32_t *vertex_of; /* by node; 0: not come to */
    uint32_t *parent;    /* by vertex, in the tree of the search */
    struct place *places;
    size_t place_count, place_capacity;
    /* predecessors of vertex v: from[first[v]] to from[first[v + 1] - 1] */
    size_t *first;
    uint32_t *from;
    /* the forest */
    uint32_t *semi, *label, *ancestor;
    uint32_t *bucket, *next; /* lists of vertices by their semidominator */
    uint32_t *path;
    size_t path_capacity;
};

static bool is_edge(const struct edge *edge)
{
    return edge->target != 0 && !edge_key_is_weak(edge->key);
}

/* ---- the search in depth ---- */

static bool come_to(struct search *search, uint32_t node, uint32_t parent)
{
    struct dominators *out = search->out;
    if (search->place_count == search->place_capacity) {
        struct place *grown = step_grown(search->places, &search->place_capacity,
                                         search->place_count + 1, sizeof *grown);
        if (grown == NULL)
            return false;
        search->places = grown;
    }
    uint32_t vertex = out->count++;
    out->node_of[vertex] = node;
    search->vertex_of[node] = vertex;
    search->parent[vertex] = parent;
    search->places[search->place_count++] = (struct place){vertex, 0};
    return true;
}

static bool search_from(struct search *search, uint32_t root)
{
    if (search->vertex_of[root] != 0)
        return true;
    bool ok = come_to(search, root, 0);
    while (ok && search->place_count > 0) {
        size_t count;
        struct place *place = &search->places[search->place_count - 1];
        uint32_t vertex = place->vertex;
        const struct edge *edges =
            edge_list_slots(&search->graph->nodes[search->out->node_of[vertex]].edges, &count);
        while (place->slot < count &&
               (!is_edge(&edges[place->slot]) || search->vertex_of[edges[place->slot].target] != 0))
            place->slot++;
        if (place->slot == count)
            search->place_count--;
        else
            ok = come_to(search, edges[place->slot++].target, vertex);
    }
    return ok;
}

/* ---- predecessors ---- */

/* Calls `BODY` with the vertices `v` -> `w` of each edge between vertices. */
#define EACH_EDGE(search, BODY)                                                                    \
    for (uint32_t v = 1; v < (search)->out->count; v++) {                                          \
        size_t count;                                                                              \
        const struct edge *edges =                                                                 \
            edge_list_slots(&(search)->graph->nodes[(search)->out->node_of[v]].edges, &count);     \
        for (size_t i = 0; i < count; i++) {                                                       \
            if (!is_edge(&edges[i]))                                                               \
                continue;                                                                          \
            uint32_t w = (search)->vertex_of[edges[i].target];                                     \
            BODY;                                                                                  \
        }                                                                                          \
    }

static bool find_predecessors(struct search *search, const uint32_t *roots, size_t root_count)
{
    uint32_t vertices = search->out->count;
    size_t sum = 0;
    search->first = calloc((size_t) vertices + 2, sizeof *search->first);
    if (search->first == NULL)
        return false;
    size_t *filled = search->first + 1; /* moves on to where the next vertex begins */
    EACH_EDGE(search, filled[w]++)
    for (size_t i = 0; i < root_count; i++)
        filled[search->vertex_of[roots[i]]]++;
    for (uint32_t v = 0; v < vertices; v++) {
        size_t here = filled[v];
        filled[v] = sum;
        sum += here;
    }
    search->from = malloc((sum + 1) * sizeof *search->from);
    if (search->from == NULL)
        return false;
    EACH_EDGE(search, search->from[filled[w]++] = v)
    for (size_t i = 0; i < root_count; i++)
        search->from[filled[search->vertex_of[roots[i]]]++] = 0;
    return true;
}

/* ---- dominators ---- */

/* The vertex of least semidominator on the way up in the forest; the way becomes short. */
static uint32_t evaluate(struct search *search, uint32_t vertex)
{
    uint32_t *ancestor = search->ancestor, *label = search->label;
    size_t length = 0;
    if (ancestor[vertex] == UINT32_MAX)
        return vertex;
    for (uint32_t at = vertex; ancestor[ancestor[at]] != UINT32_MAX; at = ancestor[at]) {
        if (length == search->path_capacity) {
            uint32_t *grown =
                step_grown(search->path, &search->path_capacity, length + 1, sizeof *grown);
            if (grown == NULL)
                return UINT32_MAX;
            search->path = grown;
        }
        search->path[length++] = at;
    }
    while (length-- > 0) {
        uint32_t at = search->path[length], above = ancestor[at];
        if (search->semi[label[above]] < search->semi[label[at]])
            label[at] = label[above];
        ancestor[at] = ancestor[above];
    }
    return label[vertex];
}

static bool empty_bucket(struct search *search, uint32_t vertex)
{
    for (uint32_t v = search->bucket[vertex]; v != 0; v = search->next[v]) {
        uint32_t u = evaluate(search, v);
        if (u == UINT32_MAX)
            return false;
        search->out->idom[v] = search->semi[u] < search->semi[v] ? u : vertex;
    }
    search->bucket[vertex] = 0;
    return true;
}

static bool find_semidominators(struct search *search)
{
    for (uint32_t v = search->out->count - 1; v > 0; v--) {
        for (size_t i = search->first[v]; i < search->first[v + 1]; i++) {
            uint32_t u = evaluate(search, search->from[i]);
            if (u == UINT32_MAX)
                return false;
            if (search->semi[u] < search->semi[v])
                search->semi[v] = search->semi[u];
        }
        search->next[v] = search->bucket[search->semi[v]];
        search->bucket[search->semi[v]] = v;
        search->ancestor[v] = search->parent[v];
        if (!empty_bucket(search, search->parent[v]))
            return false;
    }
    for (uint32_t v = 1; v < search->out->count; v++)
        if (search->out->idom[v] != search->semi[v])
            search->out->idom[v] = search->out->idom[search->out->idom[v]];
    return true;
}

static bool find_dominators(struct search *search)
{
    size_t count = search->out->count;
    search->out->idom = calloc(count, sizeof(uint32_t));
    search->semi = malloc(count * sizeof(uint32_t));
    search->label = malloc(count * sizeof(uint32_t));
    search->ancestor = malloc(count * sizeof(uint32_t));
    search->bucket = calloc(count, sizeof(uint32_t));
    search->next = calloc(count, sizeof(uint32_t));
    if (search->out->idom == NULL || search->semi == NULL || search->label == NULL ||
        search->ancestor == NULL || search->bucket == NULL || search->next == NULL)
        return false;
    for (uint32_t v = 0; v < count; v++)
        search->semi[v] = search->label[v] = v;
    memset(search->ancestor, 0xff, count * sizeof(uint32_t));
    return find_semidominators(search);
}

/* ---- all of it ---- */

static bool find(struct search *search, const uint32_t *roots, size_t root_count)
{
    size_t nodes = search->graph->node_count;
    search->vertex_of = calloc(nodes, sizeof(uint32_t));
    search->parent = malloc(nodes * sizeof(uint32_t));
    search->out->node_of = malloc(nodes * sizeof(uint32_t));
    if (search->vertex_of == NULL || search->parent == NULL || search->out->node_of == NULL)
        return false;
    search->out->node_of[0] = 0;
    search->out->count = 1;
    for (size_t i = 0; i < root_count; i++)
        if (!search_from(search, roots[i]))
            return false;
    free(search->places);
    search->places = NULL;
    if (!find_predecessors(search, roots, root_count))
        return false;
    free(search->vertex_of);
    search->vertex_of = NULL;
    return find_dominators(search);
}

bool dominators_find(const struct object_graph *graph, const uint32_t *roots, size_t root_count,
                     struct dominators *out)
{
    *out = (struct dominators){0};
    struct search search = {.graph = graph, .out = out};
    bool ok = find(&search, roots, root_count);
    free(search.vertex_of);
    free(search.parent);
    free(search.places);
    free(search.first);
    free(search.from);
    free(search.semi);
    free(search.label);
    free(search.ancestor);
    free(search.bucket);
    free(search.next);
    free(search.path);
    return ok;
}

void dominators_reset(struct dominators *dominators)
{
    free(dominators->node_of);
    free(dominators->idom);
    *dominators = (struct dominators){0};
}
