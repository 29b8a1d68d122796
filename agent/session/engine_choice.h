/* SPDX-License-Identifier: Apache-2.0 */
/* Which engine a session has in the end. */
#ifndef AGENT_SESSION_ENGINE_CHOICE_H
#define AGENT_SESSION_ENGINE_CHOICE_H

#include "agent/base/tracer.h"

/* The engine that the options ask for. */
const struct engine *engine_of_options(const struct options *options);
/* At load: where the JDK is newer than all that were tested, the other engine may have to take the
 * place of engine=bytecode, and wants to be prepared before the first thread. */
void engine_choice_prepare(const struct options *options);
/* What of a session follows from its engine. */
void engine_choice_apply(struct session *session);
/* In the live phase, before the session begins: its engine works in this JVM, or engine=jvmti takes
 * its place, or the trace is marked as incomplete.  False: it cannot be begun; which is logged. */
bool engine_choice_settle(struct session *session, JNIEnv *jni);

#endif
