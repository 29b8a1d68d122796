/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the calling thread's own frames with JVMTI. */
#include "agent/base/own_frames.h"

#include "agent/base/java_versions.h"
#include "agent/base/tracer.h"

struct own_thread {
    JNIEnv *jni;
    jthread name;
};

/* Returns false if the JVM does not know the thread. */
static bool begin(struct own_thread *own)
{
    *own = (struct own_thread){NULL, NULL};
    if (tracer.java_major < JAVA_CONTINUATIONS || tracer.java_major >= JAVA_OWN_FRAMES_AT_ONCE)
        return true;
    return (*tracer.vm)->GetEnv(tracer.vm, (void **) &own->jni, JNI_VERSION_1_8) == JNI_OK &&
           (*tracer.jvmti)->GetCurrentThread(tracer.jvmti, &own->name) == JVMTI_ERROR_NONE &&
           own->name != NULL;
}

static void end(const struct own_thread *own)
{
    if (own->name != NULL)
        (*own->jni)->DeleteLocalRef(own->jni, own->name);
}

jint own_frames(jint first, jint most, jvmtiFrameInfo *frames)
{
    struct own_thread own;
    jint count = 0;
    if (begin(&own) &&
        (*tracer.jvmti)->GetStackTrace(tracer.jvmti, own.name, first, most, frames, &count) !=
            JVMTI_ERROR_NONE)
        count = 0;
    end(&own);
    return count;
}

jmethodID own_frame_method(jint depth)
{
    struct own_thread own;
    jmethodID method = NULL;
    jlocation location;
    if (begin(&own) &&
        (*tracer.jvmti)->GetFrameLocation(tracer.jvmti, own.name, depth, &method, &location) !=
            JVMTI_ERROR_NONE)
        method = NULL;
    end(&own);
    return method;
}

jobject own_frame_object(void)
{
    struct own_thread own;
    jobject object = NULL;
    if (begin(&own) &&
        (*tracer.jvmti)->GetLocalInstance(tracer.jvmti, own.name, 0, &object) != JVMTI_ERROR_NONE)
        object = NULL;
    end(&own);
    return object;
}
