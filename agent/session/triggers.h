/* SPDX-License-Identifier: Apache-2.0 */
/* start=METHOD and stop=METHOD: methods whose entry begins the trace and whose return ends it.
 *
 * Until a start= method is entered, the session is prepared but not begun, and only such methods
 * have probes. The first entry of a stop= method during the trace chooses the thread and the call
 * whose return ends the trace. */
#ifndef AGENT_SESSION_TRIGGERS_H
#define AGENT_SESSION_TRIGGERS_H

#include "agent/base/tracer.h"

/* Call once, at load. */
void triggers_initialize(void);
/* Lets the session wait for its start and takes ownership of it. Returns false if that fails; then
 * the session is discarded. The caller holds the control lock, except at load. */
bool trigger_arm(struct session *session, JNIEnv *jni);
/* Discards the session that waits, and its files. Returns true if there was one. */
bool trigger_disarm(void);
bool trigger_is_armed(void);

#endif
