/* SPDX-License-Identifier: Apache-2.0 */
/* A JVM that has nothing: its functions fail or return NULL, but for those that start threads,
 * and set and get what the agent asks for. */
#ifndef TESTS_UNIT_AGENT_SESSION_FAKE_JAVA_H
#define TESTS_UNIT_AGENT_SESSION_FAKE_JAVA_H

#include <jvmti.h>
#include <stdbool.h>

/* Sets `tracer` up for it.  The calling thread is a Java thread, others are none. */
void fake_java_begin(void);
/* The JNI of the calling thread. */
JNIEnv *fake_java_jni(void);
/* How many threads it has run, and waits until they have ended. */
unsigned fake_java_threads(void);
/* The system property java.version; others are unknown. */
#define FAKE_JAVA_VERSION "21.0.fake"

#endif
