/* SPDX-License-Identifier: Apache-2.0 */
/* The agent with faults.  In a JVM that does not announce all its collections: with
 * STEPTRACE_ANNOUNCED=N in the environment it hears of the first N of them only.  The objects move
 * all the same.  The linker puts these functions before the agent's own (--wrap). */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/exceptions.h"
#include "agent/base/tracer.h"
#include "agent/deaths/recycle.h"
#include "agent/records/hold.h"
#include "agent/stacks/frame_walk.h"

void __real_holds_wait(void);
void __wrap_holds_wait(void);

/* STEPTRACE_SESSIONS=N: each session counts as N. */
void __real_recycle_begin(void);
void __wrap_recycle_begin(void);

void __wrap_recycle_begin(void)
{
    const char *text = getenv("STEPTRACE_SESSIONS");
    if (text != NULL)
        atomic_fetch_add(&tracer.session_count, strtoul(text, NULL, 10) - 1);
    __real_recycle_begin();
}

/* STEPTRACE_MISREAD=N: from the Nth walk on each stack looks like the first one of its thread.
 * STEPTRACE_MISCOMPOSED=N: from the Nth walk of a new stack on its outermost frame is missing. */
bool __real_frame_walk(struct frame_walker *walker, JNIEnv *jni, const struct frame_limit *limit,
                       struct stack_key *key, struct frame_trail *trail);
bool __wrap_frame_walk(struct frame_walker *walker, JNIEnv *jni, const struct frame_limit *limit,
                       struct stack_key *key, struct frame_trail *trail);

static void miss_frame(struct frame_trail *trail)
{
    static _Atomic unsigned long trails;
    const char *text = getenv("STEPTRACE_MISCOMPOSED");
    if (trail != NULL && text != NULL && trail->count > 1 &&
        atomic_fetch_add(&trails, 1) >= strtoul(text, NULL, 10))
        trail->count--;
}

bool __wrap_frame_walk(struct frame_walker *walker, JNIEnv *jni, const struct frame_limit *limit,
                       struct stack_key *key, struct frame_trail *trail)
{
    static _Atomic unsigned long walks;
    static _Thread_local struct stack_key first;
    const char *text = getenv("STEPTRACE_MISREAD");
    if (!__real_frame_walk(walker, jni, limit, key, trail))
        return false;
    if (first.low == 0)
        first = *key;
    if (text != NULL && atomic_fetch_add(&walks, 1) >= strtoul(text, NULL, 10))
        *key = first;
    miss_frame(trail);
    return true;
}

/* STEPTRACE_STOPS=N: a thread that calls itself "stop NUMBER" is stopped by an exception in each
 * group of the agent's calls, N times, and once for each NUMBER. */
#define GROUPS 64

jthrowable __real_exception_set_aside(JNIEnv *jni);
jthrowable __wrap_exception_set_aside(JNIEnv *jni);

static struct {
    const void *place;
    unsigned long stops;
} groups[GROUPS];
static unsigned long stop_count;
static _Thread_local bool stopping;

static jvmtiEnv *signalling(JNIEnv *jni)
{
    static jvmtiEnv *jvmti;
    const jvmtiCapabilities wanted = {.can_signal_thread = 1};
    JavaVM *vm = NULL;
    if (jvmti == NULL && (*jni)->GetJavaVM(jni, &vm) == JNI_OK &&
        (*vm)->GetEnv(vm, (void **) &jvmti, JVMTI_VERSION_11) == JNI_OK)
        (*jvmti)->AddCapabilities(jvmti, &wanted);
    return jvmti;
}

/* Returns true if this group is to have one more stop. */
static bool group_counts(const void *place, unsigned long most)
{
    size_t i = 0;
    while (i < GROUPS - 1 && groups[i].place != NULL && groups[i].place != place)
        i++;
    groups[i].place = place;
    return groups[i].stops < most && ++groups[i].stops != 0;
}

static bool is_asked_for(unsigned long *number)
{
    char name[16] = "";
    if (pthread_getname_np(pthread_self(), name, sizeof name) != 0 ||
        strncmp(name, "stop ", 5) != 0)
        return false;
    *number = strtoul(name + 5, NULL, 10);
    return true;
}

static void tell_stops(void)
{
    size_t count = 0;
    while (count < GROUPS && groups[count].place != NULL)
        count++;
    fprintf(stderr, "stops %lu groups %zu\n", stop_count, count);
}

static void stop_self(JNIEnv *jni)
{
    jthread self = NULL;
    jvmtiEnv *jvmti = signalling(jni);
    jclass class = (*jni)->FindClass(jni, "java/lang/IllegalThreadStateException");
    jobject exception = (*jni)->AllocObject(jni, class);
    if (stop_count++ == 0)
        atexit(tell_stops);
    (*jvmti)->GetCurrentThread(jvmti, &self);
    if ((*jvmti)->StopThread(jvmti, self, exception) != JVMTI_ERROR_NONE)
        abort();
    (*jni)->DeleteLocalRef(jni, self);
    (*jni)->DeleteLocalRef(jni, exception);
    (*jni)->DeleteLocalRef(jni, class);
}

jthrowable __wrap_exception_set_aside(JNIEnv *jni)
{
    static _Thread_local unsigned long next;
    const char *text = getenv("STEPTRACE_STOPS");
    unsigned long number;
    jthrowable of_program = __real_exception_set_aside(jni);
    if (text == NULL || stopping || of_program != NULL || !is_asked_for(&number) ||
        number != next || !group_counts(__builtin_return_address(0), strtoul(text, NULL, 10)))
        return of_program;
    stopping = true;
    next++;
    stop_self(jni);
    stopping = false;
    return NULL;
}

/* As long as it is asked for at all, collections are counted right after it. */
void __wrap_holds_wait(void)
{
    static _Atomic unsigned long heard;
    const char *text = getenv("STEPTRACE_ANNOUNCED");
    if (text == NULL || atomic_fetch_add(&heard, 1) < strtoul(text, NULL, 10))
        __real_holds_wait();
    else
        atomic_fetch_sub(&tracer.collections_begun, 1);
}
