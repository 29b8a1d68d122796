/* SPDX-License-Identifier: Apache-2.0 */
/* Looked at until it is cleared. */
#include "agent/deaths/sentinel.h"

#include "agent/deaths/recycle.h"
#include "agent/hotspot/slots.h"

static bool slots_report;
static jweak sentinel;

void sentinel_make(JNIEnv *jni)
{
    jbyteArray object = (*jni)->NewByteArray(jni, 0);
    if (object == NULL)
        return;
    sentinel = (*jni)->NewWeakGlobalRef(jni, object);
    (*jni)->DeleteLocalRef(jni, object);
}

/* Once it is cleared, each session shows with it whether references can be used again. */
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
