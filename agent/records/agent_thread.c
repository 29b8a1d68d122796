/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the agent's own Java threads. */
#include "agent/records/agent_thread.h"

#include <stdlib.h>

#include "agent/base/exceptions.h"
#include "agent/base/own_share.h"
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

/* What a thread runs; freed by the thread. */
struct work {
    jvmtiStartFunction run;
    void *data;
};

static void JNICALL run_work(jvmtiEnv *jvmti, JNIEnv *jni, void *data)
{
    struct work work = *(struct work *) data;
    free(data);
    own_share_thread_begins();
    work.run(jvmti, jni, work.data);
    own_share_thread_ends();
}

bool agent_thread_start(JNIEnv *jni, const char *name, jvmtiStartFunction run, void *data,
                        jobject *thread)
{
    struct work *work = malloc(sizeof *work);
    jthread made = work != NULL ? make_thread(jni, name) : NULL;
    *thread = made != NULL ? (*jni)->NewGlobalRef(jni, made) : NULL;
    if (*thread != NULL) {
        *work = (struct work){run, data};
        thread_leave_out(*thread);
        if ((*tracer.jvmti)
                ->RunAgentThread(tracer.jvmti, made, run_work, work, JVMTI_THREAD_NORM_PRIORITY) !=
            JVMTI_ERROR_NONE) {
            if (thread_leave_in(*thread))
                (*jni)->DeleteGlobalRef(jni, *thread);
            *thread = NULL;
        }
    }
    if (*thread == NULL)
        free(work);
    (*jni)->DeleteLocalRef(jni, made);
    return *thread != NULL;
}
