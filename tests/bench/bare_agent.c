/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libbareagent.so: what JVMTI itself costs.  It asks the JVM for the same events as libtracer.so
 * does by default, with sampling interval 0, gives each object a tag, and records nothing.
 */
#include <jvmti.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static jvmtiEnv *env;
static _Atomic jlong next_tag = 1;
static _Atomic long frees;
static _Thread_local jlong tag, tag_end;

/* Tags come by the block, so that threads do not meet at one counter. */
static jlong new_tag(void)
{
    const jlong block = 4096;
    if (tag == tag_end) {
        tag = atomic_fetch_add_explicit(&next_tag, block, memory_order_relaxed);
        tag_end = tag + block;
    }
    return tag++;
}

static void JNICALL on_alloc(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object,
                             jclass class, jlong size)
{
    (void) jni, (void) thread, (void) class, (void) size;
    (*jvmti)->SetTag(jvmti, object, new_tag());
}

static void JNICALL on_free(jvmtiEnv *jvmti, jlong freed)
{
    (void) jvmti, (void) freed;
    atomic_fetch_add_explicit(&frees, 1, memory_order_relaxed);
}

static void JNICALL on_class_load(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jclass class)
{
    (void) jvmti, (void) jni, (void) thread, (void) class;
}

static void JNICALL on_thread(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    (void) jvmti, (void) jni, (void) thread;
}

static void enable(jvmtiEvent event)
{
    if ((*env)->SetEventNotificationMode(env, JVMTI_ENABLE, event, NULL) != JVMTI_ERROR_NONE)
        fprintf(stderr, "bareagent: event %d cannot be enabled\n", (int) event);
}

static void JNICALL on_vm_init(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    (void) jni, (void) thread;
    (*jvmti)->SetHeapSamplingInterval(jvmti, 0);
    enable(JVMTI_EVENT_CLASS_LOAD);
    enable(JVMTI_EVENT_THREAD_START);
    enable(JVMTI_EVENT_THREAD_END);
    enable(JVMTI_EVENT_OBJECT_FREE);
    enable(JVMTI_EVENT_VM_OBJECT_ALLOC);
    enable(JVMTI_EVENT_SAMPLED_OBJECT_ALLOC);
    (*jvmti)->ForceGarbageCollection(jvmti);
}

static void JNICALL on_vm_death(jvmtiEnv *jvmti, JNIEnv *jni)
{
    (void) jvmti, (void) jni;
    if (getenv("BAREAGENT_VERBOSE") != NULL)
        fprintf(stderr, "bareagent: tags below %ld, %ld frees\n", (long) atomic_load(&next_tag),
                atomic_load(&frees));
}

static jint add_capabilities(void)
{
    jvmtiCapabilities wanted;
    memset(&wanted, 0, sizeof wanted);
    wanted.can_tag_objects = 1;
    wanted.can_generate_sampled_object_alloc_events = 1;
    wanted.can_generate_vm_object_alloc_events = 1;
    wanted.can_generate_object_free_events = 1;
    return (*env)->AddCapabilities(env, &wanted) == JVMTI_ERROR_NONE ? JNI_OK : JNI_ERR;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    (void) options, (void) reserved;
    if ((*vm)->GetEnv(vm, (void **) &env, JVMTI_VERSION_11) != JNI_OK || add_capabilities() != 0)
        return JNI_ERR;
    jvmtiEventCallbacks callbacks;
    memset(&callbacks, 0, sizeof callbacks);
    callbacks.SampledObjectAlloc = on_alloc;
    callbacks.VMObjectAlloc = on_alloc;
    callbacks.ObjectFree = on_free;
    callbacks.ClassLoad = on_class_load;
    callbacks.ThreadStart = on_thread;
    callbacks.ThreadEnd = on_thread;
    callbacks.VMInit = on_vm_init;
    callbacks.VMDeath = on_vm_death;
    (*env)->SetEventCallbacks(env, &callbacks, (jint) sizeof callbacks);
    enable(JVMTI_EVENT_VM_INIT);
    enable(JVMTI_EVENT_VM_DEATH);
    return JNI_OK;
}
