/* SPDX-License-Identifier: Apache-2.0 */
/* A class has Object's clone() if the method that it finds under that name is declared there. */
#include "clones.h"

#include <string.h>

#include "names.h"

#define KNOWN_CALLERS 64u

enum { NOT_KNOWN, OBJECTS, ITS_OWN };

/* Methods that called super.clone() lately: each shifted, with what it found in the lowest bit. */
static _Atomic uintptr_t callers[KNOWN_CALLERS];

static bool declares_object(JNIEnv *jni, jmethodID method)
{
    jclass owner = NULL;
    char *signature = NULL;
    bool is = (*tracer.jvmti)->GetMethodDeclaringClass(tracer.jvmti, method, &owner) ==
                  JVMTI_ERROR_NONE &&
              (*tracer.jvmti)->GetClassSignature(tracer.jvmti, owner, &signature, NULL) ==
                  JVMTI_ERROR_NONE &&
              strcmp(signature, "Ljava/lang/Object;") == 0;
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *) signature);
    (*jni)->DeleteLocalRef(jni, owner);
    return is;
}

static bool has_object_clone(JNIEnv *jni, jclass class)
{
    jmethodID method = (*jni)->GetMethodID(jni, class, "clone", "()Ljava/lang/Object;");
    if (method == NULL) {
        (*jni)->ExceptionClear(jni);
        return false;
    }
    return declares_object(jni, method);
}

static bool of_class(struct session *session, struct os_thread *os, JNIEnv *jni, jobject from)
{
    jclass class = (*jni)->GetObjectClass(jni, from);
    struct class_cache_entry *cached = class_cached(session, os, jni, class);
    uint8_t clone = cached->clone;
    if (clone == NOT_KNOWN)
        cached->clone = clone = has_object_clone(jni, class) ? OBJECTS : ITS_OWN;
    (*jni)->DeleteLocalRef(jni, class);
    return clone == OBJECTS;
}

static bool super_has_object_clone(JNIEnv *jni, jmethodID caller)
{
    jclass class = NULL;
    if ((*tracer.jvmti)->GetMethodDeclaringClass(tracer.jvmti, caller, &class) != JVMTI_ERROR_NONE)
        return false;
    jclass super = (*jni)->GetSuperclass(jni, class);
    bool has = super != NULL && has_object_clone(jni, super);
    (*jni)->DeleteLocalRef(jni, super);
    (*jni)->DeleteLocalRef(jni, class);
    return has;
}

static bool of_super(JNIEnv *jni)
{
    jmethodID caller = NULL;
    jlocation location;
    if ((*tracer.jvmti)->GetFrameLocation(tracer.jvmti, NULL, 1, &caller, &location) !=
        JVMTI_ERROR_NONE)
        return false;
    _Atomic uintptr_t *slot = &callers[((uintptr_t) caller >> 3) % KNOWN_CALLERS];
    uintptr_t known = atomic_load(slot);
    if (known >> 1 == (uintptr_t) caller)
        return (known & 1) != 0;
    bool has = super_has_object_clone(jni, caller);
    atomic_store(slot, (uintptr_t) caller << 1 | has);
    return has;
}

bool clone_is_of_object(struct session *session, struct os_thread *os, JNIEnv *jni, jobject from,
                        bool by_super)
{
    return by_super ? of_super(jni) : of_class(session, os, jni, from);
}
