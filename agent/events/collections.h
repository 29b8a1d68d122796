/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When collections begin and end.  JVMTI says so, but for those that Serial and Parallel make
 * before JDK 25 for class histograms and heap dumps, and since JDK 26 for all from the beginning of
 * the JVM's end on (JDK-8355631), while threads still run: the JVM's own counters show these.
 * Without (-XX:-UsePerfData) one may have ended at any time.
 */
#ifndef AGENT_EVENTS_COLLECTIONS_H
#define AGENT_EVENTS_COLLECTIONS_H

#include "agent/base/tracer.h"

/* A session's events begin. */
void collections_watch(void);
/* JVMTI's events, in a pause: nothing but stamps and counts. */
void collection_begins(void);
void collection_ends(void);
/* The thread ends, which tells of the JVM's end before its events cease. */
void collections_thread_ends(jthread thread);
/* The JVM ends: no collection is announced any more. */
void collections_are_silent(JNIEnv *jni);
/* For who has found an object dead: if a collection was not announced that may have found it, it is
 * taken to have ended now. */
void collections_notice(void);

#endif
