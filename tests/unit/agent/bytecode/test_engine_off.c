/* SPDX-License-Identifier: Apache-2.0 */
/* The JVM asks for a class's probes after a session has ended and its memory is gone, or before
 * there was one: nothing of the session is looked at. */
#include <CUnit/Basic.h>
#include <sys/mman.h>

#include "agent/bytecode/class_hook.h"
#include "agent/bytecode/engine_bytecode.h"
#include "tests/unit/run_suite.h"

struct tracer tracer = {.control_lock = PTHREAD_MUTEX_INITIALIZER};

static jvmtiError JNICALL set_mode(jvmtiEnv *jvmti, jvmtiEventMode mode, jvmtiEvent event,
                                   jthread thread, ...)
{
    (void) jvmti, (void) mode, (void) event, (void) thread;
    return JVMTI_ERROR_NONE;
}

static const struct jvmtiInterface_1_ functions = {.SetEventNotificationMode = set_mode};
static jvmtiEnv jvmti = &functions;

/* As a lambda's class and a class of the program's are defined. */
static void define_classes(void)
{
    static const unsigned char class_file[] = {0xca, 0xfe, 0xba, 0xbe};
    static JNIEnv jni; /* nobody calls it */
    jvmtiEventCallbacks callbacks;
    size_t changed_bytes = 0;
    jint new_length = 0;
    unsigned char *new_bytes = NULL;
    engine_bytecode.set_callbacks(&callbacks);
    CU_ASSERT_PTR_NULL(
        class_hook_hidden(&jni, NULL, class_file, sizeof class_file, &changed_bytes));
    callbacks.ClassFileLoadHook(&jvmti, &jni, NULL, NULL, "Program", NULL, (jint) sizeof class_file,
                                class_file, &new_length, &new_bytes);
    CU_ASSERT_PTR_NULL(new_bytes);
}

static void test_before_all(void)
{
    define_classes();
}

/* The engine was armed for it; a dying JVM keeps its classes as they are. */
static void test_session_is_gone(void)
{
    struct session *session =
        mmap(NULL, sizeof *session, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CU_ASSERT_PTR_NOT_EQUAL_FATAL(session, MAP_FAILED);
    tracer.dying = true;
    CU_ASSERT_TRUE(engine_bytecode.arm(NULL, session, false));
    CU_ASSERT_EQUAL_FATAL(mprotect(session, sizeof *session, PROT_NONE), 0);
    define_classes();
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("engine off", NULL, NULL);
    tracer.jvmti = &jvmti;
    CU_add_test(suite, "before all sessions", test_before_all);
    CU_add_test(suite, "the session is gone", test_session_is_gone);
}
