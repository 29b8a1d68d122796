/* SPDX-License-Identifier: Apache-2.0 */
/* One pass over the weak references.  The caller holds the reaper's lock. */
#ifndef AGENT_DEATHS_REAPER_PASS_H
#define AGENT_DEATHS_REAPER_PASS_H

#include "agent/base/tracer.h"
#include "agent/deaths/weak_table.h"

#define PASS_IDS 1024u /* deaths that are reported together */

/* To initialise, zero the structure and set its first four members. */
struct reaper_pass {
    struct session *session;
    JNIEnv *jni;
    struct weak_table *table;
    bool slots_report;   /* result of sentinel_watch() */
    uint64_t collection; /* collections begun when the entries were checked, */
    uint64_t ended;      /* and ended */
    uint64_t stamp;
    bool clears_in_pauses; /* set by the pass */
    size_t dead;
    uint64_t dead_ids[PASS_IDS];
    jweak dead_references[PASS_IDS];
};

/* Scans every entry, reports dead objects, and recycles their references. The caller holds the
 * reaper's lock. */
void reaper_pass_over(struct reaper_pass *pass);
/* Returns false if nothing can have died since the last pass began: the collector clears references
 * only in announced pauses, and there was none. */
bool reaper_pass_may_find(const struct session *session);
/* Sleeps a little, for waits that nothing wakes. */
void reaper_pass_pause(void);

#endif
