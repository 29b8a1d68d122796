/* SPDX-License-Identifier: Apache-2.0 */
/* An agent that shows agents after it other class files than the JVM's: class files of the classes
 * whose names begin with its option's first word get the version that is its second one
 * ("java/:80"), as a later JDK's would have. */
#include <jvmti.h>
#include <stdlib.h>
#include <string.h>

static char prefix[200];
static unsigned version;

static void JNICALL on_class_file(jvmtiEnv *jvmti, JNIEnv *jni, jclass redefined, jobject loader,
                                  const char *name, jobject domain, jint length,
                                  const unsigned char *bytes, jint *new_length,
                                  unsigned char **new_bytes)
{
    (void) jni, (void) redefined, (void) loader, (void) domain;
    if (redefined == NULL || name == NULL || strncmp(name, prefix, strlen(prefix)) != 0 ||
        (*jvmti)->Allocate(jvmti, length, new_bytes) != JVMTI_ERROR_NONE)
        return;
    memcpy(*new_bytes, bytes, (size_t) length);
    (*new_bytes)[6] = (unsigned char) (version >> 8);
    (*new_bytes)[7] = (unsigned char) version;
    *new_length = length;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    jvmtiEnv *jvmti = NULL;
    jvmtiEventCallbacks callbacks;
    jvmtiCapabilities capabilities;
    const char *colon = options != NULL ? strchr(options, ':') : NULL;
    (void) reserved;
    if (colon == NULL || (size_t) (colon - options) >= sizeof prefix ||
        (*vm)->GetEnv(vm, (void **) &jvmti, JVMTI_VERSION_11) != JNI_OK)
        return JNI_ERR;
    memcpy(prefix, options, (size_t) (colon - options));
    version = (unsigned) strtoul(colon + 1, NULL, 10);
    memset(&capabilities, 0, sizeof capabilities);
    capabilities.can_retransform_classes = 1;
    (*jvmti)->AddCapabilities(jvmti, &capabilities);
    memset(&callbacks, 0, sizeof callbacks);
    callbacks.ClassFileLoadHook = on_class_file;
    (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks);
    return (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK,
                                              NULL) == JVMTI_ERROR_NONE
               ? JNI_OK
               : JNI_ERR;
}
