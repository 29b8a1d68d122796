/* SPDX-License-Identifier: Apache-2.0 */
/* The clock's counter goes back, as in a process that is restored on another machine: nobody waits
 * for it, and its rate is measured anew. */
#include <CUnit/Basic.h>

#include "agent/records/stamps.h"
#include "tests/unit/run_suite.h"

#define SECOND_NS UINT64_C(1000000000)

struct tracer tracer; /* else that of the entry points */

static uint64_t now_ns(const struct clock_scale *scale)
{
    return (uint64_t) (((unsigned __int128) (clock_raw() - scale->zero) * scale->multiplier) >>
                       scale->shift);
}

static void test_no_wait(void)
{
    struct clock_moment start = clock_moment_now();
    clock_calibrate(&start, &tracer.scale);
    uint64_t hour = tracer_stamps_of_ns(3600 * SECOND_NS);
    uint64_t before = clock_raw() - tracer.scale.zero;
    stamps_wait_for(before + hour); /* returns */
    tracer.scale.zero += hour;      /* the counter is an hour behind */
    stamps_wait_for(before);
    tracer.scale.zero -= hour;
    uint64_t tick = tracer_stamps_of_ns(20000);
    before = clock_raw() - tracer.scale.zero;
    stamps_wait_for(before + tick);
    CU_ASSERT_TRUE(clock_raw() - tracer.scale.zero >= before + tick);
}

static void test_rate(void)
{
    struct clock_scale right, scale;
    struct clock_moment start = clock_moment_now();
    clock_calibrate(&start, &right);
    const uint64_t ahead[] = {0, UINT64_C(1) << 50};
    for (int i = 0; i < 2; i++) {
        struct clock_moment first = clock_moment_now();
        first.monotonic_ns -= 5 * SECOND_NS;
        first.raw += ahead[i]; /* the counter passed almost nothing in 5 s, or went back */
        clock_calibrate(&first, &scale);
        CU_ASSERT_NOT_EQUAL(scale.multiplier, 0);
        CU_ASSERT_TRUE(scale.multiplier > right.multiplier / 2 &&
                       scale.multiplier < right.multiplier * 2);
        uint64_t passed = now_ns(&scale);
        CU_ASSERT_TRUE(passed > 4 * SECOND_NS && passed < 300 * SECOND_NS);
    }
}

void add_suite(void)
{
    if (!clock_select(CLOCK_TSC)) {
        puts("skipped: the processor has no counter to rely on");
        return;
    }
    CU_pSuite suite = CU_add_suite("clock", NULL, NULL);
    CU_add_test(suite, "no wait", test_no_wait);
    CU_add_test(suite, "rate", test_rate);
}
