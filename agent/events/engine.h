/* SPDX-License-Identifier: Apache-2.0 */
/* What an engine is: where allocation and method events come from.  Classes, threads and the
 * deaths of tagged objects come from JVMTI with either (engine.c). */
#ifndef ENGINE_H
#define ENGINE_H

#include "agent/base/tracer.h"

struct engine {
    /* Adds what the event needs beyond what engine.c asks for. */
    void (*want_capabilities)(uint32_t event, jvmtiCapabilities *wanted);
    void (*set_callbacks)(jvmtiEventCallbacks *callbacks);
    /* Puts probes into the methods of start= only, and takes them out; NULL: it has no such. */
    bool (*arm)(JNIEnv *jni, const struct session *session, bool on);
    /* Switches what the session's options need, but method events; on a Java thread only. */
    void (*enable)(const struct session *session, bool on);
    /* On: called when the start snapshot is done.  Off: called first of all. */
    void (*enable_methods)(struct session *session, bool on);
};

extern const struct engine engine_jvmti;
extern const struct engine engine_bytecode;

/* Switches one kind of JVMTI event for all threads. */
void engine_notify(bool on, int event);

#endif
