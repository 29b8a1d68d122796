/* SPDX-License-Identifier: Apache-2.0 */
/* One pass over the weak references: who of them is cleared, is dead. */
#ifndef AGENT_DEATHS_REAPER_PASS_H
#define AGENT_DEATHS_REAPER_PASS_H

#include "agent/base/tracer.h"
#include "agent/deaths/weak_table.h"

#define PASS_IDS 1024u /* deaths that are reported together */

/* Zeroed, with the first four set, it is ready. */
struct reaper_pass {
    struct session *session;
    JNIEnv *jni;
    struct weak_table *table;
    bool slots_report;   /* sentinel_watch() */
    uint64_t collection; /* begun, and ended, when the entries were looked at */
    uint64_t stamp;
    size_t dead;
    uint64_t dead_ids[PASS_IDS];
    jweak dead_references[PASS_IDS];
};

/* Looks at all, reports the dead and gives their references back.  These two under the reaper's
 * lock alone. */
void reaper_pass_over(struct reaper_pass *pass);
/* False: nothing can have died since the last pass began. */
bool reaper_pass_may_find(const struct session *session);

/* References to the dead of two collections, and some four million of them, have piled up since the
 * last pass began.  Any thread. */
bool reaper_pass_is_behind(const struct weak_table *table);

/* Waits a little, where something is to be waited for that does not wake. */
void reaper_pass_pause(void);

#endif
