/* SPDX-License-Identifier: Apache-2.0 */
/* The records of a walk. They are written at once, or at the end of the pause with what the
 * collection has left. Called while the program stands still. */
#ifndef AGENT_EVENTS_EDEN_RECORDS_H
#define AGENT_EVENTS_EDEN_RECORDS_H

#include "agent/base/tracer.h"
#include "agent/records/global_stream.h"

/* Begins a session. */
void eden_records_begin(void);
/* Records the rows of this walk, and its totals, whose known bytes and time it adds. `from_ns`:
 * when it began. */
void eden_records_put(struct session *session, const struct eden_walk_totals *walk,
                      uint64_t from_ns);
/* Keeps them for eden_records_put_kept(). `has_older`: eden has objects that no row has. */
void eden_records_keep(struct session *session, const struct eden_walk_totals *walk, bool has_older,
                       uint64_t from_ns);
/* Returns whether any are kept. */
bool eden_records_wait(void);
/* Returns false if more has survived of a class than there was. */
bool eden_records_allow_survivors(void);
/* Records what was kept. `are_counted`: eden_survived_count() has found the survivors; `are_dated`:
 * those that are new to it were in eden. Returns how long the walk took, with this. */
uint64_t eden_records_put_kept(struct session *session, bool are_counted, bool are_dated,
                               uint64_t from_ns);

#endif
