/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the engine of a session. */
#ifndef AGENT_SESSION_ENGINE_CHOICE_H
#define AGENT_SESSION_ENGINE_CHOICE_H

#include "agent/base/tracer.h"

/* Returns the engine that the options select. */
const struct engine *engine_of_options(const struct options *options);
/* At load: on a JDK newer than all that were tested, engine=jvmti may have to replace
 * engine=bytecode, and must be prepared before the first thread exists. */
void engine_choice_prepare(const struct options *options);
/* Sets the members of a session that depend on its engine. */
void engine_choice_apply(struct session *session);
/* In the live phase, before the session begins: checks that its engine works in this JVM. If not,
 * replaces it with engine=jvmti or marks the trace as incomplete. Returns false, with a message, if
 * the session cannot begin. */
bool engine_choice_settle(struct session *session, JNIEnv *jni);

#endif
