/* SPDX-License-Identifier: Apache-2.0 */
/* The account of a session's memory: peaks by part, and the ceiling memory=. */
#ifndef AGENT_SESSION_MEMORY_ACCOUNT_H
#define AGENT_SESSION_MEMORY_ACCOUNT_H

#include "agent/base/tracer.h"

struct drain;

/* Before the files are opened: makes the ring and the writer's share of memory= smaller. */
void memory_account_limit(struct options *options, struct step_writer_options *writing);
/* The drain thread, in each of its passes: measures all parts. If they are above the ceiling, calls
 * `give_back`, and returns false if they still are. Logs that. */
bool memory_account_keep(struct session *session, void (*give_back)(struct drain *drain),
                         struct drain *drain);
/* Writes the peaks as properties. */
void memory_account_put(const struct session *session, struct drain *drain);

#endif
