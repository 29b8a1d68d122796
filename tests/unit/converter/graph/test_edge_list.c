/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of edges against plain arrays: as one edge, as a row, as a table, and back. */
#include <CUnit/Basic.h>
#include <stdlib.h>

#include "converter/graph/object_graph.h"
#include "tests/unit/run_suite.h"

enum { LISTS = 40, KEYS = 300, STEPS = 60000 };

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static size_t count_edges(const struct edge_list *list)
{
    size_t slots, count = 0;
    const struct edge *edges = edge_list_slots(list, &slots);
    for (size_t i = 0; i < slots; i++)
        count += edges[i].target != 0;
    return count;
}

static void compare(const struct edge_list *list, const uint32_t *wanted)
{
    size_t count = 0;
    for (uint32_t key = 0; key < KEYS; key++) {
        CU_ASSERT_EQUAL_FATAL(edge_list_get(list, key), wanted[key]);
        count += wanted[key] != 0;
    }
    CU_ASSERT_EQUAL(count_edges(list), count);
}

/* Small lists stay small: list i has keys below some i * i / 4. */
static void test_random(void)
{
    static struct edge_list lists[LISTS];
    static uint32_t wanted[LISTS][KEYS];
    struct edge_pool pool = {0};
    uint64_t seed = 4711;
    for (unsigned i = 0; i < STEPS; i++) {
        uint64_t r = next_random(&seed);
        unsigned at = (unsigned) (r % LISTS),
                 keys = 1 + at * at / 4 < KEYS ? 1 + at * at / 4 : KEYS;
        uint32_t key = (uint32_t) ((r >> 8) % keys), before;
        uint32_t target = (r >> 40) % 3 == 0 ? 0 : (uint32_t) (1 + (r >> 42) % 9);
        CU_ASSERT_TRUE_FATAL(edge_list_set(&pool, &lists[at], key, target, &before));
        CU_ASSERT_EQUAL(before, wanted[at][key]);
        wanted[at][key] = target;
        if ((r >> 50) % 512 == 0) {
            edge_list_reset(&pool, &lists[at]);
            for (size_t k = 0; k < KEYS; k++)
                wanted[at][k] = 0;
        }
        if (i % 997 == 0)
            compare(&lists[at], wanted[at]);
    }
    for (size_t i = 0; i < LISTS; i++) {
        compare(&lists[i], wanted[i]);
        edge_list_reset(&pool, &lists[i]);
        CU_ASSERT_EQUAL(count_edges(&lists[i]), 0);
    }
    edge_pool_reset(&pool);
}

/* Several of one key, which only adding makes. */
static void test_alike(void)
{
    struct edge_pool pool = {0};
    struct edge_list list = {0};
    const uint32_t key = edge_key_of_other(9);
    for (uint32_t i = 1; i <= 100; i++) {
        CU_ASSERT_TRUE_FATAL(edge_list_add(&pool, &list, key, i));
        CU_ASSERT_EQUAL(count_edges(&list), i);
    }
    uint32_t before;
    CU_ASSERT_TRUE(edge_list_set(&pool, &list, edge_key_of_field(3), 7, &before));
    CU_ASSERT_EQUAL(edge_list_get(&list, edge_key_of_field(3)), 7);
    CU_ASSERT_EQUAL(count_edges(&list), 101);
    edge_list_reset(&pool, &list);
    edge_pool_reset(&pool);
}

/* An array that is filled and emptied over and over takes no more room for that. */
static void test_room(void)
{
    struct edge_pool pool = {0};
    struct edge_list list = {0};
    uint32_t before;
    for (uint32_t round = 0; round < 1000; round++)
        for (uint32_t i = 0; i < 20; i++) {
            uint32_t key = round * 20 + i;
            CU_ASSERT_TRUE_FATAL(edge_list_set(&pool, &list, key, 1, &before));
            CU_ASSERT_TRUE_FATAL(edge_list_set(&pool, &list, key, 0, &before));
        }
    CU_ASSERT(list.room_bits <= 6);
    edge_list_reset(&pool, &list);
    edge_pool_reset(&pool);
}

static void test_keys(void)
{
    CU_ASSERT(edge_key_is_index(EDGE_INDEX_MOST) && !edge_key_is_field(EDGE_INDEX_MOST));
    CU_ASSERT(edge_key_is_field(edge_key_of_field(EDGE_NUMBER_MOST)));
    CU_ASSERT(!edge_key_is_weak(edge_key_of_field(EDGE_NUMBER_MOST)));
    CU_ASSERT(edge_key_is_weak(edge_key_of_weak_field(5)) &&
              edge_key_is_field(edge_key_of_weak_field(5)));
    CU_ASSERT(edge_key_is_other(edge_key_of_other(4)) && !edge_key_is_field(edge_key_of_other(4)));
    CU_ASSERT_EQUAL(edge_key_number(edge_key_of_weak_field(5)), 5);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("edge lists", NULL, NULL);
    CU_add_test(suite, "random", test_random);
    CU_add_test(suite, "several of one key", test_alike);
    CU_add_test(suite, "filled and emptied", test_room);
    CU_add_test(suite, "keys", test_keys);
}
