/* SPDX-License-Identifier: Apache-2.0 */
/* A model of a JVM: a reference is the address of a word that holds the object's place.  Its
 * collector moves the canary with or without an announcement, and leaves slots as they were. */
#include <CUnit/Basic.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/internals.h"
#include "agent/deaths/canary.h"
#include "agent/deaths/recycle.h"
#include "agent/events/engine.h"
#include "tests/unit/run_suite.h"

#define SLOTS 64u

struct tracer tracer; /* else that of the entry points */

static uintptr_t slots[SLOTS]; /* that references lead to */
static size_t used;
static uintptr_t next_place = 0x1000;
static const char *told_otherwise; /* IsSameObject() says no */
static unsigned ended;

static jobject new_reference(uintptr_t place)
{
    CU_ASSERT_FATAL(used < SLOTS);
    slots[used] = place;
    return (jobject) &slots[used++];
}

static jbyteArray JNICALL new_byte_array(JNIEnv *jni, jsize length)
{
    (void) jni, (void) length;
    return new_reference(next_place += 0x100);
}

static jobject JNICALL new_global(JNIEnv *jni, jobject object)
{
    (void) jni;
    return new_reference(*(uintptr_t *) object);
}

static void JNICALL delete_reference(JNIEnv *jni, jobject reference)
{
    (void) jni;
    if (reference != NULL)
        *(uintptr_t *) reference = 0;
}

static jboolean JNICALL is_same(JNIEnv *jni, jobject one, jobject other)
{
    (void) jni;
    return told_otherwise == NULL &&
           *(uintptr_t *) one == (other != NULL ? *(uintptr_t *) other : 0);
}

static jvmtiError JNICALL no_property(jvmtiEnv *jvmti, const char *name, char **value)
{
    (void) jvmti, (void) name, (void) value;
    return JVMTI_ERROR_NOT_AVAILABLE;
}

static void end_writes(void)
{
    ended++;
}

static jboolean JNICALL no_exception(JNIEnv *jni)
{
    (void) jni;
    return JNI_FALSE;
}

static const struct JNINativeInterface_ functions = {.ExceptionCheck = no_exception,
                                                     .NewByteArray = new_byte_array,
                                                     .NewGlobalRef = new_global,
                                                     .DeleteGlobalRef = delete_reference,
                                                     .DeleteLocalRef = delete_reference,
                                                     .DeleteWeakGlobalRef = delete_reference,
                                                     .IsSameObject = is_same};
static JNIEnv jni = &functions;
static const struct jvmtiInterface_1_ of_jvm = {.GetSystemProperty = no_property};
static jvmtiEnv jvmti = &of_jvm;
static const struct engine engine = {.end_writes = end_writes};
static struct session session = {.number = 1, .holds = true, .places = true, .engine = &engine};
static struct os_thread *os;

/* The slot of the recycled reference. */
static uintptr_t *recycled;

static void collect(bool announced, intptr_t by, bool recycled_too)
{
    if (announced) {
        holds_wait();
        atomic_fetch_add(&tracer.collections_begun, 1);
    }
    for (size_t i = 0; i < used; i++)
        if (slots[i] != 0 && (&slots[i] != recycled || recycled_too))
            slots[i] += (uintptr_t) by;
    if (announced)
        holds_go_on();
}

static void look(void)
{
    canary_look(&session, os, &jni);
}

/* A fault is kept for the life of the process: each test has one of its own. */
static void begin(void)
{
    struct recycled *batch = calloc(1, sizeof *batch);
    internals_begin(INTERNALS_ALL, false);
    canary_prepare(&jni);
    CU_ASSERT_PTR_NOT_NULL_FATAL(batch);
    batch->references[batch->count++] = new_reference(0);
    recycled = (uintptr_t *) batch->references[0];
    os->deaths.recycled = batch;
    look();
    CU_ASSERT_NOT_EQUAL(*recycled, 0);
    for (int i = 0; i < 5; i++) {
        collect(true, 0x10, true);
        look();
        look();
    }
    CU_ASSERT_PTR_NULL(internals_writes_fault());
    CU_ASSERT_TRUE(internal_is_allowed(INTERNAL_RECYCLE));
    CU_ASSERT_TRUE(internal_is_allowed(INTERNAL_TAN));
}

static void expect_fault(const char *words)
{
    const char *fault;
    look();
    fault = internals_writes_fault();
    CU_ASSERT_PTR_NOT_NULL_FATAL(fault);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault, words));
    CU_ASSERT_EQUAL(ended, 1);
    CU_ASSERT_FALSE(hold_begin(os));
    internals_begin(INTERNALS_ALL, false); /* the next session */
    for (int i = 0; i < INTERNAL_COUNT; i++)
        CU_ASSERT_EQUAL(internal_is_allowed((enum internal) i),
                        i != INTERNAL_FRAMES && (INTERNALS_WRITES >> i & 1) == 0);
    look();
    CU_ASSERT_EQUAL(ended, 1);
}

static void test_unannounced(void)
{
    begin();
    collect(false, 0x10, true);
    expect_fault("not announced");
}

/* The collector passes the recycled slot over: it is emptied before the next one follows it. */
static void test_slot_lost(void)
{
    begin();
    collect(true, 0x10, false);
    expect_fault("lost its object");
    CU_ASSERT_EQUAL(*recycled, 0);
}

static void test_other_object(void)
{
    begin();
    told_otherwise = "";
    expect_fault("another object");
}

static int enter(void)
{
    tracer.jvmti = &jvmti;
    threads_initialize();
    atomic_store(&tracer.session, &session);
    atomic_store(&slots_readable, true);
    holds_allow(true);
    return probe_enter(&os) == NULL;
}

void add_suite(void)
{
    void (*const tests[])(void) = {test_unannounced, test_slot_lost, test_other_object};
    size_t which = suite_argument != NULL ? strtoul(suite_argument, NULL, 10) : 0;
    CU_pSuite suite = CU_add_suite("canary", enter, NULL);
    CU_add_test(suite, "a fault", which < 3 ? tests[which] : NULL);
}
