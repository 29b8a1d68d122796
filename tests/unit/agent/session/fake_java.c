/* SPDX-License-Identifier: Apache-2.0 */
/* A JVM that has nothing: its functions fail or return NULL, but for those that start threads,
 * and set and get what the agent asks for. */
#include "tests/unit/agent/session/fake_java.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/tracer.h"

struct tracer tracer = {.control_lock = PTHREAD_MUTEX_INITIALIZER};

static struct jvmtiInterface_1_ jvmti_functions;
static struct JNINativeInterface_ jni_functions;
static struct JNIInvokeInterface_ vm_functions;
static jvmtiEnv jvmti = &jvmti_functions;
static JNIEnv jni = &jni_functions;
static struct JavaVM_ vm = {&vm_functions};

static _Thread_local bool is_java;

static jvmtiError JNICALL not_available(void)
{
    return JVMTI_ERROR_NOT_AVAILABLE;
}

static void *JNICALL nothing(void)
{
    return NULL;
}

static jint JNICALL get_env(JavaVM *of, void **out, jint version)
{
    (void) of, (void) version;
    *out = is_java ? (void *) &jni : NULL;
    return is_java ? JNI_OK : JNI_EDETACHED;
}

static jvmtiError JNICALL deallocate(jvmtiEnv *of, unsigned char *memory)
{
    (void) of;
    free(memory);
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL succeed(void)
{
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_property(jvmtiEnv *of, const char *name, char **value)
{
    (void) of;
    bool is_version = strcmp(name, "java.version") == 0;
    *value = is_version ? strdup(FAKE_JAVA_VERSION) : NULL;
    return is_version ? JVMTI_ERROR_NONE : JVMTI_ERROR_NOT_AVAILABLE;
}

/* ---- threads ---- */

static char a_thing[16];

static void *JNICALL something(void)
{
    return a_thing;
}

static jvmtiError JNICALL get_groups(jvmtiEnv *of, jint *count, jthreadGroup **groups)
{
    (void) of;
    *groups = malloc(sizeof **groups);
    if (*groups == NULL)
        return JVMTI_ERROR_OUT_OF_MEMORY;
    (*groups)[0] = (jthreadGroup) (void *) a_thing;
    *count = 1;
    return JVMTI_ERROR_NONE;
}

static struct {
    pthread_t thread;
    jvmtiStartFunction run;
    const void *data;
} threads[16];
static unsigned thread_count, joined_count;

static void *run_thread(void *number)
{
    unsigned i = (unsigned) (uintptr_t) number;
    is_java = true;
    threads[i].run(&jvmti, &jni, (void *) threads[i].data);
    return NULL;
}

static jvmtiError JNICALL run_agent_thread(jvmtiEnv *of, jthread thread, jvmtiStartFunction run,
                                           const void *data, jint priority)
{
    (void) of, (void) thread, (void) priority;
    unsigned i = thread_count;
    if (i == sizeof threads / sizeof threads[0])
        return JVMTI_ERROR_OUT_OF_MEMORY;
    threads[i].run = run;
    threads[i].data = data;
    if (pthread_create(&threads[i].thread, NULL, run_thread, (void *) (uintptr_t) i) != 0)
        return JVMTI_ERROR_OUT_OF_MEMORY;
    thread_count++;
    return JVMTI_ERROR_NONE;
}

unsigned fake_java_threads(void)
{
    for (; joined_count < thread_count; joined_count++)
        pthread_join(threads[joined_count].thread, NULL);
    return thread_count;
}

/* ---- */

typedef void any_function(void);

static void fill(void *table, size_t size, any_function *function)
{
    for (size_t at = 0; at < size; at += sizeof function)
        memcpy((char *) table + at, &function, sizeof function);
}

#define SET(table, name, function)                                                                 \
    memcpy(&(table).name, &(any_function *){(any_function *) (function)}, sizeof(any_function *))

JNIEnv *fake_java_jni(void)
{
    return &jni;
}

void fake_java_begin(void)
{
    fill(&jvmti_functions, sizeof jvmti_functions, (any_function *) not_available);
    fill(&jni_functions, sizeof jni_functions, (any_function *) nothing);
    fill(&vm_functions, sizeof vm_functions, (any_function *) nothing);
    SET(jvmti_functions, Deallocate, deallocate);
    SET(jvmti_functions, AddCapabilities, succeed);
    SET(jvmti_functions, SetEventCallbacks, succeed);
    SET(jvmti_functions, SetEventNotificationMode, succeed);
    SET(jvmti_functions, GetSystemProperty, get_property);
    SET(jvmti_functions, GetTopThreadGroups, get_groups);
    SET(jvmti_functions, RunAgentThread, run_agent_thread);
    SET(jni_functions, FindClass, something);
    SET(jni_functions, GetMethodID, something);
    SET(jni_functions, NewStringUTF, something);
    SET(jni_functions, NewObject, something);
    SET(jni_functions, NewGlobalRef, something);
    SET(vm_functions, GetEnv, get_env);
    is_java = true;
    tracer.vm = (JavaVM *) &vm;
    tracer.jvmti = &jvmti;
    tracer.java_major = 21;
    tracer.capable = UINT32_MAX;
    tracer.start = clock_moment_now();
}
