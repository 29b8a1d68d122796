/* SPDX-License-Identifier: Apache-2.0 */
/*
 * start=METHOD and stop=METHOD: methods whose entry begins the trace and whose return ends it.
 *
 * Until a method of `start` is entered there is a session that is prepared but not begun, and only
 * such methods have probes.  The first entry of a method of `stop` while there is a trace chooses
 * the thread and the call whose return ends the trace.
 */
#ifndef AGENT_SESSION_TRIGGERS_H
#define AGENT_SESSION_TRIGGERS_H

#include "agent/base/tracer.h"

/* Once, at load. */
void triggers_initialize(void);
/* The session waits for its start; takes it over.  The control lock is held, but at load. */
bool trigger_arm(struct session *session, JNIEnv *jni);
/* The session that waits, if one does, will never begin: its files are removed. */
bool trigger_disarm(void);
bool trigger_is_armed(void);

#endif
