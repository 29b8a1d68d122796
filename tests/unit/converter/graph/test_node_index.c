/* SPDX-License-Identifier: Apache-2.0 */
/* Objects' nodes against a plain array, with numbers in a row, scattered ones, and great ones. */
#include <CUnit/Basic.h>
#include <stdlib.h>

#include "converter/graph/object_graph.h"
#include "tests/unit/run_suite.h"

enum { OBJECTS = 30000, STEPS = 200000 };

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* Object i's number. */
static uint64_t in_a_row(uint64_t i)
{
    return i + 1;
}
static uint64_t scattered(uint64_t i)
{
    return (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
}
static uint64_t with_gaps(uint64_t i)
{
    return UINT64_MAX - 17 * i;
}

static void try_numbers(uint64_t (*number_of)(uint64_t))
{
    static uint32_t nodes[OBJECTS];
    struct node_index index = {0};
    uint64_t seed = 99;
    size_t living = 0;
    for (size_t i = 0; i < OBJECTS; i++)
        nodes[i] = 0;
    for (uint32_t i = 0; i < STEPS; i++) {
        uint64_t object = next_random(&seed) % OBJECTS;
        CU_ASSERT_EQUAL_FATAL(node_index_find(&index, number_of(object)), nodes[object]);
        if (nodes[object] == 0 || next_random(&seed) % 4 == 0) {
            living += nodes[object] == 0;
            nodes[object] = i + 1;
            CU_ASSERT_TRUE_FATAL(node_index_put(&index, number_of(object), i + 1));
        } else {
            living--;
            nodes[object] = 0;
            node_index_remove(&index, number_of(object));
        }
    }
    for (uint64_t i = 0; i < OBJECTS; i++) {
        CU_ASSERT_EQUAL(node_index_find(&index, number_of(i)), nodes[i]);
        node_index_remove(&index, number_of(i));
        node_index_remove(&index, number_of(i)); /* not there: nothing happens */
    }
    CU_ASSERT(living > 0 && index.index.count == 0);
    node_index_reset(&index);
}

static void test_numbers(void)
{
    try_numbers(in_a_row);
    try_numbers(scattered);
    try_numbers(with_gaps);
}

/* What lives moves on through the numbers: pages are used again. */
static void test_window(void)
{
    struct node_index index = {0};
    for (uint64_t i = 1; i < 100000; i++) {
        CU_ASSERT_TRUE_FATAL(node_index_put(&index, i, (uint32_t) i));
        if (i > 500)
            node_index_remove(&index, i - 500);
    }
    CU_ASSERT(index.page_count < 64);
    CU_ASSERT_EQUAL(node_index_find(&index, 99999), 99999);
    CU_ASSERT_EQUAL(node_index_find(&index, 99000), 0);
    node_index_reset(&index);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("nodes of objects", NULL, NULL);
    CU_add_test(suite, "any numbers", test_numbers);
    CU_add_test(suite, "numbers that move on", test_window);
}
