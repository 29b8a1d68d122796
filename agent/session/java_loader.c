/* SPDX-License-Identifier: Apache-2.0 */
/* The entry point for Java code that loads the agent into its own JVM, as
 * java/src/steptrace/Agent.java does: System.load() calls JNI_OnLoad(), which gives that class its
 * native method. */
#include <jvmti.h>
#include <stdlib.h>

#define LOADER "steptrace/Agent"

/* Runs a command as a later attach does, from the bytes of its text. */
static jint JNICALL run(JNIEnv *jni, jclass class, jbyteArray text)
{
    JavaVM *vm = NULL;
    (void) class;
    if ((*jni)->GetJavaVM(jni, &vm) != JNI_OK)
        return JNI_ERR;
    jsize length = (*jni)->GetArrayLength(jni, text);
    char *options = malloc((size_t) length + 1);
    if (options == NULL)
        return JNI_ENOMEM;
    (*jni)->GetByteArrayRegion(jni, text, 0, length, (jbyte *) options);
    options[length] = '\0';
    jint code = Agent_OnAttach(vm, options, NULL);
    free(options);
    return code;
}

/* The JVM does not call it for -agentpath, nor when a tool attaches. */
JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved)
{
    static const JNINativeMethod method = {"run", "([B)I", (void *) run};
    JNIEnv *jni = NULL;
    (void) reserved;
    if ((*vm)->GetEnv(vm, (void **) &jni, JNI_VERSION_1_8) != JNI_OK)
        return JNI_ERR;
    jclass class = (*jni)->FindClass(jni, LOADER);
    if (class == NULL || (*jni)->RegisterNatives(jni, class, &method, 1) != 0)
        return JNI_ERR; /* with its exception */
    return JNI_VERSION_1_8;
}
