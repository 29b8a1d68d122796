/* SPDX-License-Identifier: Apache-2.0 */
/* The drain thread, which alone has the files' descriptors. */
#ifndef AGENT_SESSION_SESSION_DRAIN_H
#define AGENT_SESSION_SESSION_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

/* Of the thread; `session` is a struct session. */
void *session_drain_run(void *session);
/* Has it waited for the process that writes the files for long enough?  Where the trace is to end.
 */
bool session_drain_gives_up(void *session, uint64_t waited_ns);

#endif
