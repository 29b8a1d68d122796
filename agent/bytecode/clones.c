/* SPDX-License-Identifier: Apache-2.0 */
/* A class has Object's clone() if the method that it finds under that name is declared there. */
#include "agent/bytecode/vm_objects.h"

#include <string.h>

#include "agent/base/exceptions.h"
#include "agent/base/jvm_classes.h"
#include "agent/base/method_verdicts.h"
#include "agent/records/classes.h"

enum { NOT_KNOWN, OBJECTS, ITS_OWN };

static bool is_object(const char *signature)
{
    return strcmp(signature, "Ljava/lang/Object;") == 0;
}

static bool has_object_clone(JNIEnv *jni, jclass class)
{
    jthrowable of_program = exception_set_aside(jni);
    jmethodID method = (*jni)->GetMethodID(jni, class, "clone", "()Ljava/lang/Object;");
    exception_restore(jni, of_program);
    return method != NULL && method_owner_passes(jni, method, is_object);
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
    jclass class = method_owner(caller);
    jclass super = class != NULL ? class_go_up(jni, class) : NULL;
    bool has = super != NULL && has_object_clone(jni, super);
    (*jni)->DeleteLocalRef(jni, super);
    return has;
}

static bool of_super(JNIEnv *jni)
{
    static struct verdicts callers; /* of super.clone() */
    jmethodID caller = own_frame_method(1);
    bool has;
    if (caller == NULL)
        return false;
    if (!verdict_recall(&callers, verdict_key(caller), &has))
        verdict_keep(&callers, verdict_key(caller), has = super_has_object_clone(jni, caller));
    return has;
}

bool clone_is_of_object(struct session *session, struct os_thread *os, JNIEnv *jni, jobject from,
                        bool by_super)
{
    return by_super ? of_super(jni) : of_class(session, os, jni, from);
}
