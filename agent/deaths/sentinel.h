/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An object of the agent's own that dies early, and a weak reference to it: what the JVM does with
 * that shows what it does with all.
 */
#ifndef AGENT_DEATHS_SENTINEL_H
#define AGENT_DEATHS_SENTINEL_H

#include "agent/base/tracer.h"

struct os_thread;

/* Once in a process, on a Java thread. */
void sentinel_make(JNIEnv *jni);
/* Before each pass, under the reaper's lock and in a probe.  True: the slot behind a reference is
 * zero when, and only when, it is cleared.  Else the JVM is to be asked about each. */
bool sentinel_watch(const struct session *session, struct os_thread *os, JNIEnv *jni);

#endif
