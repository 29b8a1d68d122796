/* SPDX-License-Identifier: Apache-2.0 */
/* A canary: an object of the agent that shows whether techniques that use addresses still work. A
 * strong reference and a recycled weak one refer to it, and its address is stored with the number
 * of collections.
 *
 * These techniques (agent/records/hold.h, agent/deaths/recycle.h) are correct only if every
 * collection that moves objects is announced, which no self-test at load can show. Therefore the
 * object is checked after each collection, and replaced, since young objects are those that
 * move. */
#ifndef AGENT_DEATHS_CANARY_H
#define AGENT_DEATHS_CANARY_H

#include "agent/base/tracer.h"

struct os_thread;

/* Call once per process, on a Java thread, before the agent replaces JNI's functions. */
void canary_prepare(JNIEnv *jni);
/* Call after a collection, under the reaper's lock and in a probe. At the first difference between
 * the expected and the actual state, switches off all holds and all writes into the JVM for the
 * rest of the process, and logs the reason. */
void canary_look(struct session *session, struct os_thread *os, JNIEnv *jni);
/* Frees the references; before a session, and when one has ended. */
void canary_reset(JNIEnv *jni);

#endif
