/* SPDX-License-Identifier: Apache-2.0 */
/* JNI's functions as they were before the agent replaced them. */
#include "agent/bytecode/plain_calls.h"

jniNativeInterface *plain_calls;

jbyteArray plain_bytes(JNIEnv *jni, jsize length)
{
    return (plain_calls != NULL ? plain_calls : *jni)->NewByteArray(jni, length);
}

jobject plain_object(JNIEnv *jni, jclass class)
{
    return (plain_calls != NULL ? plain_calls : *jni)->AllocObject(jni, class);
}
