/* SPDX-License-Identifier: Apache-2.0 */
/* Budgets: what is earned, what is taken, and the error of one that is exhausted. */
#include <CUnit/Basic.h>

#include "steptrace/budget.h"
#include "tests/unit/run_suite.h"

static void test_take(void)
{
    struct step_budget budget = step_budget_of(10, 3, 4);
    CU_ASSERT_EQUAL(budget.left, 22);
    CU_ASSERT_FALSE(step_budget_take(&budget, 23));
    CU_ASSERT_EQUAL(budget.left, 22);
    CU_ASSERT_TRUE(step_budget_take(&budget, 22));
    CU_ASSERT_TRUE(step_budget_take(&budget, 0));
    CU_ASSERT_FALSE(step_budget_take(&budget, 1));
    step_budget_earn(&budget, 2, 5);
    CU_ASSERT_EQUAL(budget.left, 10);
}

static void test_large(void)
{
    CU_ASSERT_EQUAL(step_budget_of(1, 2, UINT64_MAX / 2).left, UINT64_MAX);
    CU_ASSERT_EQUAL(step_budget_of(2, 2, UINT64_MAX / 2).left, UINT64_MAX);
    CU_ASSERT_EQUAL(step_budget_of(7, UINT64_MAX, UINT64_MAX).left, UINT64_MAX);
    CU_ASSERT_EQUAL(step_budget_of(7, 0, UINT64_MAX).left, 7);
}

static void test_spend(void)
{
    struct step_error error = {0};
    struct step_budget budget = step_budget_of(5, 0, 0);
    CU_ASSERT_EQUAL(step_budget_spend(&budget, 5, "frames", "a.step", 77, &error), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_budget_spend(&budget, 1, "frames", "a.step", 77, &error),
                    STEP_STATUS_LIMIT);
    CU_ASSERT_EQUAL(error.offset, 77);
    CU_ASSERT_STRING_EQUAL(error.file, "a.step");
    CU_ASSERT_STRING_EQUAL(error.message, "1 frames are more than a file of this size can have");
    CU_ASSERT_EQUAL(step_budget_spend(&budget, 1, "frames", NULL, 0, NULL), STEP_STATUS_LIMIT);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("budget", NULL, NULL);
    CU_add_test(suite, "take", test_take);
    CU_add_test(suite, "large numbers", test_large);
    CU_add_test(suite, "spend", test_spend);
}
