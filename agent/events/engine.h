/* SPDX-License-Identifier: Apache-2.0 */
/* The interface of an engine, the source of allocation and method events; prepares it, and enables
 * and disables it with a session. With every engine, classes, threads and the deaths of tagged
 * objects come from JVMTI (engine.c). */
#ifndef AGENT_EVENTS_ENGINE_H
#define AGENT_EVENTS_ENGINE_H

#include "agent/base/tracer.h"

struct java_thread;
struct os_thread;

struct engine {
    /* Adds the capabilities that `event` needs beyond those of engine.c. */
    void (*want_capabilities)(uint32_t event, jvmtiCapabilities *wanted);
    /* Before a session, on a Java thread: returns NULL if the engine works in this JVM, otherwise
     * the reason why not. May be NULL if it always works. */
    const char *(*prove)(JNIEnv *jni, struct session *session);
    /* Before each session, after capabilities were added. May be NULL. */
    void (*prepare)(void);
    /* Adds the callbacks of its own events. */
    void (*set_callbacks)(jvmtiEventCallbacks *callbacks);
    jvmtiEventVMObjectAlloc vm_object_alloc;
    /* Adds probes to the methods of start= only, or removes them. NULL if unsupported. */
    bool (*arm)(JNIEnv *jni, struct session *session, bool on);
    /* Of a gentle session, before it is published: gives the loaded classes their probes, which do
     * nothing until then. Sets *classes and *slices. Returns false if the JVM ends meanwhile. NULL
     * if the engine changes no classes. */
    bool (*instrument)(JNIEnv *jni, struct session *session, uint32_t *classes, uint32_t *slices);
    /* Enables or disables the session's events except method events. Java threads only. */
    void (*enable)(struct session *session, bool on);
    /* After the session has ended, or was not begun: restores the classes. NULL like
     * instrument. */
    void (*restore)(JNIEnv *jni, struct session *session);
    /* On: called after the start snapshot. Off: called first of all. NULL if the engine has no
     * method events. */
    void (*enable_methods)(struct session *session, bool on);
    /* Called before all else of the session's events ends: announcements of collections still
     * come. May be NULL. */
    void (*end_totals)(struct session *session);
    /* Called in the pause, before anything moves. May be NULL. */
    void (*collection_begins)(void);
    /* Called in the pause when a collection ends. May be NULL. */
    void (*collection_ended)(void);
    /* Called when a virtual thread begins to run; the JDK's code for them is initialized then. May
     * be NULL. */
    void (*virtual_starts)(JNIEnv *jni);
    /* Called when a virtual thread leaves its carrier or a thread ends, between probe_enter() and
     * probe_leave(). May be NULL. */
    void (*thread_leaves)(struct session *session, struct os_thread *os, JNIEnv *jni,
                          struct java_thread *java);
    /* Called in a platform thread that ends. May be NULL. */
    void (*platform_thread_ends)(JNIEnv *jni, jthread thread);
    /* engine=sampled: takes a sample, and learns that a platform thread starts; both between
     * probe_enter() and probe_leave(). NULL: allocations are recorded as they come. */
    void (*take_sample)(struct session *session, struct os_thread *os, JNIEnv *jni, jthread thread,
                        jobject object, jclass class, jlong size_bytes);
    void (*thread_starts)(const struct session *session, struct os_thread *os);
    /* Between event_frees_enter() and event_frees_leave(): returns true if this object's death is
     * awaited. NULL: all are. */
    bool (*awaits)(const struct session *session, uint64_t object);
    /* Takes fewer samples from now on, 1 in `factor` of them, or `factor` times as many again
     * (`more`). Any thread. Returns false if it takes the fewest already, or as many as the options
     * say. NULL: all objects are recorded. */
    bool (*sample_less)(uint64_t factor, bool more);
    /* Called when no probe finds the session any more, before it is closed: see last_words.h. May
     * be NULL. */
    void (*last_words)(struct session *session, JNIEnv *jni);
    /* Ends all writes into the JVM for good: see internals_switch_off_writes(). Any thread. NULL if
     * the engine writes nothing. */
    void (*end_writes)(void);
    /* Disable the engine before collection events, which its last search for dead objects needs. */
    bool ends_first;
    /* Without events of allocations there is no trace: what to say then. NULL: the other events
     * make one. */
    const char *needs_allocs;
};

/* Enables or disables a JVMTI event for all threads. */
static inline void engine_notify(bool on, int event)
{
    (*tracer.jvmti)
        ->SetEventNotificationMode(tracer.jvmti, on ? JVMTI_ENABLE : JVMTI_DISABLE,
                                   (jvmtiEvent) event, NULL);
}

extern const struct engine engine_jvmti, engine_sampled, engine_walk;
/* Call if this engine was prepared after the calling Java thread was created, and before a session
 * is published. Allocates until the thread's first sample; after that each object is sampled. */
void engine_jvmti_advance(JNIEnv *jni);

/* Before a session: requests the capabilities that `events` need (unsupported events are logged and
 * omitted) and sets the callbacks, including `of_others`. Returns false, with a message, if no
 * event is left. */
bool engine_prepare(const struct engine *engine, uint32_t events,
                    const jvmtiEventCallbacks *of_others);
/* At load: sets the function that gives the methods of phase= their probes with engine=jvmti, and
 * removes them. engine=bytecode does so anyway. */
void engine_phases_by(void (*hook)(struct session *session, bool on));
/* At load: requests what this engine needs for `event`, in case it is used later. */
bool engine_reserve(const struct engine *engine, uint32_t event);
/* Before the session begins: adds probes to the methods of start= only, and removes them. */
bool engine_arm(struct session *session, JNIEnv *jni);
void engine_disarm(struct session *session);
/* Disables the JVM's events after a trace ended by itself (limit, full disk). Called by Java
 * threads, as the drain thread cannot. Does nothing while a trace is being started or stopped. */
void engine_switch_off(void);
/* Before a session in a running JVM begins: decides whether it is gentle, and then gives the loaded
 * classes their probes. Writes a description to `out` (ENGINE_GENTLE_TEXT), empty if it is not.
 * Returns false if the JVM ends meanwhile. */
#define ENGINE_GENTLE_TEXT 96
bool engine_instrument(struct session *session, JNIEnv *jni, char *out);
/* After the session: restores the classes that were changed. Java threads only. */
void engine_restore(struct session *session);
/* Enables or disables the events that the session's options need. Java threads only. */
void engine_enable(struct session *session, bool on);

#endif
