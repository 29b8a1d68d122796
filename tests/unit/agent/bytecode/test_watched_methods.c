/* SPDX-License-Identifier: Apache-2.0 */
/* Methods that begin and end traces, over many sessions. */
#include <CUnit/Basic.h>

#include "agent/base/tracer.h"
#include "agent/bytecode/class_hook.h"
#include "agent/records/method_numbers.h"
#include "tests/unit/run_suite.h"

struct tracer tracer; /* else that of the entry points */

#define SESSIONS 2000u
#define METHODS 3u

static unsigned entered_with, left_with;

static void on_entry(JNIEnv *jni, unsigned triggers)
{
    (void) jni;
    entered_with = triggers;
}

static void on_exit_of(unsigned triggers)
{
    left_with = triggers;
}

/* What the method sets off: at its entry, then its exit. */
static void expect(uint32_t number, unsigned triggers)
{
    entered_with = left_with = 0;
    watched_method_entered(NULL, number);
    watched_method_left(number);
    CU_ASSERT_EQUAL(entered_with, triggers);
    CU_ASSERT_EQUAL(left_with, triggers);
}

static void test_many_sessions(void)
{
    static const struct watch_actions actions = {on_entry, on_exit_of};
    watched_methods_act(&actions);
    for (uint32_t number = 1; number <= METHODS + 1; number++)
        CU_ASSERT_EQUAL(method_new_number(), number);
    for (unsigned i = 0; i < SESSIONS; i++) {
        watched_methods_forget();
        for (uint32_t number = 1; number <= METHODS; number++)
            watched_method_add(number, TRIGGER_START);
        if (i % 1000 == 0)
            expect(METHODS, TRIGGER_START);
    }
    watched_methods_forget();
    watched_method_add(2, TRIGGER_STOP);
    watched_method_add(2, TRIGGER_STOP | TRIGGER_START);
    expect(1, 0);
    expect(2, TRIGGER_STOP | TRIGGER_START);
    expect(3, 0);
    expect(4, 0);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("watched methods", NULL, NULL);
    CU_add_test(suite, "many sessions", test_many_sessions);
}
