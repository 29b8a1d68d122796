/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that ends a trace with duration=, whatever has become of the program that attached. */
#include "agent/session/session.h"

#include <stdlib.h>
#include <time.h>

#include "agent/base/jvm_classes.h"
#include "agent/base/patience.h"
#include "agent/records/agent_thread.h"
#include "agent/records/threads.h"
#include "capture/log.h"

struct timer {
    uint64_t number;
    jobject thread; /* global reference */
};

/* The one timer that counts has this number; `due_ns` is 0 until its trace has begun.
 *
 * A timer cannot be cancelled by ending its thread, which the JVM knows and which may be inside the
 * agent. So each has a number, and setting the next number makes the older ones void:
 * duration_await() returns false in them. The thread is started before the trace begins: if that
 * fails, there is no trace that nothing would end. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t number, due_ns;
    void (*end)(void); /* set at load */
} current = {.lock = PTHREAD_MUTEX_INITIALIZER};

void duration_initialize(void (*end)(void))
{
    condition_initialize(&current.changed);
    current.end = end;
}

/* Returns false if the trace has ended before. The condition uses the monotonic clock, so setting
 * the system's clock neither ends a trace early nor keeps it. */
static bool duration_await(uint64_t number)
{
    pthread_mutex_lock(&current.lock);
    while (current.number == number &&
           (current.due_ns == 0 || clock_monotonic_ns() < current.due_ns)) {
        struct timespec until = {.tv_sec = (time_t) (current.due_ns / SECOND_NS),
                                 .tv_nsec = (long) (current.due_ns % SECOND_NS)};
        if (current.due_ns == 0)
            pthread_cond_wait(&current.changed, &current.lock);
        else
            pthread_cond_timedwait(&current.changed, &current.lock, &until);
    }
    bool is_due = current.number == number;
    pthread_mutex_unlock(&current.lock);
    return is_due;
}

static void JNICALL duration_run(jvmtiEnv *jvmti, JNIEnv *jni, void *data)
{
    struct timer *timer = data;
    (void) jvmti;
    if (duration_await(timer->number))
        current.end();
    if (thread_leave_in(timer->thread))
        (*jni)->DeleteGlobalRef(jni, timer->thread);
    free(timer);
}

static uint64_t set(uint64_t due_ns, bool is_new)
{
    pthread_mutex_lock(&current.lock);
    uint64_t number = current.number += is_new;
    current.due_ns = due_ns;
    pthread_cond_broadcast(&current.changed);
    pthread_mutex_unlock(&current.lock);
    return number;
}

bool duration_prepare(uint64_t duration_ns)
{
    if (duration_ns == 0)
        return true;
    JNIEnv *jni = jvm_jni();
    struct timer *timer = calloc(1, sizeof *timer);
    if (timer != NULL)
        timer->number = set(0, true);
    if (timer != NULL && jni != NULL &&
        agent_thread_start(jni, "StepTrace duration", duration_run, timer, &timer->thread))
        return true;
    log_message("option duration: the thread that ends the trace could not be started");
    free(timer);
    return false;
}

void duration_forget(void)
{
    set(0, true);
}

void duration_settle(uint64_t duration_ns, bool has_begun)
{
    if (duration_ns != 0 && has_begun)
        set(clock_monotonic_ns() + duration_ns, false);
    else
        duration_forget();
}
