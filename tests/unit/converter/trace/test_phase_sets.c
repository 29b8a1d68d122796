/* SPDX-License-Identifier: Apache-2.0 */
/* The names of a set of open phases, of threads and of the program, nested and overlapping. */
#include <CUnit/Basic.h>
#include <string.h>

#include "converter/trace/phase_sets.h"
#include "tests/unit/run_suite.h"

static enum step_status put(struct phase_sets *sets, uint32_t thread, char name, bool begins)
{
    return phase_sets_put(sets, thread, (uint32_t) (name | 0x20), name < 'a', begins);
}

/* Names in capital letters are of the program.  "+a-a" begins and ends a phase. */
static void play(struct phase_sets *sets, uint32_t thread, const char *events)
{
    for (; *events != '\0'; events += 2)
        CU_ASSERT_EQUAL(put(sets, thread, events[1], events[0] == '+'), STEP_STATUS_OK);
}

static void check(struct phase_sets *sets, uint32_t thread, const char *wanted)
{
    char found[PHASE_SET_MOST * 2 + 1] = "";
    uint32_t set;
    CU_ASSERT_TRUE_FATAL(phase_sets_now(sets, thread, &set));
    while (set != 0) {
        const char name[] = {(char) phase_sets_take(sets, &set), '\0'};
        CU_ASSERT_PTR_NULL(strstr(found, name));
        strcat(found, name);
    }
    CU_ASSERT_EQUAL(strlen(found), strlen(wanted));
    CU_ASSERT_EQUAL(strspn(found, wanted), strlen(found));
}

static void test_names(void)
{
    struct phase_sets sets;
    phase_sets_init(&sets);
    check(&sets, 1, "");
    play(&sets, 1, "-a+a+b+b");
    check(&sets, 1, "ab");
    check(&sets, 2, "");
    play(&sets, 1, "-b");
    check(&sets, 1, "ab");
    play(&sets, 1, "-a");
    check(&sets, 1, "b");
    play(&sets, 2, "+P+B"); /* b is open in the program, too */
    check(&sets, 1, "bp");
    check(&sets, 2, "bp");
    check(&sets, 3, "bp");
    play(&sets, 3, "-P");
    check(&sets, 1, "b");
    play(&sets, 1, "-b-b");
    check(&sets, 1, "b");
    play(&sets, 1, "-B");
    check(&sets, 1, "");
    phase_sets_reset(&sets);
}

static void test_equal(void)
{
    struct phase_sets sets;
    uint32_t first, second;
    phase_sets_init(&sets);
    play(&sets, 1, "+a+b");
    CU_ASSERT_TRUE(phase_sets_now(&sets, 1, &first));
    play(&sets, 1, "-b+c-c+b");
    CU_ASSERT_TRUE(phase_sets_now(&sets, 1, &second));
    CU_ASSERT_EQUAL(first, second);
    phase_sets_reset(&sets);
}

static void test_too_many(void)
{
    struct phase_sets sets;
    uint32_t set;
    phase_sets_init(&sets);
    for (uint32_t i = 1; i <= PHASE_SET_MOST; i++)
        CU_ASSERT_EQUAL(phase_sets_put(&sets, 1, i, false, true), STEP_STATUS_OK);
    for (int i = 0; i < 100000; i++) /* nested in itself */
        CU_ASSERT_EQUAL(phase_sets_put(&sets, 1, 7, false, true), STEP_STATUS_OK);
    CU_ASSERT_TRUE(phase_sets_now(&sets, 1, &set));
    CU_ASSERT_EQUAL(phase_sets_put(&sets, 1, 99, false, true), STEP_STATUS_CORRUPT);
    CU_ASSERT_EQUAL(phase_sets_put(&sets, UINT32_MAX, 99, false, true), STEP_STATUS_OK);
    phase_sets_reset(&sets);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("phase sets", NULL, NULL);
    CU_add_test(suite, "names of a set", test_names);
    CU_add_test(suite, "equal sets", test_equal);
    CU_add_test(suite, "too many open phases", test_too_many);
}
