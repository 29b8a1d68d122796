/* SPDX-License-Identifier: Apache-2.0 */
/* While one thread closes the trace of a JVM that ends, the others rest when they call probes. */
#include <CUnit/Basic.h>

#include "agent/records/threads.h"

#define CALLS 20u
#define LEAST_REST_NS UINT64_C(20000000)

struct tracer tracer; /* else that of the entry points */

static struct session session;

static uint64_t call_ns(void)
{
    struct os_thread *os;
    uint64_t from = clock_monotonic_ns();
    CU_ASSERT_PTR_EQUAL(probe_enter(&os), &session);
    uint64_t past = clock_monotonic_ns() - from;
    probe_leave(os);
    return past;
}

/* Of so many calls, lest another process had the processor. */
static uint64_t least_call_ns(void)
{
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < CALLS; i++) {
        uint64_t ns = call_ns();
        least = ns < least ? ns : least;
    }
    return least;
}

static void *call_beside(void *result)
{
    *(uint64_t *) result = call_ns();
    return NULL;
}

static uint64_t other_call_ns(void)
{
    pthread_t thread;
    uint64_t ns = 0;
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, call_beside, &ns), 0);
    pthread_join(thread, NULL);
    return ns;
}

static void test_others_rest(void)
{
    atomic_store(&tracer.session, &session);
    tracer.closer = pthread_self();
    atomic_store(&tracer.closing, true);
    CU_ASSERT_TRUE(other_call_ns() >= LEAST_REST_NS);
    CU_ASSERT_TRUE(least_call_ns() < LEAST_REST_NS);
    atomic_store(&tracer.closing, false);
    CU_ASSERT_TRUE(least_call_ns() < LEAST_REST_NS);
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS)
        return 1;
    threads_initialize();
    CU_pSuite suite = CU_add_suite("closing", NULL, NULL);
    CU_add_test(suite, "the others rest", test_others_rest);
    CU_basic_set_mode(CU_BRM_VERBOSE);
    CU_basic_run_tests();
    unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return failures != 0;
}
