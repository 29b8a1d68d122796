/* SPDX-License-Identifier: Apache-2.0 */
/* The engines' preparation, and switching them on and off with a session. */
#ifndef AGENT_EVENTS_ENGINE_H
#define AGENT_EVENTS_ENGINE_H

#include "agent/events/engine_type.h"

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

#endif
