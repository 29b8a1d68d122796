/* SPDX-License-Identifier: Apache-2.0 */
/* Tracks when collections begin and end. JVMTI announces them, with two exceptions. Before JDK 25,
 * Serial and Parallel do not announce those for class histograms and heap dumps. Since JDK 26, none
 * is announced after the JVM's end has begun (JDK-8355631), while threads still run. These are
 * found with the JVM's own counters; without counters (-XX:-UsePerfData), a collection may have
 * ended at any time. */
#ifndef AGENT_EVENTS_COLLECTIONS_H
#define AGENT_EVENTS_COLLECTIONS_H

#include "agent/base/tracer.h"

/* Returns true if all collections are announced, or are counted by the JVM: then sets
 * silent_counters. */
bool collections_are_counted(void);
/* Call when a session's events begin. */
void collections_watch(void);
/* Call before announcements are switched off. */
void collections_watch_ends(void);
/* JVMTI's events, in a pause: they only update stamps and counts. Announcements may be nested: the
 * program stands still from the first beginning to the last end, which is one collection.
 * collection_ends() returns true for the last end. */
void collection_begins(void);
bool collection_ends(void);
/* Call when a thread ends: detects the JVM's end before its events cease. */
void collections_thread_ends(jthread thread);
/* Call when the JVM ends: no more collections are announced. */
void collections_are_silent(JNIEnv *jni);
/* Call after an object was found dead. If an unannounced collection has found it, by the JVM's
 * counters, that collection is recorded as ending now; without counters one may have, which is
 * taken for true if `may_guess`. */
void collections_notice(bool may_guess);
/* Returns true if the last collection has its date: collections are announced, or noticed now. */
bool collections_are_dated(void);

#endif
