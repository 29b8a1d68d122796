/* SPDX-License-Identifier: Apache-2.0 */
/* A session from its start to its end: one trace. */
#ifndef AGENT_SESSION_SESSION_H
#define AGENT_SESSION_SESSION_H

#include "agent/base/tracer.h"

/* Creates the trace's files; logs and returns NULL on failure.  The control lock is held by the
 * caller of this and of session_begin(), but at load, when there is one thread. */
struct session *session_prepare(const struct options *options);
/* Starts recording, in the live phase; takes the session over, also when it fails. */
bool session_begin(struct session *session, JNIEnv *jni);
/* Removes the files of a session that was not begun. */
void session_discard(struct session *session);
/* Ends the trace, if there is one, and waits until the file is closed: for so long at most, and at
 * VM death for as long as finish= says.  False if it is not. */
bool session_stop(enum session_end end, uint64_t limit_ns);
bool session_flush(void);
void session_log_status(void);
const char *session_end_name(enum session_end end);

#endif
