/* SPDX-License-Identifier: Apache-2.0 */
/* JNI's functions as they were before the agent replaced them (jni_calls.c). */
#ifndef AGENT_BYTECODE_PLAIN_CALLS_H
#define AGENT_BYTECODE_PLAIN_CALLS_H

#include <jvmti.h>

/* NULL: nothing has been replaced yet. */
extern jniNativeInterface *plain_calls;

/* Creates an array that no probe reports. */
jbyteArray plain_bytes(JNIEnv *jni, jsize length);
/* Creates an object that no probe reports, without running a constructor. */
jobject plain_object(JNIEnv *jni, jclass class);

#endif
