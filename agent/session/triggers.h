/* SPDX-License-Identifier: Apache-2.0 */
/* start=METHOD and stop=METHOD: methods whose entry begins the trace and whose return ends it.
 *
 * Until a start= method is entered, the session is prepared but not begun, and only such methods
 * have probes. The first entry of a stop= method during the trace chooses the thread and the call
 * whose return ends the trace. */
#ifndef AGENT_SESSION_TRIGGERS_H
#define AGENT_SESSION_TRIGGERS_H

#include "agent/base/tracer.h"

/* Call once, at load. The first thread that enters a method of start= of an exact window calls the
 * function, which returns false if a later one is to call it again. */
void triggers_initialize(bool (*window)(void));
/* Lets the session wait for its start and takes ownership of it. Returns false if that fails; then
 * the session is discarded. The caller holds the control lock, except at load. */
bool trigger_arm(struct session *session, JNIEnv *jni);
/* Lets an exact window wait for its start, while a sample is recorded. Returns false if that fails.
 */
bool trigger_arm_window(const struct options *options, JNIEnv *jni);
/* Discards the session or the window that waits, and its files; says so if no method was entered.
 * Returns true if there was one. */
bool trigger_disarm(void);
/* Returns what waits for a method of start=, or NULL. */
const char *trigger_who_waits(void);
/* Returns true if such a method was entered since the window began to wait. */
bool trigger_was_entered(void);

#endif
