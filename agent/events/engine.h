/* SPDX-License-Identifier: Apache-2.0 */
/* What an engine is: where allocation and method events come from.  Classes, threads and the
 * deaths of tagged objects come from JVMTI with either (engine.c). */
#ifndef AGENT_EVENTS_ENGINE_H
#define AGENT_EVENTS_ENGINE_H

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

extern const struct engine engine_jvmti;
/* Where this engine was not prepared before the calling Java thread was made, and no session is
 * published: the thread allocates until its first sample comes.  Then each object is one. */
void engine_jvmti_advance(JNIEnv *jni);

/* Before a session: asks the JVM for what these events need (what it cannot give is named and left
 * out) and sets the callbacks, with those of the VM's start and end and of all engines.  False, and
 * said why, if no event is left. */
bool engine_prepare(const struct engine *engine, uint32_t events,
                    const jvmtiEventCallbacks *of_others);
/* At load: asks the JVM for what the event needs where this engine gives it, perhaps later. */
void engine_reserve(const struct engine *engine, uint32_t event);
/* Before the session begins: gives probes to the methods of start= only; and takes them back. */
bool engine_arm(struct session *session, JNIEnv *jni);
void engine_disarm(struct session *session);
/* After a trace ended by itself (its limit, a full disk), by a Java thread, since the drain thread
 * cannot: switches the JVM's events off, unless a trace is being started or stopped just now. */
void engine_switch_off(void);
/* Switches the notifications that the session's options need; on a Java thread only. */
void engine_enable(struct session *session, bool on);
/* The same for method events, which must wait for the start snapshot. */
void engine_enable_methods(struct session *session);

/* Switches one kind of JVMTI event for all threads. */
void engine_notify(bool on, int event);

#endif
