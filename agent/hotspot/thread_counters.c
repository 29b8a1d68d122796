/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the JVM's counters of allocated bytes as the JDK's management library does, without loading
 * it: no class is loaded and no Java code runs. */
#include "agent/hotspot/thread_counters.h"

#include <string.h>

#include "agent/base/exceptions.h"
#include "agent/base/internals.h"
#include "agent/base/java_versions.h"
#include "agent/base/jvm_classes.h"
#include "agent/base/tracer.h"
#include "agent/hotspot/vm_structs.h"

#define OWN_THREAD 0
#define PROOF_BYTES 1000
#define PROOF_SLACK 8192 /* the array's header, and what the JVM makes on this thread meanwhile */

typedef jlong(JNICALL allocated_bytes)(JNIEnv *jni, jlong thread_id);

/* Places in struct jmmInterface_1_ of HotSpot's jmm.h, in words, by the version of that header. */
#define VERSION_PLACE 2u
static const struct {
    int java_least;
    jint version;
    size_t place; /* of GetOneThreadAllocatedMemory */
} tables[] = {{26, 0x20050000, 10}, {21, 0x20040000, 10}, {14, 0x20030000, 9}};

static allocated_bytes *allocated; /* NULL: not to be used */

static bool take_function(const void *table, size_t place, void *function)
{
    memcpy(function, (const char *) table + place * sizeof(void *), sizeof(void *));
    return memcmp(function, &(void *){NULL}, sizeof(void *)) != 0;
}

static allocated_bytes *find_function(JNIEnv *jni)
{
    void *(JNICALL * get)(jint version);
    jint(JNICALL * version)(JNIEnv * jni);
    allocated_bytes *function = NULL;
    void *symbol = vm_exported("JVM_GetManagement");
    size_t i = 0;
    while (i < sizeof tables / sizeof tables[0] && tracer.java_major < tables[i].java_least)
        i++;
    if (symbol != NULL && i < sizeof tables / sizeof tables[0]) {
        memcpy(&get, &symbol, sizeof get);
        const void *table = get(tables[i].version);
        if (table == NULL || !take_function(table, VERSION_PLACE, &version) ||
            version(jni) != tables[i].version || !take_function(table, tables[i].place, &function))
            function = NULL;
    }
    return function;
}

/* An array of known length is counted once, at once. The slack allows for what the JVM itself makes
 * on this thread; a counter that is updated only when an allocation buffer is used up fails the
 * test. */
static bool counts(JNIEnv *jni, allocated_bytes *function)
{
    jthrowable of_program = exception_set_aside(jni);
    jlong before = function(jni, OWN_THREAD);
    jobject array = (*jni)->NewByteArray(jni, PROOF_BYTES);
    jlong counted = function(jni, OWN_THREAD) - before;
    exception_restore(jni, of_program, array == NULL, THROWN_BY_ALLOCATION);
    (*jni)->DeleteLocalRef(jni, array);
    return array != NULL && before >= 0 && counted >= PROOF_BYTES &&
           counted < PROOF_BYTES + PROOF_SLACK;
}

/* Virtual threads that are threads of the system have counters, but no JVMTI call lists them, and
 * they do not announce their end as others do. */
static bool has_unlisted_threads(void)
{
    const unsigned char *flag = vm_flag("VMContinuations");
    return tracer.java_major >= JAVA_CONTINUATIONS && flag != NULL && *flag == 0;
}

void thread_counters_prove(JNIEnv *jni)
{
    bool is_allowed = internal_is_allowed(INTERNAL_COUNTERS);
    bool lacks_threads = is_allowed && has_unlisted_threads();
    allocated_bytes *function = is_allowed && !lacks_threads ? find_function(jni) : NULL;
    allocated = function != NULL && counts(jni, function) ? function : NULL;
    internal_settled(INTERNAL_COUNTERS, allocated != NULL ? NULL
                                        : lacks_threads
                                            ? "-XX:-VMContinuations: not all threads are listed"
                                        : function != NULL ? "they do not count a known array"
                                                           : "the JVM has no such table");
}

bool thread_counters_read(JNIEnv *jni, jthread thread, int64_t *id, uint64_t *bytes)
{
    static _Atomic(jfieldID) known;
    jfieldID field =
        allocated != NULL ? class_field_once(jni, &known, "java/lang/Thread", "tid", "J") : NULL;
    if (field == NULL)
        return false;
    *id = (*jni)->GetLongField(jni, thread, field);
    jlong counted = *id > 0 ? allocated(jni, *id) : -1;
    *bytes = (uint64_t) counted;
    return counted >= 0;
}

bool thread_counters_each(JNIEnv *jni, thread_counter_visitor *visit, void *user)
{
    jint count = 0;
    jthread *threads = NULL;
    if (allocated == NULL ||
        (*tracer.jvmti)->GetAllThreads(tracer.jvmti, &count, &threads) != JVMTI_ERROR_NONE)
        return false;
    for (jint i = 0; i < count; i++) {
        int64_t id;
        uint64_t bytes;
        if (thread_counters_read(jni, threads[i], &id, &bytes))
            visit(user, threads[i], id, bytes);
        (*jni)->DeleteLocalRef(jni, threads[i]);
    }
    jvm_free(threads);
    return true;
}
