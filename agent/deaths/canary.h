/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An object of the agent's own that shows whether its techniques still work: a strong reference and
 * a recycled weak one name it, and where it lies is noted with the count of collections.
 *
 * The techniques that use addresses (agent/records/hold.h, agent/deaths/recycle.h) are right only
 * while every collection that moves objects is announced.  No proof at load can show that.  So the
 * object is looked at after each collection, and made anew, since young objects are those that
 * move.
 */
#ifndef AGENT_DEATHS_CANARY_H
#define AGENT_DEATHS_CANARY_H

#include "agent/base/tracer.h"

struct os_thread;

/* Once in a process, on a Java thread, before JNI's functions are replaced by the agent's. */
void canary_prepare(JNIEnv *jni);
/* After a collection, under the reaper's lock and in a probe.  At the first difference between what
 * the agent expects and what the JVM has, switches off for the process what writes into the JVM and
 * all holds, and logs why. */
void canary_look(struct session *session, struct os_thread *os, JNIEnv *jni);
/* Before a session, and when one has ended: gives the references back. */
void canary_reset(JNIEnv *jni);

#endif
