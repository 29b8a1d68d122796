/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When collections begin and end.  JVMTI says so, but for those that Serial and Parallel make
 * before JDK 25 for class histograms and heap dumps: the JVM's own counters show these.  Without
 * (-XX:-UsePerfData) one may have ended at any time.
 */
#ifndef AGENT_EVENTS_COLLECTIONS_H
#define AGENT_EVENTS_COLLECTIONS_H

#include "agent/base/tracer.h"

/* A session's events begin. */
void collections_watch(void);
/* JVMTI's events, in a pause: nothing but stamps and counts. */
void collection_begins(void);
void collection_ends(void);
/* For who has found an object dead: if a collection was not announced that may have found it, it is
 * taken to have ended now. */
void collections_notice(void);

#endif
