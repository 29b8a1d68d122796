/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the agent's own Java threads. */
#include "agent/records/agent_thread.h"

#include "agent/base/exceptions.h"
#include "agent/base/tracer.h"
#include "agent/records/threads.h"

/* Returns a new java.lang.Thread, for RunAgentThread; NULL if there is none. */
static jthread make_thread(JNIEnv *jni, const char *name_text)
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
    exception_restore(jni, of_program, thread == NULL, THROWN_BY_JAVA);
    return thread;
}

bool agent_thread_start(JNIEnv *jni, const char *name, jvmtiStartFunction run, void *data,
                        jobject *thread)
{
    jthread made = make_thread(jni, name);
    *thread = made != NULL ? (*jni)->NewGlobalRef(jni, made) : NULL;
    if (*thread != NULL) {
        thread_leave_out(*thread);
        if ((*tracer.jvmti)
                ->RunAgentThread(tracer.jvmti, made, run, data, JVMTI_THREAD_NORM_PRIORITY) !=
            JVMTI_ERROR_NONE) {
            if (thread_leave_in(*thread))
                (*jni)->DeleteGlobalRef(jni, *thread);
            *thread = NULL;
        }
    }
    (*jni)->DeleteLocalRef(jni, made);
    return *thread != NULL;
}
