/* SPDX-License-Identifier: Apache-2.0 */
/* The hash index and the map of pages, each compared with an array that is searched. */
#include <CUnit/Basic.h>
#include <stdlib.h>

#include "format/core/hash_index.h"
#include "format/core/page_map.h"
#include "tests/unit/run_suite.h"

enum { ITEMS = 3000, STEPS = 30000 };

static uint32_t number_of(const struct step_index *index, const uint64_t *keys, uint64_t key,
                          uint32_t hash)
{
    uint32_t item;
    STEP_INDEX_EACH (index, hash, item)
        if (keys[item] == key)
            return item;
    return UINT32_MAX;
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

/* Items come and go; hashes of `distinct` values only, so that many items share one. */
static void come_and_go(uint32_t distinct)
{
    static uint64_t keys[ITEMS];
    static bool is_there[ITEMS];
    struct step_index index = {0};
    uint64_t random = 1;
    size_t count = 0, wrong = 0;
    for (size_t i = 0; i < ITEMS; i++) {
        keys[i] = i * 16;
        is_there[i] = false;
    }
    for (size_t i = 0; i < STEPS; i++) {
        uint32_t item = (uint32_t) (next_random(&random) % ITEMS);
        uint32_t hash = step_hash_half(keys[item]) % distinct;
        uint32_t found = number_of(&index, keys, keys[item], hash);
        wrong += found != (is_there[item] ? item : UINT32_MAX);
        if (is_there[item])
            step_index_remove(&index, hash, item);
        else
            CU_ASSERT_FATAL(step_index_add(&index, hash, item));
        is_there[item] = !is_there[item];
        count += is_there[item] ? 1 : (size_t) -1;
        wrong += index.count != count;
    }
    for (uint32_t i = 0; i < ITEMS; i++)
        wrong += number_of(&index, keys, keys[i], step_hash_half(keys[i]) % distinct) !=
                 (is_there[i] ? i : UINT32_MAX);
    CU_ASSERT_EQUAL(wrong, 0);
    step_index_reset(&index);
}

static void test_come_and_go(void)
{
    come_and_go(UINT32_MAX);
    come_and_go(7);
}

static void test_same_hash(void)
{
    struct step_index index = {0};
    uint32_t item;
    size_t met = 0;
    STEP_INDEX_EACH (&index, 5, item)
        met++;
    CU_ASSERT_EQUAL(met, 0); /* an empty one has no slots */
    for (uint32_t i = 0; i < 10; i++)
        CU_ASSERT(step_index_add(&index, UINT32_MAX - i % 2, i));
    STEP_INDEX_EACH (&index, UINT32_MAX, item) {
        CU_ASSERT_EQUAL(item % 2, 0);
        met++;
    }
    CU_ASSERT_EQUAL(met, 5);
    CU_ASSERT_FALSE(step_index_add(&index, 1, UINT32_MAX));
    step_index_clear(&index);
    CU_ASSERT_EQUAL(index.count, 0);
    STEP_INDEX_EACH (&index, UINT32_MAX, item)
        CU_FAIL("it was emptied");
    step_index_reset(&index);
    CU_ASSERT_PTR_NULL(index.slots);
}

static void test_pages(void)
{
    static char pages[ITEMS];
    static bool is_there[ITEMS];
    struct step_page_map map = {0};
    uint64_t random = 1;
    size_t wrong = 0, count = 0, met = 0;
    CU_ASSERT_PTR_NULL(step_page_map_find(&map, 0));
    for (size_t i = 0; i < STEPS; i++) {
        size_t page = next_random(&random) % ITEMS;
        uint64_t number = (uint64_t) page << 32 | page % 16;
        wrong += step_page_map_find(&map, number) != (is_there[page] ? &pages[page] : NULL);
        if (is_there[page])
            step_page_map_remove(&map, number);
        else
            CU_ASSERT_FATAL(step_page_map_add(&map, number, &pages[page]));
        is_there[page] = !is_there[page];
        count += is_there[page] ? 1 : (size_t) -1;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_EQUAL(map.count, count);
    size_t slot = 0;
    for (char *page; (page = step_page_map_next(&map, &slot)) != NULL; met++)
        wrong += !is_there[page - pages];
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_EQUAL(met, count);
    step_page_map_reset(&map);
    slot = 0;
    CU_ASSERT_PTR_NULL(step_page_map_next(&map, &slot));
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("hash index", NULL, NULL);
    CU_add_test(suite, "items that come and go", test_come_and_go);
    CU_add_test(suite, "one hash", test_same_hash);
    CU_add_test(suite, "pages", test_pages);
}
