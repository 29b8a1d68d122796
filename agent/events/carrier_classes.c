/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the classes of a virtual thread's first timed wait, which VirtualThread.scheduleUnpark() of
 * JDK 21 passes to a ScheduledThreadPoolExecutor while the thread changes its carrier. Later JDKs
 * do that at another time. */
#include "agent/events/carrier_classes.h"

#include "agent/base/exceptions.h"
#include "agent/base/java_versions.h"

void carrier_classes_load(JNIEnv *jni)
{
    static const char *const names[] = {
        "java/util/concurrent/ScheduledThreadPoolExecutor$ScheduledFutureTask",
        "java/util/concurrent/FutureTask$WaitNode",
        "java/util/concurrent/Executors$RunnableAdapter",
        "java/util/concurrent/ThreadPoolExecutor$Worker"};
    static _Atomic bool loaded;
    if (tracer.java_major >= JAVA_WAITS_OPENLY || atomic_exchange(&loaded, true))
        return;
    jthrowable of_program = exception_set_aside(jni);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        (*jni)->DeleteLocalRef(jni, (*jni)->FindClass(jni, names[i]));
    exception_restore(jni, of_program);
}
