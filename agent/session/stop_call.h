/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call of a method of stop= whose return ends the trace: the first that is entered while there
 * is a trace chooses the thread, and the outermost of that thread's calls is the one.
 */
#ifndef AGENT_SESSION_STOP_CALL_H
#define AGENT_SESSION_STOP_CALL_H

#include "agent/base/tracer.h"

/* A session begins: its stop= methods have not been entered yet. */
void stop_call_expect(const struct session *session);
/* The calling thread enters such a method. */
void stop_call_enter(void);
/* It leaves one; true: this was the call. */
bool stop_call_leave(void);

#endif
