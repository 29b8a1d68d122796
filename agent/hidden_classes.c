/* SPDX-License-Identifier: Apache-2.0 */
/* ClassLoader.defineClass0(), the one way by which Java code defines hidden classes. */
#include "hidden_classes.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "probe_natives.h"
#include "vm_objects.h"

#define HIDDEN 2 /* MethodHandleNatives.Constants.HIDDEN_CLASS */

typedef jclass(JNICALL define_function)(JNIEnv *, jclass, jobject, jclass, jstring, jbyteArray,
                                        jint, jint, jobject, jboolean, jint, jobject);

static union {
    void *symbol;
    define_function *call;
} original;

/* The array with probes in the class file, or NULL. */
static jbyteArray rewritten(JNIEnv *jni, jobject loader, jbyteArray data, jint offset, jint *length)
{
    uint8_t *bytes = *length > 0 ? malloc((size_t) *length) : NULL;
    size_t new_length = 0;
    jbyteArray array = NULL;
    if (bytes == NULL)
        return NULL;
    (*jni)->GetByteArrayRegion(jni, data, offset, *length, (jbyte *) bytes);
    uint8_t *changed =
        (*jni)->ExceptionCheck(jni)
            ? NULL
            : engine_rewrite_hidden(jni, loader, bytes, (size_t) *length, &new_length);
    (*jni)->ExceptionClear(jni);
    if (changed != NULL && new_length <= INT32_MAX)
        array = jni_calls_plain_bytes(jni, (jsize) new_length);
    if (array != NULL) {
        (*jni)->SetByteArrayRegion(jni, array, 0, (jsize) new_length, (const jbyte *) changed);
        *length = (jint) new_length;
    }
    (*jni)->ExceptionClear(jni);
    free(changed);
    free(bytes);
    return array;
}

static jclass JNICALL define_class(JNIEnv *jni, jclass class, jobject loader, jclass lookup,
                                   jstring name, jbyteArray data, jint offset, jint length,
                                   jobject domain, jboolean initialize, jint flags, jobject extra)
{
    jbyteArray changed = NULL;
    if ((flags & HIDDEN) != 0 && data != NULL && atomic_load(&tracer.session) != NULL)
        changed = rewritten(jni, loader, data, offset, &length);
    return original.call(jni, class, loader, lookup, name, changed != NULL ? changed : data,
                         changed != NULL ? 0 : offset, length, domain, initialize, flags, extra);
}

void hidden_classes_intercept(JNIEnv *jni)
{
    static bool done;
    static char name[] = "defineClass0";
    static char descriptor[] = "(Ljava/lang/ClassLoader;Ljava/lang/Class;Ljava/lang/String;"
                               "[BIILjava/security/ProtectionDomain;ZILjava/lang/Object;)"
                               "Ljava/lang/Class;";
    void *library = done ? NULL : dlopen("libjava.so", RTLD_LAZY | RTLD_NOLOAD);
    if (library == NULL)
        return;
    done = true;
    original.symbol = dlsym(library, "Java_java_lang_ClassLoader_defineClass0");
    jclass loader = (*jni)->FindClass(jni, "java/lang/ClassLoader");
    union {
        define_function *call;
        void *address;
    } ours = {define_class};
    JNINativeMethod method = {name, descriptor, ours.address};
    if (original.symbol != NULL && loader != NULL)
        probe_natives_register(jni, loader, &method, 1);
    (*jni)->ExceptionClear(jni);
    (*jni)->DeleteLocalRef(jni, loader);
}
