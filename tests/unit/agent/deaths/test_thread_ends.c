/* SPDX-License-Identifier: Apache-2.0 */
/* Threads end while the reaper gives a session's references back: each reference is deleted exactly
 * once, whoever hands it over. */
#include <CUnit/Basic.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "agent/deaths/reaper.h"
#include "agent/deaths/recycle.h"
#include "agent/records/threads.h"
#include "tests/unit/run_suite.h"

#define THREADS 3u
#define ROUNDS 1000u
#define RECYCLED 5u   /* references of a thread's batch */
#define REMEMBERED 3u /* references of a thread's page */
#define MADE (ROUNDS * THREADS * (RECYCLED + REMEMBERED))

struct tracer tracer; /* else that of the entry points */

static struct session session = {.number = 1};
static _Atomic uint64_t made;
static _Atomic unsigned deleted[MADE + 1];
static _Atomic unsigned ready;
static _Atomic bool may_end;

/* A reference is its number. */
static jweak make_reference(void)
{
    return (jweak) (uintptr_t) (atomic_fetch_add(&made, 1) + 1);
}

static void JNICALL delete_reference(JNIEnv *jni, jweak reference)
{
    (void) jni;
    uintptr_t number = (uintptr_t) reference;
    if (number <= MADE)
        atomic_fetch_add(&deleted[number], 1);
}

static void *live_and_end(void *unused)
{
    struct os_thread *os;
    (void) unused;
    CU_ASSERT_PTR_NOT_NULL_FATAL(probe_enter(&os));
    struct recycled *batch = malloc(sizeof *batch);
    CU_ASSERT_PTR_NOT_NULL_FATAL(batch);
    batch->count = RECYCLED;
    for (unsigned i = 0; i < RECYCLED; i++)
        batch->references[i] = make_reference();
    os->deaths.recycled = batch;
    for (unsigned i = 0; i < REMEMBERED; i++)
        CU_ASSERT_TRUE(
            weak_table_add(&reaper_table, &os->deaths.weak_page, i + 1, make_reference()));
    atomic_store(&os->deaths.weak_session, session.number);
    probe_leave(os);
    atomic_fetch_add(&ready, 1);
    while (!atomic_load(&may_end))
        sched_yield();
    return NULL;
}

static void end_and_clear(JNIEnv *jni)
{
    pthread_t threads[THREADS];
    atomic_store(&ready, 0);
    atomic_store(&may_end, false);
    atomic_store(&tracer.session, &session);
    for (unsigned i = 0; i < THREADS; i++)
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, live_and_end, NULL), 0);
    while (atomic_load(&ready) != THREADS)
        sched_yield();
    atomic_store(&tracer.session, NULL);
    atomic_store(&may_end, true);
    reaper_clear(jni, 1000000000);
    CU_ASSERT_PTR_NULL(atomic_load(&reaper_table.handed_over));
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CU_ASSERT_PTR_NULL(atomic_load(&reaper_table.handed_over));
}

static struct JNINativeInterface_ functions = {.DeleteWeakGlobalRef = delete_reference};

static void test_all_are_deleted_once(void)
{
    JNIEnv jni = &functions;
    threads_initialize();
    thread_at_end(reaper_thread_ended);
    for (unsigned i = 0; i < ROUNDS; i++)
        end_and_clear(&jni);
    reaper_clear(&jni, 1000000000); /* the batches of threads that ended last */
    unsigned wrong = 0;
    for (size_t i = 1; i <= MADE; i++)
        wrong += atomic_load(&deleted[i]) != 1;
    CU_ASSERT_EQUAL(atomic_load(&made), MADE);
    CU_ASSERT_EQUAL(wrong, 0);
}

static _Atomic bool has_entered, may_leave;
static jweak of_late;

/* A thread that a debugger suspends in a probe. */
static void *stay_in_probe(void *unused)
{
    struct os_thread *os;
    (void) unused;
    CU_ASSERT_PTR_NOT_NULL_FATAL(probe_enter(&os));
    CU_ASSERT_TRUE(weak_table_add(&reaper_table, &os->deaths.weak_page, 1, of_late));
    atomic_store(&os->deaths.weak_session, session.number);
    atomic_store(&has_entered, true);
    while (!atomic_load(&may_leave))
        sched_yield();
    CU_ASSERT_TRUE(weak_table_add(&reaper_table, &os->deaths.weak_page, 2, of_late));
    probe_leave(os);
    return NULL;
}

/* As long as a thread is in a probe of the last session nothing of that session is given back, and
 * the caller is told. */
static void test_limit(void)
{
    JNIEnv jni = &functions;
    pthread_t thread;
    of_late = (jweak) (uintptr_t) 1;
    unsigned before = atomic_load(&deleted[1]);
    atomic_store(&tracer.session, &session);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, stay_in_probe, NULL), 0);
    while (!atomic_load(&has_entered))
        sched_yield();
    CU_ASSERT_FALSE(reaper_clear(&jni, 1000000000)); /* a session is there */
    atomic_store(&tracer.session, NULL);
    for (int i = 0; i < 3; i++)
        CU_ASSERT_FALSE(reaper_clear(&jni, 10000000));
    CU_ASSERT_EQUAL(atomic_load(&deleted[1]), before);
    atomic_store(&may_leave, true);
    CU_ASSERT_TRUE(reaper_clear(&jni, 100000000000));
    CU_ASSERT_EQUAL(atomic_load(&deleted[1]), before + 2);
    pthread_join(thread, NULL);
}

/* A thread hands its page over while the pages that were collected are given back: the page stays,
 * with its references, until it is collected itself. */
static void test_handed_over_late(void)
{
    static struct weak_table table;
    _Atomic(struct weak_page *) pages[2] = {NULL, NULL};
    for (uintptr_t i = 0; i < 2; i++)
        CU_ASSERT_TRUE_FATAL(weak_table_add(&table, &pages[i], i + 1, (jweak) (i + 1)));
    weak_table_hand_over(&table, pages[0]);
    weak_table_collect(&table);
    weak_table_hand_over(&table, pages[1]);
    weak_table_reset(&table);
    CU_ASSERT_PTR_EQUAL(atomic_load(&table.handed_over), pages[1]);
    weak_table_collect(&table);
    CU_ASSERT_PTR_EQUAL_FATAL(table.first, pages[1]);
    CU_ASSERT_EQUAL(table.first->words[0], WEAK_ID_WORD | 2);
    CU_ASSERT_EQUAL(table.first->words[1], 2);
    weak_table_reset(&table);
    CU_ASSERT_PTR_NULL(table.first);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("thread ends", NULL, NULL);
    CU_add_test(suite, "each reference is deleted once", test_all_are_deleted_once);
    CU_add_test(suite, "a page that comes late stays", test_handed_over_late);
    CU_add_test(suite, "a thread that does not leave", test_limit);
}
