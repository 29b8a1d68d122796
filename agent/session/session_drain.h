/* SPDX-License-Identifier: Apache-2.0 */
/* The drain thread, which alone has the files' descriptors. */
#ifndef AGENT_SESSION_SESSION_DRAIN_H
#define AGENT_SESSION_SESSION_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

/* Main function of the thread; `session` is a struct session. */
void *session_drain_run(void *session);
/* Returns true if a trace that is to end has waited for the writer process for long enough. */
bool session_drain_gives_up(void *session, uint64_t waited_ns);

#endif
