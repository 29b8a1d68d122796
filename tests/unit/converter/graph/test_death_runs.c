/* SPDX-License-Identifier: Apache-2.0 */
/* Deaths come in the order of their times, whether they fit into the buffer or go to the file. */
#include <CUnit/Basic.h>

#include "converter/graph/death_runs.h"
#include "tests/unit/run_suite.h"

enum { DEATHS = 1000 };

static void sort_with(size_t most)
{
    struct death_runs runs;
    uint64_t sum = 0, time = 0, object = 0, count = 0;
    const struct dated_death *death;
    death_runs_init(&runs, most);
    for (uint64_t i = 0; i < DEATHS; i++)
        CU_ASSERT_EQUAL_FATAL(
            death_runs_put(
                &runs, &(struct dated_death){.time = i * 7919 % 101, .object = DEATHS - i}, NULL),
            STEP_STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(death_runs_finish(&runs, NULL), STEP_STATUS_OK);
    while ((death = death_runs_peek(&runs)) != NULL) {
        CU_ASSERT(death->time > time || (death->time == time && death->object > object));
        time = death->time;
        object = death->object;
        sum += object;
        count++;
        CU_ASSERT_EQUAL_FATAL(death_runs_next(&runs, NULL), STEP_STATUS_OK);
    }
    CU_ASSERT_EQUAL(count, DEATHS);
    CU_ASSERT_EQUAL(sum, (uint64_t) DEATHS * (DEATHS + 1) / 2);
    death_runs_reset(&runs);
}

static void test_sizes(void)
{
    sort_with(0);
    sort_with(DEATHS);
    sort_with(DEATHS - 1);
    sort_with(7);
    sort_with(1);
}

static void test_empty(void)
{
    struct death_runs runs;
    death_runs_init(&runs, 1);
    CU_ASSERT_EQUAL(death_runs_finish(&runs, NULL), STEP_STATUS_OK);
    CU_ASSERT_PTR_NULL(death_runs_peek(&runs));
    death_runs_reset(&runs);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("death runs", NULL, NULL);
    CU_add_test(suite, "any size of the buffer", test_sizes);
    CU_add_test(suite, "none", test_empty);
}
