/* SPDX-License-Identifier: Apache-2.0 */
/* JNI functions that create objects without a constructor, or store references. Their results may
 * be known already, which a tag shows.
 *
 * Other agents also replace entries of JNI's table, and call the previous functions. If another
 * agent has done so after this one, this agent's functions stay below it when the trace stops, and
 * pass everything on. The next start puts them on top again, so that a call may reach them twice:
 * then it is passed to the function that was there before the first trace. */
#include <string.h>

#include "agent/base/exceptions.h"
#include "agent/base/jvm_classes.h"
#include "agent/bytecode/new_objects.h"
#include "agent/bytecode/plain_calls.h"
#include "agent/bytecode/reference_stores.h"
#include "agent/bytecode/vm_objects.h"
#include "agent/references/fields.h"
#include "capture/log.h"

#define PRIMITIVE_ARRAYS(X)                                                                        \
    X(Boolean, boolean)                                                                            \
    X(Byte, byte)                                                                                  \
    X(Char, char)                                                                                  \
    X(Short, short)                                                                                \
    X(Int, int)                                                                                    \
    X(Long, long)                                                                                  \
    X(Float, float)                                                                                \
    X(Double, double)

/* The table's name and the agent's function. */
#define STORES(X)                                                                                  \
    X(SetObjectField, set_object_field)                                                            \
    X(SetStaticObjectField, set_static_object_field)                                               \
    X(SetObjectArrayElement, set_object_array_element)
#define LINKS(X) X(GetStringLength, get_string_length)
#define OBJECTS(X)                                                                                 \
    X(AllocObject, alloc_object)                                                                   \
    X(NewString, new_string)                                                                       \
    X(NewStringUTF, new_string_utf)                                                                \
    X(NewObjectArray, new_object_array)                                                            \
    X(NewBooleanArray, new_boolean_array)                                                          \
    X(NewByteArray, new_byte_array)                                                                \
    X(NewCharArray, new_char_array)                                                                \
    X(NewShortArray, new_short_array)                                                              \
    X(NewIntArray, new_int_array)                                                                  \
    X(NewLongArray, new_long_array)                                                                \
    X(NewFloatArray, new_float_array)                                                              \
    X(NewDoubleArray, new_double_array)

enum entry {
#define ENUMERATOR(Name, function) ENTRY_##Name,
    STORES(ENUMERATOR) OBJECTS(ENUMERATOR) LINKS(ENUMERATOR)
#undef ENUMERATOR
};

jniNativeInterface *plain_calls;
/* The functions below the agent's: of this trace. */
static jniNativeInterface *plain;
/* A bit for each entry whose previous function runs on this thread. */
static __thread uint32_t inside __attribute__((tls_model("initial-exec")));

/* Returns the table with the function to call. The previous function is called between this and
 * back(). The second one returns whether the call is the outermost, which is the one to record.
 * Without the bit a call would never end where another agent is above and calls this agent's
 * function, which it has found in the table, from within it. */
static const jniNativeInterface *below(enum entry entry, bool *outermost)
{
    *outermost = (inside >> entry & 1) == 0;
    inside |= 1u << entry;
    return *outermost ? plain : plain_calls;
}

static bool back(enum entry entry, bool outermost)
{
    if (outermost)
        inside &= ~(1u << entry);
    return outermost;
}

static void made(JNIEnv *jni, jobject object, bool filled)
{
    struct os_thread *os;
    if (object == NULL)
        return;
    struct session *session = probe_enter(&os);
    if (session == NULL)
        return;
    jthrowable of_program = exception_set_aside(jni);
    object_made_once(session, os, jni, object);
    if (filled && stores_wanted(session))
        stores_of_object(session, os, jni, object);
    exception_restore(jni, of_program, false, THROWN_BY_NOTHING);
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
    (*jni)->DeleteLocalRef(jni, bytes);
    return string;
}

static jobject JNICALL alloc_object(JNIEnv *jni, jclass class)
{
    bool outermost;
    jobject object = below(ENTRY_AllocObject, &outermost)->AllocObject(jni, class);
    if (back(ENTRY_AllocObject, outermost))
        made(jni, object, false);
    return object;
}

static jstring JNICALL new_string(JNIEnv *jni, const jchar *text, jsize length)
{
    bool outermost;
    jstring string = below(ENTRY_NewString, &outermost)->NewString(jni, text, length);
    return back(ENTRY_NewString, outermost) ? made_string(jni, string) : string;
}

static jstring JNICALL new_string_utf(JNIEnv *jni, const char *text)
{
    bool outermost;
    jstring string = below(ENTRY_NewStringUTF, &outermost)->NewStringUTF(jni, text);
    return back(ENTRY_NewStringUTF, outermost) ? made_string(jni, string) : string;
}

static jobjectArray JNICALL new_object_array(JNIEnv *jni, jsize length, jclass class, jobject first)
{
    bool outermost;
    jobjectArray array =
        below(ENTRY_NewObjectArray, &outermost)->NewObjectArray(jni, length, class, first);
    if (back(ENTRY_NewObjectArray, outermost))
        made(jni, array, first != NULL);
    return array;
}

#define NEW_ARRAY(Name, name)                                                                      \
    static j##name##Array JNICALL new_##name##_array(JNIEnv *jni, jsize length)                    \
    {                                                                                              \
        bool outermost;                                                                            \
        j##name##Array array =                                                                     \
            below(ENTRY_New##Name##Array, &outermost)->New##Name##Array(jni, length);              \
        if (back(ENTRY_New##Name##Array, outermost))                                               \
            made(jni, array, false);                                                               \
        return array;                                                                              \
    }
PRIMITIVE_ARRAYS(NEW_ARRAY)
#undef NEW_ARRAY

static void stored(JNIEnv *jni, jobject holder, jclass class, jfieldID field, jobject value)
{
    struct os_thread *os;
    struct session *session = store_enter(&os);
    if (session == NULL)
        return;
    jthrowable of_program = exception_set_aside(jni);
    store_into_field(session, os, jni, holder, value,
                     field_number_of_id(session, jni, class, field));
    exception_restore(jni, of_program, false, THROWN_BY_NOTHING);
    probe_leave(os);
}

static void JNICALL set_object_field(JNIEnv *jni, jobject holder, jfieldID field, jobject value)
{
    bool outermost;
    below(ENTRY_SetObjectField, &outermost)->SetObjectField(jni, holder, field, value);
    if (!back(ENTRY_SetObjectField, outermost))
        return;
    jclass class = (*jni)->GetObjectClass(jni, holder);
    stored(jni, holder, class, field, value);
    (*jni)->DeleteLocalRef(jni, class);
}

static void JNICALL set_static_object_field(JNIEnv *jni, jclass class, jfieldID field,
                                            jobject value)
{
    bool outermost;
    below(ENTRY_SetStaticObjectField, &outermost)->SetStaticObjectField(jni, class, field, value);
    if (back(ENTRY_SetStaticObjectField, outermost))
        stored(jni, NULL, class, field, value);
}

static void JNICALL set_object_array_element(JNIEnv *jni, jobjectArray array, jsize index,
                                             jobject value)
{
    struct os_thread *os;
    bool outermost;
    below(ENTRY_SetObjectArrayElement, &outermost)->SetObjectArrayElement(jni, array, index, value);
    if (!back(ENTRY_SetObjectArrayElement, outermost) || (*jni)->ExceptionCheck(jni))
        return;
    struct session *session = store_enter(&os);
    if (session == NULL)
        return;
    store_into_element(session, os, jni, array, index, value);
    probe_leave(os);
}

static void (*_Atomic before_string_length)(JNIEnv *jni);

static jsize JNICALL get_string_length(JNIEnv *jni, jstring string)
{
    bool outermost;
    void (*first)(JNIEnv *) = atomic_load(&before_string_length);
    if (first != NULL)
        first(jni);
    jsize length = below(ENTRY_GetStringLength, &outermost)->GetStringLength(jni, string);
    back(ENTRY_GetStringLength, outermost);
    return length;
}

/* Puts the agent's function on top of the current one. */
#define PUT(Name, function)                                                                        \
    if (table->Name != (function)) {                                                               \
        plain->Name = table->Name;                                                                 \
        table->Name = (function);                                                                  \
    }
/* Restores the previous function if the agent's is on top. */
#define TAKE_AWAY(Name, function)                                                                  \
    if (table->Name == (function))                                                                 \
        table->Name = plain->Name;

static void set_stores(jniNativeInterface *table, bool on)
{
    if (on) {
        STORES(PUT)
    } else {
        STORES(TAKE_AWAY)
    }
}

static void set_objects(jniNativeInterface *table, bool on)
{
    if (on) {
        OBJECTS(PUT)
    } else {
        OBJECTS(TAKE_AWAY)
    }
}

/* Copies the current table to *table unless there is a copy. Returns false if the JVM provides
 * none. */
static bool read_table(jniNativeInterface **table)
{
    return *table != NULL ||
           (*tracer.jvmti)->GetJNIFunctionTable(tracer.jvmti, table) == JVMTI_ERROR_NONE;
}

static jniNativeInterface *open_table(void)
{
    jniNativeInterface *table = NULL;
    return read_table(&plain_calls) && read_table(&plain) && read_table(&table) ? table : NULL;
}

static bool close_table(jniNativeInterface *table)
{
    bool is_set = (*tracer.jvmti)->SetJNIFunctionTable(tracer.jvmti, table) == JVMTI_ERROR_NONE;
    jvm_free(table);
    return is_set;
}

bool jni_calls_link(void (*first)(JNIEnv *jni))
{
    jniNativeInterface *table = open_table();
    if (table == NULL)
        return false;
    atomic_store(&before_string_length, first);
    if (first != NULL) {
        LINKS(PUT)
    } else {
        LINKS(TAKE_AWAY)
    }
    return close_table(table);
}

void jni_calls_intercept(bool on, bool stores)
{
    jniNativeInterface *table = open_table();
    if (table == NULL)
        return;
    set_objects(table, on);
    set_stores(table, on && stores);
    if (!close_table(table))
        log_message("objects created by native code are not recorded");
    if (!on) /* where the agent's function stays below another */
        memcpy(plain, plain_calls, sizeof *plain);
}
