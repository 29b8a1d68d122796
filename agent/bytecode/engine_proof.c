/* SPDX-License-Identifier: Apache-2.0 */
/* Tests classes that each JVM has loaded and each program uses. */
#include "agent/bytecode/class_hook.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "agent/base/exceptions.h"
#include "agent/base/jvm_classes.h"

static const char *const class_names[] = {
    "java/lang/Object",        "java/lang/String",      "java/lang/Throwable",
    "java/lang/Thread",        "java/lang/ClassLoader", "java/lang/Integer",
    "java/lang/StringBuilder", "java/util/HashMap",     "java/util/concurrent/ConcurrentHashMap"};
#define CLASSES (sizeof class_names / sizeof class_names[0])

static struct {
    _Atomic bool runs;
    pthread_t thread;
    jint seen;
    char fault[200]; /* empty: none so far */
} proof;

bool engine_proof_runs(void)
{
    return atomic_load(&proof.runs) && pthread_equal(proof.thread, pthread_self());
}

void engine_proof_seen(void)
{
    proof.seen++;
}

void engine_proof_fail(const char *class_name, const char *method_name, const char *reason)
{
    if (proof.fault[0] == '\0')
        snprintf(proof.fault, sizeof proof.fault, "%s%s%s has no probes: %s", class_name,
                 method_name[0] != '\0' ? "." : "", method_name, reason);
}

static void refused(jclass class, jvmtiError code)
{
    char *error = NULL, *signature = class_signature(class);
    (*tracer.jvmti)->GetErrorName(tracer.jvmti, code, &error);
    engine_proof_fail(signature != NULL ? signature : "a class of the JDK", "",
                      error != NULL ? error : "refused");
    jvm_free(signature);
    jvm_free(error);
}

/* Classes that cannot be restored keep their probes: without a session these do nothing. */
static void refused_again(jclass class, jvmtiError code)
{
    (void) class, (void) code;
}

static jint find_classes(JNIEnv *jni, jclass classes[CLASSES])
{
    jint count = 0;
    for (size_t i = 0; i < CLASSES; i++)
        if ((classes[count] = (*jni)->FindClass(jni, class_names[i])) != NULL)
            count++;
    return count;
}

const char *engine_proof(JNIEnv *jni, void (*switch_engine)(bool rewrite, bool hook))
{
    jclass classes[CLASSES];
    jthrowable of_program = exception_set_aside(jni);
    jint count = find_classes(jni, classes);
    exception_restore(jni, of_program);
    proof.thread = pthread_self();
    proof.seen = 0;
    proof.fault[0] = '\0';
    atomic_store(&proof.runs, true);
    switch_engine(true, true);
    retransform(classes, count, refused);
    if (proof.seen < count || count == 0)
        engine_proof_fail(class_names[0], "", "the JVM does not show it");
    bool works = proof.fault[0] == '\0';
    switch_engine(false, true);
    if (!works)
        retransform(classes, count, refused_again);
    switch_engine(false, false);
    atomic_store(&proof.runs, false);
    while (count != 0)
        (*jni)->DeleteLocalRef(jni, classes[--count]);
    return works ? NULL : proof.fault;
}
