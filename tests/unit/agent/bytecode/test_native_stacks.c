/* SPDX-License-Identifier: Apache-2.0 */
/* Native methods of a library that switches stacks: calls are left in another order than they were
 * entered, and each returns to its own caller.  What a thread keeps of them ends with it.  Below
 * the stubs is a model: one session that traces all methods. */
#include <CUnit/Basic.h>
#include <malloc.h>
#include <pthread.h>
#include <string.h>
#include <ucontext.h>

#include "agent/base/exceptions.h"
#include "agent/base/internals.h"
#include "agent/bytecode/method_events.h"
#include "agent/bytecode/native_methods.h"
#include "agent/records/methods.h"
#include "tests/unit/run_suite.h"

#define FIBRES 3u
#define STACK_BYTES 65536u
#define DEPTH 64
#define THREADS 200
#define KEPT_MOST 65536u

/* Stubs stay as long as the process; the leak checker does not look for references in the pages of
 * their machine code. */
const char *__asan_default_options(void);
__attribute__((visibility("default"))) const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}

struct tracer tracer;

static struct session session;
static struct os_thread thread;
static uint32_t numbers;
static uint32_t left[2 * FIBRES];
static size_t left_count;

struct session *probe_enter(struct os_thread **out)
{
    *out = &thread;
    return &session;
}

const struct method_entry *method_lookup(struct session *of, jmethodID method)
{
    static const struct method_entry traced = {.id = 1, .is_static = true, .is_traced = true};
    (void) of, (void) method;
    return &traced;
}

uint32_t method_new_number(void)
{
    return ++numbers;
}

bool method_know(struct session *of, uint32_t number, jmethodID method)
{
    (void) of, (void) number, (void) method;
    return true;
}

void method_entered(struct session *of, struct os_thread *os, JNIEnv *jni, uint32_t number,
                    jobject object, bool is_new)
{
    (void) of, (void) os, (void) jni, (void) number, (void) object, (void) is_new;
}

void method_left(struct session *of, struct os_thread *os, uint32_t number, enum method_leave how)
{
    (void) of, (void) os, (void) how;
    if (left_count < sizeof left / sizeof left[0])
        left[left_count++] = number;
}

void method_counts_entered(struct session *of, struct os_thread *os, uint32_t number)
{
    (void) of, (void) os, (void) number;
}

void method_counts_left(struct session *of, struct os_thread *os, uint32_t number,
                        enum method_leave how)
{
    (void) of, (void) os, (void) number, (void) how;
}

bool internal_is_allowed(enum internal internal)
{
    return internal == INTERNAL_NATIVES;
}

void internal_settled(enum internal internal, const char *refused)
{
    (void) internal, (void) refused;
}

jthrowable exception_set_aside(JNIEnv *jni)
{
    (void) jni;
    return NULL;
}

void exception_restore(JNIEnv *jni, jthrowable exception, bool failed, enum exception_source source)
{
    (void) jni, (void) exception, (void) failed, (void) source;
}

static jvmtiError JNICALL declaring_class(jvmtiEnv *jvmti, jmethodID method, jclass *class)
{
    static char fibres;
    (void) jvmti, (void) method;
    *class = (jclass) &fibres;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL signature_of(jvmtiEnv *jvmti, jclass class, char **signature,
                                       char **generic)
{
    static char text[] = "LFibres;";
    (void) jvmti, (void) class, (void) generic;
    *signature = text;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL deallocate(jvmtiEnv *jvmti, unsigned char *memory)
{
    (void) jvmti, (void) memory;
    return JVMTI_ERROR_NONE;
}

static const struct jvmtiInterface_1_ functions = {.GetMethodDeclaringClass = declaring_class,
                                                   .GetClassSignature = signature_of,
                                                   .Deallocate = deallocate};
static jvmtiEnv jvmti = &functions;

static void JNICALL delete_local(JNIEnv *jni, jobject reference)
{
    (void) jni, (void) reference;
}

static const struct JNINativeInterface_ jni_functions = {.DeleteLocalRef = delete_local};
static JNIEnv env = &jni_functions;

typedef int native_code(JNIEnv *jni, jclass class, int argument);

/* As the JVM links a native method: with the stub before it. */
static native_code *bind(native_code *code)
{
    native_code *stub = NULL;
    void *address, *with_events = NULL;
    memcpy(&address, &code, sizeof address);
    native_methods_on_bind(&jvmti, &env, NULL, NULL, address, &with_events);
    memcpy(&stub, &with_events, sizeof stub);
    return stub;
}

static ucontext_t contexts[FIBRES], outside;
static char stacks[FIBRES][STACK_BYTES];
static native_code *waits[FIBRES];
static int results[FIBRES];

/* Is in its call while the others begin and end theirs. */
static int wait_in_call(JNIEnv *jni, jclass class, int fibre)
{
    (void) jni, (void) class;
    swapcontext(&contexts[fibre], &outside);
    return fibre + 100;
}

/* Called from several places, which they have to return to. */
static void run_fibre(int fibre)
{
    if (fibre == 0)
        results[0] = waits[0](NULL, NULL, 0) + 1000;
    else if (fibre == 1)
        results[1] = waits[1](NULL, NULL, 1) + 2000;
    else
        results[fibre] = waits[fibre](NULL, NULL, fibre) + 3000;
}

static void go_on(unsigned fibre)
{
    swapcontext(&outside, &contexts[fibre]);
}

static void test_fibres(void)
{
    for (unsigned i = 0; i < FIBRES; i++) {
        waits[i] = bind(wait_in_call);
        CU_ASSERT_PTR_NOT_NULL_FATAL(waits[i]);
        getcontext(&contexts[i]);
        contexts[i].uc_stack.ss_sp = stacks[i];
        contexts[i].uc_stack.ss_size = STACK_BYTES;
        contexts[i].uc_link = &outside;
        makecontext(&contexts[i], (void (*)(void)) run_fibre, 1, (int) i);
        go_on(i);
    }
    CU_ASSERT_EQUAL(left_count, 0);
    for (unsigned i = 0; i < FIBRES; i++) { /* the first entered is the first to leave */
        go_on(i);
        CU_ASSERT_EQUAL_FATAL(left_count, i + 1);
        CU_ASSERT_EQUAL(left[i], i + 1); /* the number that it was bound with */
        CU_ASSERT_EQUAL(results[i], (int) i * 1001 + 1100);
    }
}

static native_code *calls_itself;

static int call_itself(JNIEnv *jni, jclass class, int depth)
{
    return depth == 0 ? 0 : 1 + calls_itself(jni, class, depth - 1);
}

static void *live_and_end(void *result)
{
    *(int *) result += calls_itself(NULL, NULL, DEPTH);
    native_methods_thread_ended(&thread);
    return NULL;
}

static int run_threads(int count)
{
    int calls = 0;
    for (int i = 0; i < count; i++) {
        pthread_t one;
        CU_ASSERT_EQUAL_FATAL(pthread_create(&one, NULL, live_and_end, &calls), 0);
        pthread_join(one, NULL);
    }
    return calls;
}

static void test_thread_ends(void)
{
    calls_itself = bind(call_itself);
    CU_ASSERT_PTR_NOT_NULL_FATAL(calls_itself);
    CU_ASSERT_EQUAL(run_threads(2), 2 * DEPTH);
    size_t before = mallinfo2().uordblks;
    CU_ASSERT_EQUAL(run_threads(THREADS), THREADS * DEPTH);
    CU_ASSERT_TRUE(mallinfo2().uordblks < before + KEPT_MOST);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("native stacks", NULL, NULL);
    session.options.events = TRACED_METHOD;
    tracer.jvmti = &jvmti;
    if (!native_methods_possible())
        puts("skipped: native methods have no stubs on this machine");
    else {
        CU_add_test(suite, "fibres", test_fibres);
        CU_add_test(suite, "a thread ends", test_thread_ends);
    }
}
