/* SPDX-License-Identifier: Apache-2.0 */
/* Sets pending exceptions aside while the agent calls JNI. */
#include "agent/base/exceptions.h"

#include <stddef.h>

jthrowable exception_set_aside(JNIEnv *jni)
{
    if (!(*jni)->ExceptionCheck(jni))
        return NULL;
    jthrowable of_program = (*jni)->ExceptionOccurred(jni);
    (*jni)->ExceptionClear(jni);
    return of_program;
}

void exception_restore(JNIEnv *jni, jthrowable of_program)
{
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
    if (of_program == NULL)
        return;
    (*jni)->Throw(jni, of_program);
    (*jni)->DeleteLocalRef(jni, of_program);
}
