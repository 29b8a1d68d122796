/* SPDX-License-Identifier: Apache-2.0 */
/* ClassLoader.defineClass0(), the only way in which Java code defines hidden classes. */
#include "agent/bytecode/hidden_classes.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "agent/base/exceptions.h"
#include "agent/base/internals.h"
#include "agent/base/java_versions.h"
#include "agent/bytecode/class_hook.h"
#include "agent/bytecode/natives_register.h"
#include "agent/bytecode/plain_calls.h"
#include "agent/bytecode/reference_stores.h"
#include "agent/events/events.h"
#include "agent/hotspot/archived_classes.h"
#include "agent/hotspot/hash_state.h"

#define HIDDEN 2 /* MethodHandleNatives.Constants.HIDDEN_CLASS */

typedef jclass(JNICALL define_function)(JNIEnv *, jclass, jobject, jclass, jstring, jbyteArray,
                                        jint, jint, jobject, jboolean, jint, jobject);

static union {
    void *symbol;
    define_function *call;
} original;

/* A hidden class that is about to be defined. */
struct definition {
    jbyteArray data;
    jint offset, length;
    bool archived; /* without the agent it would have come from the archive, linked */
};

/* Adds probes to the class file. */
static void rewrite(JNIEnv *jni, jobject loader, const uint8_t *bytes, struct definition *class)
{
    size_t length = 0;
    uint8_t *changed = class_hook_hidden(jni, loader, bytes, (size_t) class->length, &length);
    jbyteArray array =
        changed != NULL && length <= INT32_MAX ? plain_bytes(jni, (jsize) length) : NULL;
    if (array != NULL) {
        (*jni)->SetByteArrayRegion(jni, array, 0, (jsize) length, (const jbyte *) changed);
        *class = (struct definition){array, 0, (jint) length, class->archived};
    }
    free(changed);
}

static void prepare(JNIEnv *jni, jobject loader, jclass lookup, struct definition *class)
{
    uint8_t *bytes = class->length > 0 ? malloc((size_t) class->length) : NULL;
    if (bytes == NULL)
        return;
    jthrowable of_program = exception_set_aside(jni);
    (*jni)->GetByteArrayRegion(jni, class->data, class->offset, class->length, (jbyte *) bytes);
    if (!(*jni)->ExceptionCheck(jni)) {
        if (loader == NULL)
            class->archived = archived_class_has_lambda(lookup, bytes, (size_t) class->length);
        rewrite(jni, loader, bytes, class);
    }
    exception_restore(jni, of_program);
    free(bytes);
}

/* Does what the events of a new class would do. The JVM sends none while a virtual thread changes
 * its carrier. If it has sent them, only stores are recorded again. */
static void announce(JNIEnv *jni, jclass class)
{
    jthrowable of_program = exception_set_aside(jni);
    event_class_load(NULL, class);
    stores_of_vm(jni, class);
    stores_of_constants(jni, class);
    exception_restore(jni, of_program);
}

static jclass JNICALL define_class(JNIEnv *jni, jclass caller, jobject loader, jclass lookup,
                                   jstring name, jbyteArray data, jint offset, jint length,
                                   jobject domain, jboolean initialize, jint flags, jobject extra)
{
    struct definition class = {data, offset, length, false};
    if ((flags & HIDDEN) != 0 && data != NULL && class_hook_is_on() &&
        internal_is_allowed(INTERNAL_DEFINE))
        prepare(jni, loader, lookup, &class);
    if (class.archived)
        hash_state_enter();
    jclass defined = original.call(jni, caller, loader, lookup, name, class.data, class.offset,
                                   class.length, domain, initialize, flags, extra);
    if (class.archived)
        hash_state_leave();
    if (defined != NULL && (flags & HIDDEN) != 0 && tracer.java_major >= JAVA_VIRTUAL_THREADS)
        announce(jni, defined);
    return defined;
}

void hidden_classes_intercept(JNIEnv *jni)
{
    static bool done;
    static char name[] = "defineClass0";
    static char descriptor[] = "(Ljava/lang/ClassLoader;Ljava/lang/Class;Ljava/lang/String;"
                               "[BIILjava/security/ProtectionDomain;ZILjava/lang/Object;)"
                               "Ljava/lang/Class;";
    if (!internal_is_allowed(INTERNAL_DEFINE))
        return;
    void *library = done ? NULL : dlopen("libjava.so", RTLD_LAZY | RTLD_NOLOAD);
    if (done)
        internal_used(INTERNAL_DEFINE);
    else if (library == NULL)
        internal_refused(INTERNAL_DEFINE, "libjava.so is not there");
    if (library == NULL)
        return;
    original.symbol = dlsym(library, "Java_java_lang_ClassLoader_defineClass0");
    jthrowable of_program = exception_set_aside(jni);
    jclass loader = (*jni)->FindClass(jni, "java/lang/ClassLoader");
    union {
        define_function *call;
        void *address;
    } ours = {define_class};
    JNINativeMethod method = {name, descriptor, ours.address};
    done = original.symbol != NULL && loader != NULL && natives_register(jni, loader, &method, 1);
    if (done)
        internal_used(INTERNAL_DEFINE);
    else
        internal_refused(INTERNAL_DEFINE, "the JDK has none with these arguments");
    exception_restore(jni, of_program);
    (*jni)->DeleteLocalRef(jni, loader);
}
