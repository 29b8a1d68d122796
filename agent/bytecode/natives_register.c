/* SPDX-License-Identifier: Apache-2.0 */
/* Registers native methods of classes of the boot loader without the JVM's warning. */
#include "agent/bytecode/natives_register.h"

#include <pthread.h>

#include "agent/base/tracer.h"

/* The JVM warns, on stdout, when native methods of its own class are registered by code that none
 * of its own classes has called. So the probes' class calls a native method of the JDK, which calls
 * JNI's GetStringLength(), which is replaced by a function of the agent for that moment. If another
 * agent replaces it just then, the agent's function stays below that one for good, and may be
 * reached twice in a call: see jni_calls.c. */
typedef jsize(JNICALL string_length)(JNIEnv *, jstring);
static __thread bool in_string_length __attribute__((tls_model("initial-exec")));

static struct {
    string_length *_Atomic below; /* the function below the agent's */
    string_length *bottom;        /* that function when the agent's was first installed */
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

/* Puts the agent's function on top of the current one, or restores the previous one if the agent's
 * is still on top. */
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
