/* SPDX-License-Identifier: Apache-2.0 */
/* Selects loaded classes, and retransforms them in one call or in slices. */
#include "agent/bytecode/class_hook.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "agent/base/exceptions.h"
#include "agent/base/jvm_classes.h"
#include "agent/base/own_share.h"
#include "agent/base/patience.h"
#include "agent/hotspot/vm_structs.h"
#include "agent/stacks/method_changes.h"

/* The program stands still for a part of each call: to change a class takes some 10 us of it, and
 * each call goes through all classes of the JVM, 3 to 6 us each (JDK 17, 25). So more slices than
 * these hardly shorten the longest stop, and lengthen the sum. */
#define SLICES 16
#define SLICE_LEAST 64
#define PAUSE_LEAST_NS UINT64_C(1000000)
#define PAUSE_MOST_NS UINT64_C(100000000)
#define PAUSES_NS (20 * SECOND_NS)

static bool passes(JNIEnv *jni, jclass class, class_test *test)
{
    char *signature = class_signature(class);
    jobject loader = NULL;
    size_t length = signature != NULL ? strlen(signature) : 0;
    bool passed = false;
    if (length > 2 && signature[0] == 'L' &&
        (*tracer.jvmti)->GetClassLoader(tracer.jvmti, class, &loader) == JVMTI_ERROR_NONE) {
        signature[length - 1] = '\0';
        passed = test(jni, loader, signature + 1);
        (*jni)->DeleteLocalRef(jni, loader);
    }
    jvm_free(signature);
    return passed;
}

/* Moves the classes that can be retransformed and pass the test to the front. */
static jint retransform_choose(JNIEnv *jni, jclass *classes, jint count, class_test *test,
                               class_refused *refused)
{
    jint chosen = 0;
    for (jint i = 0; i < count; i++) {
        jboolean modifiable = JNI_FALSE;
        (*tracer.jvmti)->IsModifiableClass(tracer.jvmti, classes[i], &modifiable);
        bool wanted = passes(jni, classes[i], test);
        if (wanted && !modifiable)
            refused(classes[i], JVMTI_ERROR_UNMODIFIABLE_CLASS);
        if (wanted && modifiable)
            classes[chosen++] = classes[i];
        else
            (*jni)->DeleteLocalRef(jni, classes[i]);
    }
    return chosen;
}

/* Returns for how long the JVM's program has stood still so far, by its own counter of nanoseconds;
 * 0: unknown. */
static uint64_t stood_still_ns(void)
{
    const volatile int64_t *stops = vm_counter("sun.rt.safepointTime");
    const volatile int64_t *frequency = vm_counter("sun.os.hrt.frequency");
    return stops != NULL && frequency != NULL && *frequency == (int64_t) SECOND_NS
               ? (uint64_t) *stops
               : 0;
}

/* Most of the call's time is that of the classes' new code, while the program runs: the JVM's
 * counter has the stops alone, with those of collections meanwhile. */
static jvmtiError retransform_timed(const jclass *classes, jint count)
{
    struct own_call call = own_share_calls();
    uint64_t before_ns = stood_still_ns();
    jvmtiError code = (*tracer.jvmti)->RetransformClasses(tracer.jvmti, count, classes);
    uint64_t stopped_ns = stood_still_ns() - before_ns;
    if (stopped_ns != 0)
        own_share_called_for(OWN_STOP_CLASSES, &call, stopped_ns);
    else
        own_share_called(OWN_STOP_CLASSES, &call);
    return code;
}

/* One class that the JVM refuses makes the whole call fail: then each half is retransformed alone.
 * With one refused class among n that are about 2 log2(n) calls. Methods get new code in the call,
 * so stacks that are read during it may be of either version; method_changes.h lets the readers
 * notice. */
void retransform(const jclass *classes, jint count, class_refused *refused)
{
    if (count == 0)
        return;
    method_changes_begin();
    jvmtiError code = retransform_timed(classes, count);
    method_changes_end();
    if (code != JVMTI_ERROR_NONE && count == 1)
        refused(classes[0], code);
    if (code == JVMTI_ERROR_NONE || count == 1)
        return;
    retransform(classes, count / 2, refused);
    retransform(classes + count / 2, count - count / 2, refused);
}

/* Lets the program run as long as the last slice took. */
static void pause_after(uint64_t took_ns)
{
    uint64_t pause_ns = took_ns < PAUSE_LEAST_NS ? PAUSE_LEAST_NS : took_ns;
    if (pause_ns > PAUSE_MOST_NS)
        pause_ns = PAUSE_MOST_NS;
    nanosleep(&(struct timespec){0, (long) pause_ns}, NULL);
}

/* Returns the number of slices. */
static uint32_t retransform_slices(const jclass *classes, jint count, class_refused *refused)
{
    uint32_t slices = 0;
    const jint size = count / SLICES > SLICE_LEAST ? count / SLICES : SLICE_LEAST;
    const uint64_t from = clock_monotonic_ns();
    for (jint done = 0; done < count && !tracer.dying; slices++) {
        jint slice = count - done < size ? count - done : size;
        uint64_t begun = clock_monotonic_ns();
        retransform(classes + done, slice, refused);
        uint64_t took_ns = clock_monotonic_ns() - begun;
        done += slice;
        if (done < count && clock_monotonic_ns() - from < PAUSES_NS)
            pause_after(took_ns);
    }
    return slices;
}

struct retransformed retransform_loaded(JNIEnv *jni, class_test *test, class_refused *refused,
                                        bool gentle)
{
    jint count = 0;
    jclass *classes = NULL;
    struct retransformed result = {.slices = 1};
    if (!classes_loaded(jni, &classes, &count))
        return result;
    count = retransform_choose(jni, classes, count, test, refused);
    result.classes = (uint32_t) count;
    if (gentle)
        result.slices = retransform_slices(classes, count, refused);
    else
        retransform(classes, count, refused);
    for (jint i = 0; i < count; i++)
        (*jni)->DeleteLocalRef(jni, classes[i]);
    jvm_free(classes);
    return result;
}

/* ---- can this JDK's own classes have probes? ---- */

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
        snprintf(proof.fault, sizeof proof.fault, "%s%s%s cannot be instrumented: %s", class_name,
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
        if ((classes[count] = class_find(jni, class_names[i])) != NULL)
            count++;
    return count;
}

/* Rewrites a few classes that every program needs, and lets the JVM verify them. They stay
 * rewritten if all is well, since the session changes them in a moment anyway. `seen` counts the
 * calls of the hook: a JVM that shows no class file would pass otherwise, as nothing fails. The
 * hook is switched off only after the classes were restored, because restoring goes through it. */
const char *engine_proof(JNIEnv *jni, void (*switch_engine)(bool rewrite, bool hook))
{
    jclass classes[CLASSES];
    jint count = find_classes(jni, classes);
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
