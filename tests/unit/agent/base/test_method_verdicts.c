/* SPDX-License-Identifier: Apache-2.0 */
/* Tables that are keyed by methods: identifiers are numbers (JDK 26 and later) or addresses. */
#include <CUnit/Basic.h>

#include "agent/base/method_verdicts.h"
#include "tests/unit/run_suite.h"

struct tracer tracer;

#define SLOTS 256u

/* Of 256 methods whose identifiers lie `step` apart, how many slots are used. */
static unsigned slots_used(uintptr_t first, uintptr_t step)
{
    bool used[SLOTS] = {false};
    unsigned count = 0;
    for (uintptr_t i = 0; i < SLOTS; i++) {
        size_t slot = method_slot((jmethodID) (first + i * step), SLOTS);
        CU_ASSERT_TRUE_FATAL(slot < SLOTS);
        count += !used[slot];
        used[slot] = true;
    }
    return count;
}

static void test_slots(void)
{
    CU_ASSERT_TRUE(slots_used(1, 1) > SLOTS / 2);
    CU_ASSERT_TRUE(slots_used(100000, 1) > SLOTS / 2);
    CU_ASSERT_TRUE(slots_used(0x7F0012345670, 8) > SLOTS / 2);
    CU_ASSERT_TRUE(slots_used(0x7F0012345670, 88) > SLOTS / 2);
}

/* Verdicts on methods whose identifiers follow each other stand side by side, and each is its own.
 */
static void test_verdicts(void)
{
    static struct verdicts verdicts;
    unsigned known = 0;
    for (uintptr_t i = 1; i <= SLOTS; i++)
        verdict_keep(&verdicts, verdict_key((jmethodID) i), i % 3 == 0);
    for (uintptr_t i = 1; i <= SLOTS; i++) {
        bool verdict;
        if (!verdict_recall(&verdicts, verdict_key((jmethodID) i), &verdict))
            continue;
        CU_ASSERT_EQUAL(verdict, i % 3 == 0);
        known++;
    }
    CU_ASSERT_TRUE(known > SLOTS / 2);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("method verdicts", NULL, NULL);
    CU_add_test(suite, "slots", test_slots);
    CU_add_test(suite, "verdicts", test_verdicts);
}
