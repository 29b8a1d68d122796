/* SPDX-License-Identifier: Apache-2.0 */
/* Dominators of random graphs, against what is left when each vertex is taken away in turn. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/graph/dominators.h"
#include "tests/unit/run_suite.h"

enum { NODES_MOST = 120, GRAPHS = 400, ROOTS_MOST = 4 };

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

struct sample {
    struct object_graph graph;
    uint32_t roots[ROOTS_MOST];
    size_t root_count;
};

static void add_edge(struct sample *sample, uint32_t from, uint32_t key, uint32_t to)
{
    uint32_t before;
    CU_ASSERT_TRUE_FATAL(object_graph_set(&sample->graph, from, key, to, &before));
}

/* Thin graphs and dense ones; some have a chain through all, some weak edges, loops and holes. */
static void make(struct sample *sample, uint64_t *seed)
{
    uint32_t count = 1 + (uint32_t) (next_random(seed) % NODES_MOST);
    uint32_t degree = 1 + (uint32_t) (next_random(seed) % 5);
    bool has_chain = next_random(seed) % 3 == 0;
    CU_ASSERT_TRUE_FATAL(object_graph_init(&sample->graph, false, false));
    for (uint32_t i = 0; i < count; i++)
        CU_ASSERT_FATAL(object_graph_add(&sample->graph, i + 1) == GRAPH_FIRST_NODE + i);
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < degree; k++) {
            uint64_t r = next_random(seed);
            uint32_t key = r % 8 == 0 ? edge_key_of_weak_field(k + 1) : edge_key_of_field(k + 1);
            uint32_t near = (uint32_t) ((r >> 10) % 9);
            uint32_t to = r % 2 == 0 ? (uint32_t) ((r >> 20) % count) : (i + near) % count;
            add_edge(sample, GRAPH_FIRST_NODE + i, key, GRAPH_FIRST_NODE + to);
        }
        if (has_chain && i + 1 < count)
            add_edge(sample, GRAPH_FIRST_NODE + i, 7, GRAPH_FIRST_NODE + i + 1);
    }
    sample->root_count = 1 + next_random(seed) % ROOTS_MOST;
    for (size_t i = 0; i < sample->root_count; i++)
        sample->roots[i] = GRAPH_FIRST_NODE + (uint32_t) (next_random(seed) % count);
}

/* Marks what can be come to without one node. */
static void reach(const struct sample *sample, uint32_t without, uint8_t *is_reached)
{
    uint32_t waiting[NODES_MOST + GRAPH_FIRST_NODE], count = 0;
    memset(is_reached, 0, NODES_MOST + GRAPH_FIRST_NODE);
    for (size_t i = 0; i < sample->root_count; i++)
        if (sample->roots[i] != without && !is_reached[sample->roots[i]]) {
            is_reached[sample->roots[i]] = 1;
            waiting[count++] = sample->roots[i];
        }
    while (count > 0) {
        size_t slots;
        const struct edge *edges =
            edge_list_slots(&sample->graph.nodes[waiting[--count]].edges, &slots);
        for (size_t i = 0; i < slots; i++) {
            uint32_t to = edges[i].target;
            if (to == 0 || to == without || is_reached[to] || edge_key_is_weak(edges[i].key))
                continue;
            is_reached[to] = 1;
            waiting[count++] = to;
        }
    }
}

/* All dominators of a vertex are those on its way up in the tree. */
static void compare(const struct sample *sample, uint64_t seed)
{
    uint8_t all[NODES_MOST + GRAPH_FIRST_NODE], rest[NODES_MOST + GRAPH_FIRST_NODE];
    struct dominators tree;
    uint32_t reached = 0, wrong = 0;
    CU_ASSERT_TRUE_FATAL(dominators_find(&sample->graph, sample->roots, sample->root_count,
                                         sample->root_count, &tree));
    reach(sample, 0, all);
    for (size_t i = 0; i < sizeof all; i++)
        reached += all[i];
    CU_ASSERT_EQUAL_FATAL(tree.count, reached + 1);
    for (uint32_t v = 1; v < tree.count; v++)
        CU_ASSERT_FATAL(tree.idom[v] < v && all[tree.node_of[v]]);
    for (uint32_t gone = 1; gone < tree.count; gone++) {
        reach(sample, tree.node_of[gone], rest);
        for (uint32_t v = 1; v < tree.count; v++) {
            bool dominates = false;
            for (uint32_t at = v; at != 0; at = tree.idom[at])
                dominates |= at == gone;
            wrong += dominates == (rest[tree.node_of[v]] != 0);
        }
    }
    if (wrong > 0)
        fprintf(stderr, "seed %llu: %u wrong\n", (unsigned long long) seed, wrong);
    CU_ASSERT_EQUAL(wrong, 0);
    dominators_reset(&tree);
}

static void test_random(void)
{
    for (uint64_t graph = 1; graph <= GRAPHS; graph++) {
        struct sample sample;
        uint64_t seed = graph * 7919;
        make(&sample, &seed);
        compare(&sample, graph);
        object_graph_reset(&sample.graph);
    }
}

/* Long chains need no stack of calls; with a way back to the start they stay chains. */
static void test_chain(void)
{
    enum { LENGTH = 300000 };
    struct object_graph graph;
    struct dominators tree;
    uint32_t before, root = GRAPH_FIRST_NODE;
    CU_ASSERT_TRUE_FATAL(object_graph_init(&graph, false, false));
    for (uint32_t i = 0; i < LENGTH; i++)
        CU_ASSERT_FATAL(object_graph_add(&graph, i + 1) != 0);
    for (uint32_t i = 0; i < LENGTH; i++) {
        uint32_t node = GRAPH_FIRST_NODE + i;
        CU_ASSERT_TRUE(
            object_graph_set(&graph, node, 1, i + 1 < LENGTH ? node + 1 : root, &before));
        CU_ASSERT_TRUE(object_graph_set(&graph, node, 0, i > 0 ? node - 1 : root, &before));
    }
    CU_ASSERT_TRUE_FATAL(dominators_find(&graph, &root, 1, 1, &tree));
    CU_ASSERT_EQUAL_FATAL(tree.count, LENGTH + 1);
    for (uint32_t v = 1; v < tree.count; v++)
        CU_ASSERT_EQUAL(tree.idom[v], v - 1);
    dominators_reset(&tree);
    object_graph_reset(&graph);
}

static void test_nothing(void)
{
    struct object_graph graph;
    struct dominators tree;
    CU_ASSERT_TRUE_FATAL(object_graph_init(&graph, false, false));
    CU_ASSERT_TRUE_FATAL(dominators_find(&graph, NULL, 0, 0, &tree));
    CU_ASSERT_EQUAL(tree.count, 1);
    dominators_reset(&tree);
    object_graph_reset(&graph);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("dominators", NULL, NULL);
    CU_add_test(suite, "random graphs", test_random);
    CU_add_test(suite, "a chain", test_chain);
    CU_add_test(suite, "nothing", test_nothing);
}
