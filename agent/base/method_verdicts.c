/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the class that declares a method. */
#include "agent/base/method_verdicts.h"

bool method_owner_passes(JNIEnv *jni, jmethodID method, bool (*test)(const char *signature))
{
    jvmtiEnv *jvmti = tracer.jvmti;
    jclass owner = NULL;
    char *signature = NULL;
    bool passes = (*jvmti)->GetMethodDeclaringClass(jvmti, method, &owner) == JVMTI_ERROR_NONE &&
                  (*jvmti)->GetClassSignature(jvmti, owner, &signature, NULL) == JVMTI_ERROR_NONE &&
                  test(signature);
    (*jvmti)->Deallocate(jvmti, (unsigned char *) signature);
    (*jni)->DeleteLocalRef(jni, owner);
    return passes;
}
