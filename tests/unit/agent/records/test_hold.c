/* SPDX-License-Identifier: Apache-2.0 */
/* A model of a collector: what it moves in its pauses, threads that hold read and write without any
 * other order, so that ThreadSanitizer sees where the protocol has a gap. */
#include <CUnit/Basic.h>
#include <sched.h>

#include "agent/records/hold.h"
#include "tests/unit/run_suite.h"

#define THREADS 3u
#define PAUSES 200u

struct tracer tracer; /* else that of the entry points */

static struct session session;
/* The one object's place, and where the threads have put it: plain memory. */
static uint64_t place;
static uint64_t slots[THREADS];
static _Atomic unsigned held[THREADS];
static _Atomic bool over;
static unsigned stale;

static void *hold_often(void *argument)
{
    unsigned number = (unsigned) (uintptr_t) argument;
    struct os_thread *os;
    while (!atomic_load(&over)) {
        if (probe_enter(&os) == NULL)
            continue;
        if (hold_begin(os)) {
            slots[number] = place;
            hold_end(os);
            atomic_fetch_add(&held[number], 1);
        }
        probe_leave(os);
    }
    return NULL;
}

/* Moves the object, and every slot with it. */
static void move(void)
{
    for (unsigned i = 0; i < THREADS; i++) {
        stale += slots[i] != 0 && slots[i] != place;
        slots[i] = slots[i] != 0 ? place + 1 : 0;
    }
    place++;
}

static void let_them_hold(unsigned before)
{
    for (unsigned i = 0; i < 1000 && atomic_load(&held[0]) == before; i++)
        sched_yield();
}

static void collect_often(void)
{
    pthread_t threads[THREADS];
    place = 1;
    stale = 0;
    atomic_store(&over, false);
    for (uintptr_t i = 0; i < THREADS; i++) {
        slots[i] = 0;
        atomic_store(&held[i], 0);
        pthread_create(&threads[i], NULL, hold_often, (void *) i);
    }
    holds_allow(true);
    for (unsigned i = 0; i < THREADS; i++)
        while (atomic_load(&held[i]) == 0)
            sched_yield();
    for (unsigned i = 0; i < PAUSES; i++) {
        unsigned before = atomic_load(&held[0]);
        holds_wait();
        move();
        if (i % 7 == 0) { /* a pause within a pause */
            holds_wait();
            move();
            holds_go_on();
            move();
        }
        holds_go_on();
        let_them_hold(before);
    }
    holds_allow(false);
    move(); /* unannounced, now that nobody may hold */
    atomic_store(&over, true);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CU_ASSERT_EQUAL(stale, 0);
}

static void test_barrier(void)
{
    threads_initialize();
    atomic_store(&tracer.session, &session);
    collect_often();
}

static void test_fences(void)
{
    probes_need_fence = true;
    collect_often();
}

/* The ends of pauses whose beginnings were not told of, and pauses that go on while holds are
 * allowed. */
static void test_halves(void)
{
    struct os_thread *os;
    CU_ASSERT_PTR_NOT_NULL_FATAL(probe_enter(&os));
    CU_ASSERT_FALSE(hold_begin(os));
    holds_go_on();
    CU_ASSERT_FALSE(hold_begin(os));
    holds_wait();
    holds_allow(true);
    CU_ASSERT_FALSE(hold_begin(os));
    holds_go_on();
    CU_ASSERT_TRUE(hold_begin(os));
    hold_end(os);
    holds_go_on();
    CU_ASSERT_TRUE(hold_begin(os));
    hold_end(os);
    holds_wait();
    CU_ASSERT_FALSE(hold_begin(os));
    holds_allow(false);
    holds_go_on();
    CU_ASSERT_FALSE(hold_begin(os));
    probe_leave(os);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("holds", NULL, NULL);
    CU_add_test(suite, "with a barrier", test_barrier);
    CU_add_test(suite, "with fences", test_fences);
    CU_add_test(suite, "halves of pauses", test_halves);
}
