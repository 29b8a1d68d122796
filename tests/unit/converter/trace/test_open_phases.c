/* SPDX-License-Identifier: Apache-2.0 */
/* Which threads are in selected phases, also after ends that have no begin. */
#include <CUnit/Basic.h>

#include "converter/trace/open_phases.h"
#include "tests/unit/run_suite.h"

enum { WARMUP = 1, MEASURE, OTHER };

static void start(struct open_phases *phases, const struct selected_globs *globs)
{
    open_phases_init(phases, globs);
    CU_ASSERT_TRUE_FATAL(open_phases_name(phases, WARMUP, step_text("warmup")));
    CU_ASSERT_TRUE_FATAL(open_phases_name(phases, MEASURE, step_text("measure")));
    CU_ASSERT_TRUE_FATAL(open_phases_name(phases, OTHER, step_text("a.b.C/d 'x'\n")));
}

static void put(struct open_phases *phases, uint32_t thread, uint32_t number, bool begins)
{
    CU_ASSERT_TRUE(open_phases_put(phases, thread, number, false, begins));
}

static void test_threads(void)
{
    const struct selected_globs globs = {.items = {"mea*"}, .count = 1};
    struct open_phases phases;
    start(&phases, &globs);
    CU_ASSERT_FALSE(open_phases_accept(&phases, 1));
    put(&phases, 1, MEASURE, true);
    put(&phases, 1, MEASURE, true); /* nested in itself */
    put(&phases, 1, OTHER, true);
    put(&phases, 1, MEASURE, false);
    CU_ASSERT_TRUE(open_phases_accept(&phases, 1));
    CU_ASSERT_FALSE(open_phases_accept(&phases, 2));
    put(&phases, 1, MEASURE, false);
    put(&phases, 1, MEASURE, false); /* without its begin */
    CU_ASSERT_FALSE(open_phases_accept(&phases, 1));
    put(&phases, 1, MEASURE, true);
    CU_ASSERT_TRUE(open_phases_accept(&phases, 1));
    put(&phases, UINT32_MAX, 99, true); /* a name that the trace lacks */
    CU_ASSERT_FALSE(open_phases_accept(&phases, UINT32_MAX));
    open_phases_reset(&phases);
}

static void test_program(void)
{
    const struct selected_globs globs = {.items = {"measure", "warmup"}, .count = 2};
    struct open_phases phases;
    start(&phases, &globs);
    CU_ASSERT_TRUE(open_phases_put(&phases, 1, WARMUP, true, true));
    CU_ASSERT_TRUE(open_phases_accept(&phases, 0));
    CU_ASSERT_TRUE(open_phases_accept(&phases, 7));
    CU_ASSERT_TRUE(open_phases_put(&phases, 2, WARMUP, true, false));
    CU_ASSERT_FALSE(open_phases_accept(&phases, 1));
    open_phases_reset(&phases);
}

static void test_no_name(void)
{
    const struct selected_globs globs = {.items = {""}, .count = 1};
    struct open_phases phases;
    start(&phases, &globs);
    CU_ASSERT_TRUE_FATAL(open_phases_name(&phases, 9, step_text("")));
    put(&phases, 1, MEASURE, true);
    CU_ASSERT_FALSE(open_phases_accept(&phases, 1));
    put(&phases, 1, 9, true);
    CU_ASSERT_TRUE(open_phases_accept(&phases, 1));
    open_phases_reset(&phases);
}

static void test_exclusion(void)
{
    const struct selected_globs globs = {.items = {"!warmup", "!*'x'*"}, .count = 2};
    struct open_phases phases;
    start(&phases, &globs);
    CU_ASSERT_TRUE(open_phases_accept(&phases, 1));
    put(&phases, 1, OTHER, true);
    CU_ASSERT_FALSE(open_phases_accept(&phases, 1));
    CU_ASSERT_TRUE(open_phases_accept(&phases, 2));
    put(&phases, 1, OTHER, false);
    CU_ASSERT_TRUE(open_phases_accept(&phases, 1));
    open_phases_reset(&phases);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("phases", NULL, NULL);
    CU_add_test(suite, "threads", test_threads);
    CU_add_test(suite, "program", test_program);
    CU_add_test(suite, "no name", test_no_name);
    CU_add_test(suite, "exclusion", test_exclusion);
}
