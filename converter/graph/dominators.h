/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the dominator tree of a graph with semidominators (Lengauer and Tarjan, 1979) and
 * nearest common ancestors (Georgiadis, 2005). Uses no recursion.
 *
 * An object dominates another if each path from the roots to the other leads through it.  Then the
 * other becomes unreachable together with it, so the bytes of a dominator subtree are what its root
 * retains.
 */
#ifndef CONVERTER_GRAPH_DOMINATORS_H
#define CONVERTER_GRAPH_DOMINATORS_H

#include "converter/graph/object_graph.h"

/* Vertices are numbered in depth-first order.  Vertex 0 represents all roots. */
struct dominators {
    uint32_t count;    /* number of vertices, including vertex 0 */
    uint32_t *node_of; /* by vertex; 0 for vertex 0 */
    uint32_t *idom;    /* by vertex: its immediate dominator, which has a lower number */
};

/* Computes the dominators.  Ignores weak edges; a node may be listed as a root several times.
 * What the first `first_count` roots reach is held by these alone.  Returns false if out of memory.
 * Call dominators_reset() in either case. */
bool dominators_find(const struct object_graph *graph, const uint32_t *roots, size_t root_count,
                     size_t first_count, struct dominators *out);
void dominators_reset(struct dominators *dominators);

#endif
