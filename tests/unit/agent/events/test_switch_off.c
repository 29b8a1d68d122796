/* SPDX-License-Identifier: Apache-2.0 */
/* A trace has ended by itself, and an event of it finds that out while another thread starts the
 * next: the one that is freed is not looked at, the new one's events stay on. */
#include <CUnit/Basic.h>
#include <sched.h>
#include <stdlib.h>

#include "agent/base/patience.h"
#include "agent/events/engine.h"
#include "tests/unit/run_suite.h"

#define SESSIONS 1000u

struct tracer tracer = {.control_lock = PTHREAD_MUTEX_INITIALIZER};

static _Atomic bool events_on; /* as the JVM has it */
static _Atomic bool done;
static _Atomic unsigned switched_off, of_running, looks;

static void enable_methods(struct session *session, bool on)
{
    (void) session, (void) on;
}

static void enable(struct session *session, bool on)
{
    if (!on && !session_has_ended(session))
        atomic_fetch_add(&of_running, 1);
    if (!on)
        atomic_fetch_add(&switched_off, 1);
    atomic_store(&events_on, on);
}

static const struct engine engine = {.enable_methods = enable_methods, .enable = enable};

static jvmtiError JNICALL set_mode(jvmtiEnv *jvmti, jvmtiEventMode mode, jvmtiEvent event,
                                   jthread thread, ...)
{
    (void) jvmti, (void) mode, (void) event, (void) thread;
    return JVMTI_ERROR_NONE;
}

static const struct jvmtiInterface_1_ functions = {.SetEventNotificationMode = set_mode};
static jvmtiEnv jvmti = &functions;

/* As session_begin() does it, with the control lock. */
static void begin(uint64_t number)
{
    struct session *session = calloc(1, sizeof *session);
    CU_ASSERT_PTR_NOT_NULL_FATAL(session);
    session->number = number;
    session->engine = &engine;
    session->options.events = TRACED_METHOD;
    pthread_mutex_init(&session->state_lock, NULL);
    free(tracer.last);
    tracer.last = session;
    atomic_store(&tracer.session, session);
    atomic_store(&tracer.events_on, true);
    engine_enable(session, true);
}

/* As the drain thread does it, where a trace comes to its limit. */
static void end_by_itself(struct session *session)
{
    atomic_store(&tracer.session, NULL);
    pthread_mutex_lock(&session->state_lock);
    session->ended = true;
    pthread_mutex_unlock(&session->state_lock);
}

/* A thread of the program, with its events. */
static void *call_methods(void *unused)
{
    (void) unused;
    while (!atomic_load(&done)) {
        if (atomic_load(&tracer.session) == NULL)
            engine_switch_off();
        atomic_fetch_add_explicit(&looks, 1, memory_order_relaxed);
    }
    return NULL;
}

/* Orders nothing: it is relaxed. */
static void wait_for_look(void)
{
    unsigned before = atomic_load_explicit(&looks, memory_order_relaxed);
    while (atomic_load_explicit(&looks, memory_order_relaxed) - before < 2)
        sched_yield();
}

static void test_while_another_begins(void)
{
    pthread_t thread;
    unsigned lost = 0;
    atomic_store(&done, false);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, call_methods, NULL), 0);
    for (unsigned i = 0; i < SESSIONS; i++) {
        while (!control_take(SECOND_NS))
            ;
        begin(i + 1);
        lost += !atomic_load(&events_on);
        struct session *session = tracer.last;
        control_give_back();
        end_by_itself(session);
        if (i % 16 == 0)
            wait_for_look();
    }
    atomic_store(&done, true);
    pthread_join(thread, NULL);
    CU_ASSERT_EQUAL(lost, 0);
    CU_ASSERT_EQUAL(atomic_load(&of_running), 0);
}

/* Whoever holds the lock may be about to free it. */
static void *switch_off(void *unused)
{
    engine_switch_off();
    return unused;
}

static void test_only_with_the_lock(void)
{
    pthread_t thread;
    CU_ASSERT_TRUE_FATAL(control_take(SECOND_NS));
    begin(SESSIONS + 1);
    end_by_itself(tracer.last);
    atomic_store(&switched_off, 0);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, switch_off, NULL), 0);
    pthread_join(thread, NULL);
    CU_ASSERT_EQUAL(atomic_load(&switched_off), 0);
    control_give_back();
    engine_switch_off();
    engine_switch_off();
    CU_ASSERT_EQUAL(atomic_load(&switched_off), 1);
    CU_ASSERT_FALSE(atomic_load(&events_on));
    free(tracer.last);
    tracer.last = NULL;
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("switch off", NULL, NULL);
    tracer.jvmti = &jvmti;
    CU_add_test(suite, "while another trace begins", test_while_another_begins);
    CU_add_test(suite, "only with the lock", test_only_with_the_lock);
}
