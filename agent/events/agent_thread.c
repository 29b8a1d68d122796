/* SPDX-License-Identifier: Apache-2.0 */
/* Creates Java threads for the agent's own work. */
#include "agent/events/agent_thread.h"

#include "agent/base/exceptions.h"

jthread agent_thread_new(JNIEnv *jni, const char *name_text)
{
    jint count = 0;
    jthreadGroup *groups = NULL;
    jthrowable of_program = exception_set_aside(jni);
    jclass class = (*jni)->FindClass(jni, "java/lang/Thread");
    jmethodID init = class != NULL ? (*jni)->GetMethodID(jni, class, "<init>",
                                                         "(Ljava/lang/ThreadGroup;"
                                                         "Ljava/lang/String;)V")
                                   : NULL;
    jstring name = (*jni)->NewStringUTF(jni, name_text);
    jthread thread = NULL;
    if (init != NULL && name != NULL &&
        (*tracer.jvmti)->GetTopThreadGroups(tracer.jvmti, &count, &groups) == JVMTI_ERROR_NONE) {
        if (count > 0)
            thread = (*jni)->NewObject(jni, class, init, groups[0], name);
        (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *) groups);
    }
    exception_restore(jni, of_program);
    return thread;
}
