/* SPDX-License-Identifier: Apache-2.0 */
/* What an engine is: where allocation and method events come from.  Classes, threads and the
 * deaths of tagged objects come from JVMTI with either (engine.c). */
#ifndef AGENT_EVENTS_ENGINE_TYPE_H
#define AGENT_EVENTS_ENGINE_TYPE_H

#include "agent/base/tracer.h"

struct java_thread;
struct os_thread;

struct engine {
    /* Adds what the event needs beyond what engine.c asks for. */
    void (*want_capabilities)(uint32_t event, jvmtiCapabilities *wanted);
    /* Before a session, on a Java thread: NULL if it works in this JVM, else why it does not.  NULL
     * itself: it always does. */
    const char *(*prove)(JNIEnv *jni, struct session *session);
    /* Before each session, once the JVM has given what can be had; NULL: there is nothing to do. */
    void (*prepare)(void);
    /* Adds the callbacks of its own events. */
    void (*set_callbacks)(jvmtiEventCallbacks *callbacks);
    jvmtiEventVMObjectAlloc vm_object_alloc;
    /* Puts probes into the methods of start= only, and takes them out; NULL: it has no such. */
    bool (*arm)(JNIEnv *jni, struct session *session, bool on);
    /* Switches what the session's options need, but method events; on a Java thread only. */
    void (*enable)(struct session *session, bool on);
    /* On: called when the start snapshot is done.  Off: called first of all. */
    void (*enable_methods)(struct session *session, bool on);
    /* A collection ended; called in the pause.  NULL: it need not know. */
    void (*collection_ended)(void);
    /* A virtual thread begins to run: the JDK's code for them is initialized.  NULL: it need not
     * know. */
    void (*virtual_starts)(JNIEnv *jni);
    /* A virtual thread leaves its native thread, or a thread ends; between probe_enter() and
     * probe_leave().  NULL: it need not know. */
    void (*thread_leaves)(struct session *session, struct os_thread *os, JNIEnv *jni,
                          struct java_thread *java);
    /* No probe finds the session any more, and it is not closed yet: see last_words.h.  NULL: it
     * has nothing to say. */
    void (*last_words)(struct session *session, JNIEnv *jni);
    /* Ends what it writes into the JVM, for good: see internals_switch_off_writes().  Any thread.
     * NULL: it writes nothing. */
    void (*end_writes)(void);
    /* Switched off before collections are no longer reported: its last look for the dead needs to
     * know of them. */
    bool ends_first;
};

/* Switches one kind of JVMTI event for all threads. */
static inline void engine_notify(bool on, int event)
{
    (*tracer.jvmti)
        ->SetEventNotificationMode(tracer.jvmti, on ? JVMTI_ENABLE : JVMTI_DISABLE,
                                   (jvmtiEvent) event, NULL);
}

#endif
