/* SPDX-License-Identifier: Apache-2.0 */
/* engine=sampled: records the objects that the JVM samples. */
#ifndef AGENT_EVENTS_SAMPLED_OBJECTS_H
#define AGENT_EVENTS_SAMPLED_OBJECTS_H

#include "agent/base/tracer.h"

struct os_thread;

/* Reports a sample, between probe_enter() and probe_leave(). */
void sampled_object(struct session *session, struct os_thread *os, JNIEnv *jni, jthread thread,
                    jobject object, jclass class, jlong size_bytes);
/* Before a session's events are enabled. */
void sampled_objects_begin(const struct session *session);
/* Call when a platform thread starts: the distance to its first sample is drawn now. */
void sampled_thread_starts(const struct session *session, struct os_thread *os);

#endif
