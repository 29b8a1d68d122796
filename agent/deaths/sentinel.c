/* SPDX-License-Identifier: Apache-2.0 */
/* A weak reference that is checked until it is cleared: then it is known what a cleared slot looks
 * like. */
#include "agent/deaths/sentinel.h"

#include "agent/base/exceptions.h"
#include "agent/base/tracer.h"
#include "agent/deaths/recycle.h"
#include "agent/hotspot/slots.h"

static bool slots_report;
static jweak sentinel;

void sentinel_make(JNIEnv *jni)
{
    jthrowable of_program = exception_set_aside(jni);
    jbyteArray object = (*jni)->NewByteArray(jni, 0);
    sentinel = object != NULL ? (*jni)->NewWeakGlobalRef(jni, object) : NULL;
    exception_restore(jni, of_program, sentinel == NULL, THROWN_BY_ALLOCATION);
    (*jni)->DeleteLocalRef(jni, object);
}

/* What a cleared slot looks like cannot be known before one was cleared, and forcing a collection
 * for that would change the program. So the first passes of a process ask the JVM, until a
 * collection of the program has cleared the sentinel. */
bool sentinel_watch(const struct session *session, struct os_thread *os, JNIEnv *jni)
{
    static uint64_t shown;
    if (sentinel == NULL || !atomic_load(&slots_readable) || shown == session->number ||
        !(*jni)->IsSameObject(jni, sentinel, NULL))
        return slots_report;
    shown = session->number;
    slots_report = slot_word(sentinel) == 0;
    if (slots_report)
        recycle_prove(session, os, jni, sentinel);
    return slots_report;
}
