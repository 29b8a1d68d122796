/* SPDX-License-Identifier: Apache-2.0 */
/* What a sample weighs for listeners: near size / p for each object, and that in the mean. */
#include <CUnit/Basic.h>
#include <math.h>

#include "agent/events/memory_probes.h"
#include "tests/unit/run_suite.h"

#define OBJECTS 20000u
#define FAR 5.5 /* standard deviations */

static const uint64_t sizes[] = {1, 16, 24, 1000, 65536, 1000003, UINT64_C(1) << 34};
static const uint64_t intervals[] = {1, 64, 4096, 524288, UINT64_C(1) << 30};
#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

static void judge(uint64_t size, uint64_t interval)
{
    double exact = (double) size / -expm1(-(double) size / (double) interval);
    double sum = 0, fault = 1e-12 * exact;
    for (uint64_t object = 1; object <= OBJECTS; object++) {
        double told = (double) memory_probes_weigh(object << 3, size, interval);
        CU_ASSERT(fabs(told - exact) < 1 + fault);
        sum += told;
    }
    double part = exact - floor(exact), room = sqrt(part * (1 - part) / OBJECTS);
    CU_ASSERT_DOUBLE_EQUAL(sum / OBJECTS, exact, FAR * room + fault + 1.0 / OBJECTS);
}

static void test_weights(void)
{
    for (size_t i = 0; i < LENGTH(sizes); i++)
        for (size_t k = 0; k < LENGTH(intervals); k++)
            judge(sizes[i], intervals[k]);
    CU_ASSERT_EQUAL(memory_probes_weigh(1, 0, 4096), 0);
    CU_ASSERT_EQUAL(memory_probes_weigh(1, 24, 0), 24);
}

/* Without a listener nothing is done, and without the header neither. */
static void test_nobody_listens(void)
{
    memory_probes_alloc(1, 24, 4096);
    memory_probes_free(1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(memory_probes_describe());
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("memory_probes", NULL, NULL);
    CU_add_test(suite, "weights", test_weights);
    CU_add_test(suite, "nobody listens", test_nobody_listens);
}
