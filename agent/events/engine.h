/* SPDX-License-Identifier: Apache-2.0 */
/* Prepares an engine, and enables and disables it with a session. */
#ifndef AGENT_EVENTS_ENGINE_H
#define AGENT_EVENTS_ENGINE_H

#include "agent/events/engine_type.h"

extern const struct engine engine_jvmti, engine_sampled;
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
void engine_reserve(const struct engine *engine, uint32_t event);
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
/* Enables method events, which must wait for the start snapshot. */
void engine_enable_methods(struct session *session);

#endif
