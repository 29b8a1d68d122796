/* SPDX-License-Identifier: Apache-2.0 */
/* The call of a stop= method whose return ends the trace. The first entry during a trace chooses
 * the thread; the return of the outermost of that thread's calls ends the trace. */
#ifndef AGENT_SESSION_STOP_CALL_H
#define AGENT_SESSION_STOP_CALL_H

#include "agent/base/tracer.h"

/* Call when a session begins: its stop= methods have not been entered yet. */
void stop_call_expect(const struct session *session);
/* Call when the calling thread enters such a method. */
void stop_call_enter(void);
/* Call when it leaves one. Returns true if this ends the trace. */
bool stop_call_leave(void);

#endif
