/* SPDX-License-Identifier: Apache-2.0 */
/* Waits with a limit: a thread that keeps what others want. */
#include <CUnit/Basic.h>
#include <string.h>

#include "agent/base/patience.h"
#include "tests/unit/run_suite.h"

#define SHORT_NS UINT64_C(2000000)

struct tracer tracer = {.control_lock = PTHREAD_MUTEX_INITIALIZER};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t taken, enough;
static struct session session;
static struct live_map map;

/* Takes both locks, and keeps them until it is enough. */
static void *keep(void *data)
{
    (void) data;
    pthread_mutex_lock(&lock);
    bool control = control_take(0);
    sem_post(&taken);
    while (sem_wait(&enough) != 0)
        ;
    if (control)
        control_give_back();
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void test_kept_for_good(void)
{
    pthread_t thread;
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, keep, NULL), 0);
    CU_ASSERT_TRUE(semaphore_within(&taken, 60 * SECOND_NS));
    CU_ASSERT_FALSE(lock_within(&lock, SHORT_NS));
    CU_ASSERT_FALSE(control_take(SHORT_NS));
    CU_ASSERT_FALSE(control_is_mine());
    CU_ASSERT_FALSE(semaphore_within(&taken, SHORT_NS));
    sem_post(&enough);
    CU_ASSERT_TRUE(lock_within(&lock, 60 * SECOND_NS)); /* it comes free while we wait */
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
}

/* Java code that the holder runs reaches probes of start= and stop=. */
static void test_control_within_itself(void)
{
    CU_ASSERT_TRUE_FATAL(control_take(0));
    CU_ASSERT_TRUE(control_is_mine());
    uint64_t from = clock_monotonic_ns();
    CU_ASSERT_FALSE(control_take(60 * SECOND_NS));
    CU_ASSERT_TRUE(clock_monotonic_ns() - from < 30 * SECOND_NS);
    control_give_back();
    CU_ASSERT_FALSE(control_is_mine());
    CU_ASSERT_TRUE(control_take(0));
    control_give_back();
}

/* Once a session is given up nobody waits for its locks, nor uses what they guard. */
static void test_given_up(void)
{
    map.shared = &map.own;
    session.map = &map;
    pthread_mutex_init(&session.state_lock, NULL);
    CU_ASSERT_TRUE_FATAL(session_lock(&session, &lock));
    pthread_mutex_unlock(&lock);
    session_give_up(&session, "a test");
    CU_ASSERT_TRUE(atomic_load(&session.end_wanted));
    CU_ASSERT_EQUAL(session.wanted_end, END_FAILED);
    session_give_up(&session, "it is logged once");
    CU_ASSERT_FALSE(session_lock(&session, &lock));
    CU_ASSERT_TRUE(lock_within(&lock, 0)); /* it was not taken */
    pthread_mutex_unlock(&lock);
}

void add_suite(void)
{
    sem_init(&taken, 0, 0);
    sem_init(&enough, 0, 0);
    CU_pSuite suite = CU_add_suite("patience", NULL, NULL);
    CU_add_test(suite, "kept for good", test_kept_for_good);
    CU_add_test(suite, "control within itself", test_control_within_itself);
    CU_add_test(suite, "given up", test_given_up);
}
