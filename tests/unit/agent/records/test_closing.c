/* SPDX-License-Identifier: Apache-2.0 */
/* While one thread closes the trace of a JVM that ends, the others rest when they call probes; it
 * waits until each was outside of one. */
#include <CUnit/Basic.h>

#include "agent/base/patience.h"
#include "agent/records/threads.h"
#include "tests/unit/run_suite.h"

#define CALLS 20u
#define LEAST_REST_NS UINT64_C(20000000)

struct tracer tracer = {.control_lock = PTHREAD_MUTEX_INITIALIZER};

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

/* A thread that the end waits for, such as the reaper while it restores classes. */
static void *call_in_control(void *result)
{
    CU_ASSERT_TRUE(control_take(0));
    *(uint64_t *) result = least_call_ns();
    control_give_back();
    return NULL;
}

static uint64_t other_call_ns(void *(*call)(void *result))
{
    pthread_t thread;
    uint64_t ns = 0;
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, call, &ns), 0);
    pthread_join(thread, NULL);
    return ns;
}

static void test_others_rest(void)
{
    atomic_store(&tracer.session, &session);
    tracer.closer = pthread_self();
    atomic_store(&tracer.closing, true);
    CU_ASSERT_TRUE(other_call_ns(call_beside) >= LEAST_REST_NS);
    CU_ASSERT_TRUE(other_call_ns(call_in_control) < LEAST_REST_NS);
    CU_ASSERT_TRUE(least_call_ns() < LEAST_REST_NS);
    atomic_store(&tracer.closing, false);
    CU_ASSERT_TRUE(least_call_ns() < LEAST_REST_NS);
}

static sem_t wanted, done;

/* A probe, and in it until it is wanted once more. */
static void *stay_in_probe(void *data)
{
    struct os_thread *os = NULL;
    (void) data;
    CU_ASSERT_PTR_EQUAL(probe_enter(&os), &session); /* known from now on */
    probe_leave(os);
    sem_post(&done);
    sem_wait(&wanted);
    CU_ASSERT_PTR_EQUAL(probe_enter(&os), &session);
    sem_post(&done);
    sem_wait(&wanted);
    probe_leave(os);
    return NULL;
}

/* Two threads, each of which is outside once, and never both. */
static void test_each_is_seen_outside(void)
{
    pthread_t thread;
    struct os_thread *os = NULL;
    sem_init(&wanted, 0, 0);
    sem_init(&done, 0, 0);
    atomic_store(&tracer.session, &session);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, stay_in_probe, NULL), 0);
    sem_wait(&done);
    CU_ASSERT_PTR_EQUAL(probe_enter(&os), &session);
    uint64_t since = threads_order_probes();
    CU_ASSERT_FALSE(threads_have_left(since));
    sem_post(&wanted);
    sem_wait(&done);
    probe_leave(os);
    CU_ASSERT_TRUE(threads_have_left(since));
    CU_ASSERT_FALSE(threads_have_left(threads_order_probes()));
    sem_post(&wanted);
    pthread_join(thread, NULL);
    CU_ASSERT_TRUE(threads_have_left(threads_order_probes()));
}

void add_suite(void)
{
    threads_initialize();
    CU_pSuite suite = CU_add_suite("closing", NULL, NULL);
    CU_add_test(suite, "the others rest", test_others_rest);
    CU_add_test(suite, "each is seen outside", test_each_is_seen_outside);
}
