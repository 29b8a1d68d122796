/* SPDX-License-Identifier: Apache-2.0 */
/* Pauses that the JVM announces within each other are one collection, and what is unbalanced, since
 * events were switched on in a pause, does not last. */
#include <CUnit/Basic.h>

#include "agent/events/collections.h"
#include "tests/unit/run_suite.h"

struct tracer tracer = {.control_lock = PTHREAD_MUTEX_INITIALIZER};

static void test_nested(void)
{
    uint64_t before = tracer.collections;
    collection_begins();
    collection_begins();
    CU_ASSERT_FALSE(collection_ends());
    CU_ASSERT_TRUE(tracer.in_collection);
    CU_ASSERT_EQUAL(tracer.collections, before);
    CU_ASSERT_TRUE(collection_ends());
    CU_ASSERT_FALSE(tracer.in_collection);
    CU_ASSERT_EQUAL(tracer.collections, before + 1);
}

static void test_end_without_beginning(void)
{
    uint64_t before = tracer.collections;
    CU_ASSERT_TRUE(collection_ends());
    CU_ASSERT_EQUAL(tracer.collections, before + 1);
    test_nested();
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("nested pauses", NULL, NULL);
    CU_add_test(suite, "nested", test_nested);
    CU_add_test(suite, "an end without a beginning", test_end_without_beginning);
}
