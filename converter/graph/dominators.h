/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which object keeps which alive: the dominator tree of a graph, by semidominators (Lengauer and
 * Tarjan, 1979) and nearest common ancestors (Georgiadis, 2005).  Nothing is recursive.
 */
#ifndef CONVERTER_GRAPH_DOMINATORS_H
#define CONVERTER_GRAPH_DOMINATORS_H

#include "converter/graph/object_graph.h"

/* Vertices are numbered as a search in depth comes to them; vertex 0 stands for all roots. */
struct dominators {
    uint32_t count;    /* with vertex 0 */
    uint32_t *node_of; /* of each vertex; of 0: 0 */
    uint32_t *idom;    /* of each vertex the one that dominates it immediately; less than it */
};

/* Weak edges count for nothing; a node may be a root more than once.  False: out of memory.
 * dominators_reset() in any case. */
bool dominators_find(const struct object_graph *graph, const uint32_t *roots, size_t root_count,
                     struct dominators *out);
void dominators_reset(struct dominators *dominators);

#endif
