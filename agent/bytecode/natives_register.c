/* SPDX-License-Identifier: Apache-2.0 */
/* Registers native methods of classes of the boot loader without the JVM's warning. */
#include "agent/bytecode/natives_register.h"

#include <pthread.h>

#include "agent/base/tracer.h"

/*
 * The JVM warns, on stdout, when native methods of a class of its own are registered by code that
 * no class of its own has called.  So the probes' class calls a native method of the JDK that calls
 * JNI's GetStringLength(), before which a function of ours stands for that moment.  Where another
 * agent puts its own before it just then, ours stays below that one for good, and may be found
 * twice in a call: see jni_calls.c.
 */
typedef jsize(JNICALL string_length)(JNIEnv *, jstring);
static __thread bool in_string_length __attribute__((tls_model("initial-exec")));

static struct {
    string_length *_Atomic below; /* ours */
    string_length *bottom;        /* the same when it was put there first */
    jclass probes;                /* global reference */
    jclass class;
    const JNINativeMethod *methods;
    jint count;
    pthread_t thread;
    bool wanted, registered;
} linking;

static jsize JNICALL register_on_string_length(JNIEnv *jni, jstring string)
{
    if (pthread_equal(linking.thread, pthread_self()) && linking.wanted) {
        linking.wanted = false;
        linking.registered =
            (*jni)->RegisterNatives(jni, linking.class, linking.methods, linking.count) == JNI_OK;
    }
    if (in_string_length)
        return linking.bottom(jni, string);
    in_string_length = true;
    jsize length = atomic_load(&linking.below)(jni, string);
    in_string_length = false;
    return length;
}

/* Ours on top of what is there, or what was below it in its place if ours still is on top. */
static bool set_string_length(bool on)
{
    jniNativeInterface *table = NULL;
    if ((*tracer.jvmti)->GetJNIFunctionTable(tracer.jvmti, &table) != JVMTI_ERROR_NONE)
        return false;
    bool is_ours = table->GetStringLength == register_on_string_length;
    if (on && !is_ours) {
        atomic_store(&linking.below, table->GetStringLength);
        if (linking.bottom == NULL)
            linking.bottom = table->GetStringLength;
        table->GetStringLength = register_on_string_length;
    } else if (!on && is_ours) {
        table->GetStringLength = atomic_load(&linking.below);
    }
    bool set = on == is_ours ||
               (*tracer.jvmti)->SetJNIFunctionTable(tracer.jvmti, table) == JVMTI_ERROR_NONE;
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *) table);
    return set;
}

static bool register_quietly(JNIEnv *jni)
{
    jmethodID link =
        (*jni)->GetStaticMethodID(jni, linking.probes, "link", "(Ljava/lang/String;)V");
    jstring name = (*jni)->NewStringUTF(jni, "probe");
    if (link == NULL || name == NULL)
        return false;
    linking.thread = pthread_self();
    linking.registered = false;
    linking.wanted = true;
    if (set_string_length(true)) {
        (*jni)->CallStaticVoidMethod(jni, linking.probes, link, name);
        set_string_length(false);
    }
    (*jni)->DeleteLocalRef(jni, name);
    return linking.registered;
}

void natives_link_by(jclass probes)
{
    linking.probes = probes;
}

bool natives_register(JNIEnv *jni, jclass class, const JNINativeMethod *methods, jint count)
{
    linking.class = class;
    linking.methods = methods;
    linking.count = count;
    return register_quietly(jni) || (*jni)->RegisterNatives(jni, class, methods, count) == JNI_OK;
}
