/* SPDX-License-Identifier: Apache-2.0 */
/* JNI functions that make objects without a constructor.  Their results may be known already: a tag
 * tells. */
#include "agent/bytecode/new_objects.h"
#include "agent/bytecode/reference_stores.h"
#include "agent/bytecode/vm_objects.h"
#include "agent/references/fields.h"
#include "capture/log.h"

/* JNI's own functions while ours are before them. */
static jniNativeInterface *plain;

static void made(JNIEnv *jni, jobject object, bool filled)
{
    struct os_thread *os;
    if (object == NULL)
        return;
    struct session *session = probe_enter(&os);
    if (session == NULL)
        return;
    object_made_once(session, os, jni, object);
    if (filled && stores_wanted(session))
        stores_of_object(session, os, jni, object);
    object_probe_leave(os, jni);
}

/* A string is two objects. */
static jstring made_string(JNIEnv *jni, jstring string)
{
    if (string == NULL || atomic_load(&tracer.session) == NULL)
        return string;
    jobject bytes = string_array(jni, string);
    made(jni, bytes, false);
    made(jni, string, true);
    plain->DeleteLocalRef(jni, bytes);
    return string;
}

static jobject JNICALL alloc_object(JNIEnv *jni, jclass class)
{
    jobject object = plain->AllocObject(jni, class);
    made(jni, object, false);
    return object;
}

static jstring JNICALL new_string(JNIEnv *jni, const jchar *text, jsize length)
{
    return made_string(jni, plain->NewString(jni, text, length));
}

static jstring JNICALL new_string_utf(JNIEnv *jni, const char *text)
{
    return made_string(jni, plain->NewStringUTF(jni, text));
}

static jobjectArray JNICALL new_object_array(JNIEnv *jni, jsize length, jclass class, jobject first)
{
    jobjectArray array = plain->NewObjectArray(jni, length, class, first);
    made(jni, array, first != NULL);
    return array;
}

#define PRIMITIVE_ARRAYS(X)                                                                        \
    X(Boolean, boolean)                                                                            \
    X(Byte, byte)                                                                                  \
    X(Char, char)                                                                                  \
    X(Short, short)                                                                                \
    X(Int, int)                                                                                    \
    X(Long, long)                                                                                  \
    X(Float, float)                                                                                \
    X(Double, double)

#define NEW_ARRAY(Name, name)                                                                      \
    static j##name##Array JNICALL new_##name##_array(JNIEnv *jni, jsize length)                    \
    {                                                                                              \
        j##name##Array array = plain->New##Name##Array(jni, length);                               \
        made(jni, array, false);                                                                   \
        return array;                                                                              \
    }
PRIMITIVE_ARRAYS(NEW_ARRAY)
#undef NEW_ARRAY

jbyteArray jni_calls_plain_bytes(JNIEnv *jni, jsize length)
{
    return plain != NULL ? plain->NewByteArray(jni, length) : (*jni)->NewByteArray(jni, length);
}

jobject jni_calls_plain_object(JNIEnv *jni, jclass class)
{
    return plain != NULL ? plain->AllocObject(jni, class) : (*jni)->AllocObject(jni, class);
}

/* Where the session has references; NULL: there is none. */
static struct session *enter_store(struct os_thread **os)
{
    struct session *session = probe_enter(os);
    if (session != NULL && !stores_wanted(session)) {
        probe_leave(*os);
        return NULL;
    }
    return session;
}

static void stored(JNIEnv *jni, jobject holder, jclass class, jfieldID field, jobject value)
{
    struct os_thread *os;
    struct session *session = enter_store(&os);
    if (session == NULL)
        return;
    store_into_field(session, os, jni, holder, value,
                     field_number_of_id(session, jni, class, field));
    probe_leave(os);
}

static void JNICALL set_object_field(JNIEnv *jni, jobject holder, jfieldID field, jobject value)
{
    plain->SetObjectField(jni, holder, field, value);
    jclass class = plain->GetObjectClass(jni, holder);
    stored(jni, holder, class, field, value);
    plain->DeleteLocalRef(jni, class);
}

static void JNICALL set_static_object_field(JNIEnv *jni, jclass class, jfieldID field,
                                            jobject value)
{
    plain->SetStaticObjectField(jni, class, field, value);
    stored(jni, NULL, class, field, value);
}

static void JNICALL set_object_array_element(JNIEnv *jni, jobjectArray array, jsize index,
                                             jobject value)
{
    struct os_thread *os;
    plain->SetObjectArrayElement(jni, array, index, value);
    struct session *session = plain->ExceptionCheck(jni) ? NULL : enter_store(&os);
    if (session == NULL)
        return;
    store_into_element(session, os, jni, array, index, value);
    probe_leave(os);
}

static void set_stores(jniNativeInterface *table, bool on)
{
    table->SetObjectField = on ? set_object_field : plain->SetObjectField;
    table->SetStaticObjectField = on ? set_static_object_field : plain->SetStaticObjectField;
    table->SetObjectArrayElement = on ? set_object_array_element : plain->SetObjectArrayElement;
}

void jni_calls_intercept(bool on, bool stores)
{
    jvmtiEnv *jvmti = tracer.jvmti;
    if (plain == NULL && (*jvmti)->GetJNIFunctionTable(jvmti, &plain) != JVMTI_ERROR_NONE)
        return;
    jniNativeInterface *table = NULL;
    if ((*jvmti)->GetJNIFunctionTable(jvmti, &table) != JVMTI_ERROR_NONE)
        return;
    table->AllocObject = on ? alloc_object : plain->AllocObject;
    table->NewString = on ? new_string : plain->NewString;
    table->NewStringUTF = on ? new_string_utf : plain->NewStringUTF;
    table->NewObjectArray = on ? new_object_array : plain->NewObjectArray;
#define SET_ARRAY(Name, name)                                                                      \
    table->New##Name##Array = on ? new_##name##_array : plain->New##Name##Array;
    PRIMITIVE_ARRAYS(SET_ARRAY)
#undef SET_ARRAY
    set_stores(table, on && stores);
    if ((*jvmti)->SetJNIFunctionTable(jvmti, table) != JVMTI_ERROR_NONE)
        log_message("objects that native code makes are not seen");
    (*jvmti)->Deallocate(jvmti, (unsigned char *) table);
}
