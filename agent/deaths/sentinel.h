/* SPDX-License-Identifier: Apache-2.0 */
/* Shows whether the slot of a weak reference tells that it is cleared. */
#ifndef AGENT_DEATHS_SENTINEL_H
#define AGENT_DEATHS_SENTINEL_H

#include "agent/base/tracer.h"

struct os_thread;

/* Makes the sentinel. Called once per process, on a Java thread. */
void sentinel_make(JNIEnv *jni);
/* Called before each pass, under the reaper's lock and in a probe. Returns true if the slot of a
 * reference is zero exactly when it is cleared; otherwise the JVM must be asked about each. Once
 * the sentinel is cleared, each session uses it to test whether references can be recycled. */
bool sentinel_watch(const struct session *session, struct os_thread *os, JNIEnv *jni);

#endif
