/* SPDX-License-Identifier: Apache-2.0 */
/* JNI's functions as they were before the agent replaced them (jni_calls.c). */
#ifndef AGENT_BYTECODE_PLAIN_CALLS_H
#define AGENT_BYTECODE_PLAIN_CALLS_H

#include <jvmti.h>

/* NULL: nothing has been replaced yet. */
extern jniNativeInterface *plain_calls;

/* Creates an array that no probe reports. */
static inline jbyteArray plain_bytes(JNIEnv *jni, jsize length)
{
    return (plain_calls != NULL ? plain_calls : *jni)->NewByteArray(jni, length);
}

/* Creates an object that no probe reports, without running a constructor. */
static inline jobject plain_object(JNIEnv *jni, jclass class)
{
    return (plain_calls != NULL ? plain_calls : *jni)->AllocObject(jni, class);
}

#endif
