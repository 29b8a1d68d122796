/* SPDX-License-Identifier: Apache-2.0 */
/* Stores by the JVM itself, which no probe sees, read afterwards: references of objects that it
 * creates or that its native methods store into, and constants of static fields. */
#include "agent/base/jvm_classes.h"
#include "agent/bytecode/reference_stores.h"
#include "agent/references/fields.h"
#include "agent/references/mirror_fields.h"

static void store_elements(struct session *session, struct os_thread *os, JNIEnv *jni,
                           jobject array)
{
    jsize length = (*jni)->GetArrayLength(jni, array);
    for (jsize i = 0; i < length; i++) {
        jobject element = (*jni)->GetObjectArrayElement(jni, array, i);
        if (element != NULL)
            store_into_element(session, os, jni, array, i, element);
        (*jni)->DeleteLocalRef(jni, element);
    }
}

struct filled {
    struct session *session;
    struct os_thread *os;
    JNIEnv *jni;
    jobject holder; /* NULL: the class's static fields */
};

static bool store_field(void *context, jclass class, struct class_field *field)
{
    const struct filled *filled = context;
    JNIEnv *jni = filled->jni;
    if (!field->is_reference || field->is_static != (filled->holder == NULL))
        return true;
    jobject value = filled->holder != NULL ? (*jni)->GetObjectField(jni, filled->holder, field->id)
                                           : (*jni)->GetStaticObjectField(jni, class, field->id);
    if (value != NULL && class_field_has(jni, field->descriptor, value))
        store_into_field(filled->session, filled->os, jni, filled->holder, value,
                         field_number_of_id(filled->session, jni, class, field->id));
    (*jni)->DeleteLocalRef(jni, value);
    return true;
}

static void store_fields(struct session *session, struct os_thread *os, JNIEnv *jni, jobject holder,
                         jclass class)
{
    class_each_field(class, store_field, &(struct filled){session, os, jni, holder});
}

static bool has_elements(jclass class, bool *is_array)
{
    char *signature = class_signature(class);
    *is_array = signature == NULL || signature[0] == '[';
    bool has = signature != NULL && *is_array && (signature[1] == 'L' || signature[1] == '[');
    jvm_free(signature);
    return has;
}

/* Reads all references that the object has now. It is called before the program can have the
 * object, or right after the native method that filled it, so what is read is what the JVM stored.
 * Fields of superclasses are read at each level, because a class lists only its own. */
void stores_of_object(struct session *session, struct os_thread *os, JNIEnv *jni, jobject object)
{
    bool is_array;
    jclass class = (*jni)->GetObjectClass(jni, object);
    if (has_elements(class, &is_array))
        store_elements(session, os, jni, object);
    while (class != NULL && !is_array) {
        store_fields(session, os, jni, object, class);
        class = class_go_up(jni, class);
    }
    (*jni)->DeleteLocalRef(jni, class);
}

/* Only the VM creates objects that refer to each other so: there are few. */
#define SIGHTS_MOST 32u

void stores_of_seen(struct session *session, struct os_thread *os, JNIEnv *jni, jobject object)
{
    if (!stores_wanted(session) || os->bytecode.sights == SIGHTS_MOST || !references_allow(jni))
        return;
    os->bytecode.sights++;
    stores_of_object(session, os, jni, object);
    os->bytecode.sights--;
}

void stores_of_arrays(struct session *session, struct os_thread *os, JNIEnv *jni, jobject array,
                      jint dimensions)
{
    if (array == NULL || dimensions <= 1)
        return;
    jsize length = (*jni)->GetArrayLength(jni, array);
    for (jsize i = 0; i < length; i++) {
        jobject element = (*jni)->GetObjectArrayElement(jni, array, i);
        store_into_element(session, os, jni, array, i, element);
        stores_of_arrays(session, os, jni, element, dimensions - 1);
        (*jni)->DeleteLocalRef(jni, element);
    }
}

void stores_of_vm(JNIEnv *jni, jobject object)
{
    struct os_thread *os;
    struct session *session = object != NULL ? probe_enter(&os) : NULL;
    if (session == NULL)
        return;
    if (stores_wanted(session))
        stores_of_object(session, os, jni, object);
    probe_leave(os);
}

void stores_of_constants(JNIEnv *jni, jclass class)
{
    struct os_thread *os;
    struct session *session = probe_enter(&os);
    if (session == NULL)
        return;
    if (stores_wanted(session))
        store_fields(session, os, jni, NULL, class);
    probe_leave(os);
}

void stores_of_continuations(JNIEnv *jni)
{
    static _Atomic uint64_t seen_in;
    struct os_thread *os;
    struct session *session = probe_enter(&os);
    if (session == NULL)
        return;
    bool first =
        stores_wanted(session) && atomic_exchange(&seen_in, session->number) != session->number;
    jclass class = first ? class_find(jni, "jdk/internal/vm/Continuation") : NULL;
    if (class != NULL)
        store_fields(session, os, jni, NULL, class);
    (*jni)->DeleteLocalRef(jni, class);
    probe_leave(os);
}

void JNICALL on_stores_of(JNIEnv *jni, jclass class, jobject object)
{
    (void) class;
    stores_of_vm(jni, object);
}

void JNICALL on_stores_of_elements(JNIEnv *jni, jclass class, jobject array)
{
    jsize length = array != NULL ? (*jni)->GetArrayLength(jni, array) : 0;
    (void) class;
    for (jsize i = 0; i < length; i++) {
        jobject element = (*jni)->GetObjectArrayElement(jni, array, i);
        stores_of_vm(jni, element);
        (*jni)->DeleteLocalRef(jni, element);
    }
}

void JNICALL on_stores_of_statics(JNIEnv *jni, jclass class, jobject of)
{
    (void) class;
    if (of != NULL)
        stores_of_constants(jni, of);
}
