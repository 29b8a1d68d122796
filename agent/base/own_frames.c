/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the calling thread's own frames with JVMTI. */
#include "agent/base/own_frames.h"

#include "agent/base/java_versions.h"
#include "agent/base/jvm_classes.h"
#include "agent/base/tracer.h"

/* Returns false if the JVM does not know the thread. */
static bool begin(jthread *own)
{
    *own = NULL;
    if (tracer.java_major < JAVA_CONTINUATIONS || tracer.java_major >= JAVA_OWN_FRAMES_AT_ONCE)
        return true;
    *own = jvm_jni() != NULL ? jvm_thread() : NULL;
    return *own != NULL;
}

static void end(jthread own)
{
    JNIEnv *jni = own != NULL ? jvm_jni() : NULL;
    if (jni != NULL)
        (*jni)->DeleteLocalRef(jni, own);
}

jint own_frames(jint first, jint most, jvmtiFrameInfo *frames)
{
    jthread own;
    jint count = 0;
    if (begin(&own) &&
        (*tracer.jvmti)->GetStackTrace(tracer.jvmti, own, first, most, frames, &count) !=
            JVMTI_ERROR_NONE)
        count = 0;
    end(own);
    return count;
}

jmethodID own_frame_method(jint depth)
{
    jthread own;
    jmethodID method = NULL;
    jlocation location;
    if (begin(&own) &&
        (*tracer.jvmti)->GetFrameLocation(tracer.jvmti, own, depth, &method, &location) !=
            JVMTI_ERROR_NONE)
        method = NULL;
    end(own);
    return method;
}

jobject own_frame_object(void)
{
    jthread own;
    jobject object = NULL;
    if (begin(&own) &&
        (*tracer.jvmti)->GetLocalInstance(tracer.jvmti, own, 0, &object) != JVMTI_ERROR_NONE)
        object = NULL;
    end(own);
    return object;
}
