/* SPDX-License-Identifier: Apache-2.0 */
/* engine=sampled changes what is the JVM's, and not the agent's alone: the sampling interval, and a
 * capability that another agent may want.  What a trace changes, its end gives back, in this order;
 * a trace that is followed by the next file of its ring keeps both. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/agent_options.h"
#include "agent/events/engine.h"
#include "agent/events/events.h"
#include "agent/events/sampled_lives.h"
#include "tests/unit/run_suite.h"

struct tracer tracer; /* else that of the entry points */

static struct session session;
static char calls[512];

static void note(const char *call, long number)
{
    size_t length = strlen(calls);
    snprintf(calls + length, sizeof calls - length, "%s(%ld) ", call, number);
}

static jvmtiError JNICALL set_mode(jvmtiEnv *jvmti, jvmtiEventMode mode, jvmtiEvent event,
                                   jthread thread, ...)
{
    (void) jvmti, (void) thread;
    CU_ASSERT_EQUAL(event, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC);
    note("events", mode == JVMTI_ENABLE);
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL set_interval(jvmtiEnv *jvmti, jint bytes)
{
    (void) jvmti;
    note("interval", bytes);
    return JVMTI_ERROR_NONE;
}

static jvmtiError relinquished;

static jvmtiError JNICALL relinquish(jvmtiEnv *jvmti, const jvmtiCapabilities *mine)
{
    jvmtiCapabilities only = {.can_generate_sampled_object_alloc_events = 1};
    (void) jvmti;
    CU_ASSERT_EQUAL(memcmp(mine, &only, sizeof only), 0);
    note("relinquish", 1);
    return relinquished;
}

static const struct jvmtiInterface_1_ jvmti_functions = {.SetEventNotificationMode = set_mode,
                                                         .SetHeapSamplingInterval = set_interval,
                                                         .RelinquishCapabilities = relinquish};
static jvmtiEnv jvmti = &jvmti_functions;

static jint get_env(JavaVM *vm, void **out, jint version)
{
    (void) vm, (void) version;
    *out = NULL;
    return JNI_EDETACHED;
}

static const struct JNIInvokeInterface_ vm_functions = {.GetEnv = get_env};
static JavaVM vm = &vm_functions;

static void begin(uint64_t file_number, uint64_t sample_bytes, bool is_followed)
{
    tracer.jvmti = &jvmti;
    tracer.vm = &vm;
    tracer.capable = TRACED_ALLOC | TRACED_FREE | TRACED_METHOD;
    relinquished = JVMTI_ERROR_NONE;
    session = (struct session){.number = 7, .is_followed = is_followed};
    session.options.events = TRACED_ALLOC;
    session.options.sample_bytes = sample_bytes;
    session.options.file_number = file_number;
    calls[0] = '\0';
    engine_sampled.enable(&session, true);
}

static void expect(const char *format, long first, long second)
{
    char wanted[128];
    snprintf(wanted, sizeof wanted, format, first, second);
    CU_ASSERT_STRING_EQUAL(calls, wanted);
    calls[0] = '\0';
}

static void test_whole_trace(void)
{
    begin(1, 1000, false);
    expect("interval(%ld) events(%ld) ", 1000, 1);
    engine_sampled.enable(&session, false);
    /* no sample is taken with the restored interval */
    expect("events(0) interval(%ld) relinquish(%ld) ", (long) OPTION_SAMPLE_DEFAULT, 1);
    CU_ASSERT_EQUAL(tracer.capable, TRACED_METHOD);
}

/* Where the JVM does not take the capability back, the agent has it still. */
static void test_capability_kept(void)
{
    begin(1, 1, false);
    relinquished = JVMTI_ERROR_NOT_AVAILABLE;
    engine_sampled.enable(&session, false);
    CU_ASSERT_EQUAL(tracer.capable, TRACED_ALLOC | TRACED_FREE | TRACED_METHOD);
}

/* The next file of a ring goes on with the interval of the last one, whatever its options say; so
 * do threads between the two. */
static void test_ring(void)
{
    begin(1, 4096, true);
    calls[0] = '\0';
    engine_sampled.enable(&session, false);
    expect("events(%ld) ", 0, 0);
    CU_ASSERT_EQUAL(tracer.capable, TRACED_ALLOC | TRACED_FREE | TRACED_METHOD);
    begin(2, 512, false);
    expect("interval(%ld) events(%ld) ", 4096, 1);
    engine_sampled.enable(&session, false);
    expect("events(0) interval(%ld) relinquish(%ld) ", (long) OPTION_SAMPLE_DEFAULT, 1);
}

static void test_capabilities(void)
{
    jvmtiCapabilities wanted, only = {.can_generate_sampled_object_alloc_events = 1}, none;
    memset(&wanted, 0, sizeof wanted);
    memset(&none, 0, sizeof none);
    engine_sampled.want_capabilities(TRACED_FREE, &wanted);
    engine_sampled.want_capabilities(TRACED_METHOD, &wanted);
    CU_ASSERT_EQUAL(memcmp(&wanted, &none, sizeof none), 0);
    engine_sampled.want_capabilities(TRACED_ALLOC, &wanted);
    CU_ASSERT_EQUAL(memcmp(&wanted, &only, sizeof only), 0);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("engine=sampled", NULL, NULL);
    CU_add_test(suite, "a whole trace", test_whole_trace);
    CU_add_test(suite, "a capability that stays", test_capability_kept);
    CU_add_test(suite, "a ring of files", test_ring);
    CU_add_test(suite, "capabilities", test_capabilities);
}
