/* SPDX-License-Identifier: Apache-2.0 */
/* Lets threads that allocate wait for the reaper: it should have found the dead of a collection
 * before the next begins, and must not be far behind. */
#ifndef AGENT_DEATHS_PACE_H
#define AGENT_DEATHS_PACE_H

#include "agent/base/tracer.h"
#include "agent/deaths/weak_table.h"

struct os_thread;

/* Call when the reaper starts, once per process. */
void pace_begin(void);
/* Returns true if collections free only in pauses: then each pause is one. */
bool pace_knows_collections(void);
/* Call in the pause when a collection ends. */
void pace_collection_ended(const struct weak_table *table);
/* Call when a pass is complete, with the pages and the ended collections when it began. */
void pace_passed(uint64_t pages, uint64_t collections);
uint64_t pace_collections_passed(void);
/* Called by a thread that has filled a page of the table. Waits a little while the reaper is behind
 * the program, unless the session never waits. */
void pace_keep(const struct session *session, const struct os_thread *os,
               const struct weak_table *table);

#endif
