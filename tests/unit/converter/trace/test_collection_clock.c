/* SPDX-License-Identifier: Apache-2.0 */
/* Collections as frees tell of them, and as deaths do that name theirs. */
#include <CUnit/Basic.h>

#include "converter/trace/collection_clock.h"
#include "tests/unit/run_suite.h"

static void expect(struct collection_clock *clock, uint64_t time, uint64_t number, uint64_t at,
                   uint64_t objects)
{
    struct collection over;
    CU_ASSERT_TRUE_FATAL(collection_clock_ends(clock, time, &over));
    CU_ASSERT_EQUAL(over.number, number);
    CU_ASSERT_EQUAL(over.time, at);
    CU_ASSERT_EQUAL(over.objects, objects);
    CU_ASSERT_EQUAL(over.bytes, 8 * objects);
}

static void expect_none(struct collection_clock *clock, uint64_t time)
{
    struct collection over;
    CU_ASSERT_FALSE(collection_clock_ends(clock, time, &over));
}

static void put(struct collection_clock *clock, uint64_t time, bool is_dated)
{
    CU_ASSERT_TRUE_FATAL(collection_clock_put(clock, time, is_dated, 8));
}

static void test_frees(void)
{
    struct collection_clock clock = {0};
    struct collection over;
    expect_none(&clock, 5);
    put(&clock, 5, false);
    CU_ASSERT_EQUAL(collection_clock_begun(&clock), 1);
    expect_none(&clock, 5);
    put(&clock, 5, false);
    expect(&clock, 9, 1, 5, 2);
    put(&clock, 9, false);
    expect_none(&clock, 9); /* what else happens at that time is before its end */
    put(&clock, 9, false);
    expect(&clock, 10, 2, 9, 2);
    expect_none(&clock, 100);
    CU_ASSERT_FALSE(collection_clock_finish(&clock, &over));
    put(&clock, 200, false);
    CU_ASSERT_TRUE(collection_clock_finish(&clock, &over));
    CU_ASSERT_EQUAL(over.number, 3);
    CU_ASSERT_EQUAL(collection_clock_begun(&clock), 3);
    collection_clock_reset(&clock);
}

/* The third collection is named first. */
static void test_deaths(void)
{
    struct collection_clock clock = {0};
    struct collection over;
    put(&clock, 30, true);
    put(&clock, 10, true);
    put(&clock, 30, true);
    expect_none(&clock, 10);
    put(&clock, 20, true);
    put(&clock, 10, true);
    expect(&clock, 25, 1, 10, 2);
    expect(&clock, 25, 2, 20, 1);
    expect_none(&clock, 25);
    put(&clock, 12, true); /* between those that are over: none */
    expect_none(&clock, 30);
    CU_ASSERT_EQUAL(collection_clock_begun(&clock), 2);
    put(&clock, 30, false); /* a free that is not dated, of the same */
    expect(&clock, 31, 3, 30, 3);
    put(&clock, UINT64_MAX, true);
    expect_none(&clock, UINT64_MAX);
    CU_ASSERT_TRUE(collection_clock_finish(&clock, &over));
    CU_ASSERT_EQUAL(over.number, 4);
    CU_ASSERT_FALSE(collection_clock_finish(&clock, &over));
    collection_clock_reset(&clock);
}

/* Each collection is told once, in the order of their times, however many are to come. */
static void test_many(void)
{
    enum { MANY = 5000 };
    struct collection_clock clock = {0};
    struct collection over;
    uint64_t last = 0, count = 0, objects = 0;
    for (uint64_t i = 0; i < MANY; i++) {
        put(&clock, 1 + i * 7919 % MANY, true);
        put(&clock, 1 + i * 104729 % MANY, true);
    }
    while (collection_clock_ends(&clock, MANY + 1, &over)) {
        CU_ASSERT(over.time > last && over.number == ++count);
        last = over.time;
        objects += over.objects;
    }
    CU_ASSERT_EQUAL(count, MANY);
    CU_ASSERT_EQUAL(objects, 2 * MANY);
    collection_clock_reset(&clock);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("collections", NULL, NULL);
    CU_add_test(suite, "frees", test_frees);
    CU_add_test(suite, "deaths", test_deaths);
    CU_add_test(suite, "many", test_many);
}
