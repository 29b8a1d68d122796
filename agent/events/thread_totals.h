/* SPDX-License-Identifier: Apache-2.0 */
/* totals=threads: what all threads together have allocated, by the JVM's own counters, from one
 * reading to the next. Java threads only. */
#ifndef AGENT_EVENTS_THREAD_TOTALS_H
#define AGENT_EVENTS_THREAD_TOTALS_H

#include "agent/base/tracer.h"

/* Returns whether this JVM's counters can be read. Call without a session. */
bool thread_totals_prove(JNIEnv *jni);
/* Call when the session's events begin: what was allocated before is no part of the trace. Returns
 * false if the counters cannot be read. */
bool thread_totals_begin(struct session *session, JNIEnv *jni);
/* Records what was allocated since the last record, if that is a second old. Between probe_enter()
 * and probe_leave(). */
void thread_totals_look(struct session *session, JNIEnv *jni);
/* Call before the session's events end: the last record. */
void thread_totals_end(struct session *session, JNIEnv *jni);
/* Call in a platform thread that ends. */
void thread_totals_thread_ends(JNIEnv *jni, jthread thread);

#endif
