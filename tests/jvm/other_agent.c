/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libotheragent.so: an agent that counts calls of two JNI functions, as others do.  It is told by
 * what it is loaded with: `on` puts its functions before those that are there, `off` puts these
 * back, `FILE` writes "mine CALLS" into that file, or "lost CALLS" where its functions are in the
 * table no more.  At the JVM's start, `samples` takes the events of sampled allocations; later,
 * `samples` does the same.  `follow` follows all references of the heap every 300 ms from the JVM's
 * start on.
 */
#include <jvmti.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct {
    jvmtiEnv *jvmti;
    jbyteArray(JNICALL *bytes)(JNIEnv *, jsize);
    jobject(JNICALL *object)(JNIEnv *, jclass);
    _Atomic long calls;
} other;

static jbyteArray JNICALL new_bytes(JNIEnv *jni, jsize length)
{
    atomic_fetch_add(&other.calls, 1);
    return other.bytes(jni, length);
}

static jobject JNICALL new_object(JNIEnv *jni, jclass class)
{
    atomic_fetch_add(&other.calls, 1);
    return other.object(jni, class);
}

static void put(jniNativeInterface *table, jboolean on)
{
    if (on) {
        other.bytes = table->NewByteArray;
        other.object = table->AllocObject;
    }
    table->NewByteArray = on ? new_bytes : other.bytes;
    table->AllocObject = on ? new_object : other.object;
    (*other.jvmti)->SetJNIFunctionTable(other.jvmti, table);
}

static jint write_state(const char *path, const jniNativeInterface *table)
{
    FILE *file = fopen(path, "w");
    jboolean mine = table->NewByteArray == new_bytes && table->AllocObject == new_object;
    if (file == NULL)
        return JNI_ERR;
    fprintf(file, "%s %ld\n", mine ? "mine" : "lost", atomic_load(&other.calls));
    return fclose(file) == 0 ? JNI_OK : JNI_ERR;
}

static jint take_samples(JavaVM *vm)
{
    jvmtiEnv *jvmti;
    jvmtiCapabilities wanted;
    memset(&wanted, 0, sizeof wanted);
    wanted.can_generate_sampled_object_alloc_events = 1;
    return (*vm)->GetEnv(vm, (void **) &jvmti, JVMTI_VERSION_11) == JNI_OK &&
                   (*jvmti)->AddCapabilities(jvmti, &wanted) == JVMTI_ERROR_NONE
               ? JNI_OK
               : JNI_ERR;
}

/* ---- references ---- */

#define FOLLOW_US 300000

static jint JNICALL visit(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info,
                          jlong class_tag, jlong referrer_class_tag, jlong size, jlong *tag,
                          jlong *referrer_tag, jint length, void *user)
{
    (void) kind, (void) info, (void) class_tag, (void) referrer_class_tag, (void) size;
    (void) tag, (void) referrer_tag, (void) length, (void) user;
    return JVMTI_VISIT_OBJECTS;
}

static void JNICALL follow_for_ever(jvmtiEnv *jvmti, JNIEnv *jni, void *user)
{
    jvmtiHeapCallbacks callbacks;
    (void) jni, (void) user;
    memset(&callbacks, 0, sizeof callbacks);
    callbacks.heap_reference_callback = visit;
    do
        usleep(FOLLOW_US);
    while ((*jvmti)->FollowReferences(jvmti, 0, NULL, NULL, &callbacks, NULL) == JVMTI_ERROR_NONE);
}

static void JNICALL on_init(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    (void) thread;
    jclass class = (*jni)->FindClass(jni, "java/lang/Thread");
    jmethodID make = (*jni)->GetMethodID(jni, class, "<init>", "()V");
    (*jvmti)->RunAgentThread(jvmti, (*jni)->NewObject(jni, class, make), follow_for_ever, NULL,
                             JVMTI_THREAD_NORM_PRIORITY);
}

static jint follow(JavaVM *vm)
{
    jvmtiEnv *jvmti;
    jvmtiCapabilities wanted;
    jvmtiEventCallbacks callbacks;
    memset(&wanted, 0, sizeof wanted);
    memset(&callbacks, 0, sizeof callbacks);
    wanted.can_tag_objects = 1;
    callbacks.VMInit = on_init;
    return (*vm)->GetEnv(vm, (void **) &jvmti, JVMTI_VERSION_11) == JNI_OK &&
                   (*jvmti)->AddCapabilities(jvmti, &wanted) == JVMTI_ERROR_NONE &&
                   (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks) ==
                       JVMTI_ERROR_NONE &&
                   (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT,
                                                      NULL) == JVMTI_ERROR_NONE
               ? JNI_OK
               : JNI_ERR;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    (void) reserved;
    return options == NULL                   ? JNI_ERR
           : strcmp(options, "samples") == 0 ? take_samples(vm)
           : strcmp(options, "follow") == 0  ? follow(vm)
                                             : JNI_ERR;
}

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved)
{
    jniNativeInterface *table = NULL;
    jint code = JNI_OK;
    (void) reserved;
    if (strcmp(options, "samples") == 0)
        return take_samples(vm);
    if (other.jvmti == NULL &&
        (*vm)->GetEnv(vm, (void **) &other.jvmti, JVMTI_VERSION_11) != JNI_OK)
        return JNI_ERR;
    if ((*other.jvmti)->GetJNIFunctionTable(other.jvmti, &table) != JVMTI_ERROR_NONE)
        return JNI_ERR;
    if (strcmp(options, "on") == 0 || strcmp(options, "off") == 0)
        put(table, strcmp(options, "on") == 0);
    else
        code = write_state(options, table);
    (*other.jvmti)->Deallocate(other.jvmti, (unsigned char *) table);
    return code;
}
