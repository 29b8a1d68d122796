/* SPDX-License-Identifier: Apache-2.0 */
/* JNI's functions as they were before the agent put its own in front of them (jni_calls.c). */
#ifndef AGENT_BYTECODE_PLAIN_CALLS_H
#define AGENT_BYTECODE_PLAIN_CALLS_H

#include <jvmti.h>
#include <stdbool.h>

/* NULL: nothing was put in front of them yet. */
extern jniNativeInterface *plain_calls;
/* Reads them, if that was not done; only before any function of the agent's is in the table. */
bool plain_calls_read(void);
/* Copies the table as it is now to *table, unless there is a copy; false: the JVM gives none. */
bool jni_table_read(jniNativeInterface **table);

/* An array that nobody reports. */
jbyteArray plain_bytes(JNIEnv *jni, jsize length);
/* An object that nobody reports, and whose constructor is not run. */
jobject plain_object(JNIEnv *jni, jclass class);

#endif
