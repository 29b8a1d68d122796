/* SPDX-License-Identifier: Apache-2.0 */
/* JNI's functions as they were before the agent replaced them. */
#include "agent/bytecode/plain_calls.h"

#include "agent/base/tracer.h"

jniNativeInterface *plain_calls;

bool jni_table_read(jniNativeInterface **table)
{
    return *table != NULL ||
           (*tracer.jvmti)->GetJNIFunctionTable(tracer.jvmti, table) == JVMTI_ERROR_NONE;
}

bool plain_calls_read(void)
{
    return jni_table_read(&plain_calls);
}

jbyteArray plain_bytes(JNIEnv *jni, jsize length)
{
    return (plain_calls != NULL ? plain_calls : *jni)->NewByteArray(jni, length);
}

jobject plain_object(JNIEnv *jni, jclass class)
{
    return (plain_calls != NULL ? plain_calls : *jni)->AllocObject(jni, class);
}
