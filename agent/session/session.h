/* SPDX-License-Identifier: Apache-2.0 */
/* A session, one trace from its start to its end. */
#ifndef AGENT_SESSION_SESSION_H
#define AGENT_SESSION_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/base/tracer.h"

/* Creates the trace's files. Returns NULL, with a message, on failure. The caller of this and of
 * session_begin() holds the control lock, except at load, when there is one thread. */
struct session *session_prepare(const struct options *options);
/* Starts recording, in the live phase. Takes ownership of the session, also on failure. */
bool session_begin(struct session *session, JNIEnv *jni);
/* Removes the files of a session that was not begun. */
void session_discard(struct session *session);
/* Ends the trace, if there is one, and waits until the file is closed: for `limit_ns` at most, and
 * at VM death for as long as finish= says. Returns false if it is not closed. */
bool session_stop(enum session_end end, uint64_t limit_ns);
bool session_flush(void);
void session_log_status(void);
/* Writes the name of the file with its number before the extension. */
void session_numbered_name(const struct options *options, char *out, size_t size);
const char *session_end_name(enum session_end end);

/* The drain thread, which alone has the files' descriptors. */

/* Main function of the thread; `session` is a struct session. */
void *session_drain_run(void *session);
/* Returns true if a trace that is to end has waited for the writer process for long enough. */
bool session_drain_gives_up(void *session, uint64_t waited_ns);

#endif
