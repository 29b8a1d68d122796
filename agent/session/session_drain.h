/* SPDX-License-Identifier: Apache-2.0 */
/* The drain thread, which alone has the files' descriptors. */
#ifndef AGENT_SESSION_SESSION_DRAIN_H
#define AGENT_SESSION_SESSION_DRAIN_H

/* Of the thread; `session` is a struct session. */
void *session_drain_run(void *session);

#endif
