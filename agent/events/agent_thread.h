/* SPDX-License-Identifier: Apache-2.0 */
/* Java threads of the agent's own. */
#ifndef AGENT_EVENTS_AGENT_THREAD_H
#define AGENT_EVENTS_AGENT_THREAD_H

#include "agent/base/tracer.h"

/* Returns a new java.lang.Thread, for RunAgentThread; NULL if there is none. Leaves the program's
 * exception alone. */
jthread agent_thread_new(JNIEnv *jni, const char *name);

#endif
