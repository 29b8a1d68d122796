/* SPDX-License-Identifier: Apache-2.0 */
/* A message is reported already if Java code passed it: then the frame below the throwable's
 * constructors is at an invokespecial, or belongs to reflection. Frames are inspected only for
 * messages that are neither among the thread's newest objects nor the last one inspected. */
#include "agent/bytecode/vm_objects.h"

#include <string.h>

#include "agent/base/exceptions.h"
#include "agent/base/jvm_classes.h"
#include "agent/base/method_verdicts.h"
#include "agent/bytecode/new_objects.h"
#include "agent/bytecode/reference_stores.h"
#include "agent/hotspot/slots.h"
#include "agent/references/fields.h"
#include "format/core/hash.h"

#define INVOKESPECIAL 0xb7
#define FRAMES 16

/* A part of a stack trace as HotSpot fills it begins with at least so many arrays of its own. */
enum { FIRST_ARRAYS = 2 };

/* Local references of a part: its elements, and its class. */
enum { TRACE_REFERENCES = 64 };

static bool is_array(JNIEnv *jni, jobject object)
{
    jclass class = (*jni)->GetObjectClass(jni, object);
    bool is = (class_status(class) & JVMTI_CLASS_STATUS_ARRAY) != 0;
    (*jni)->DeleteLocalRef(jni, class);
    return is;
}

/* An element that says only that there is something, as where the innermost frame is hidden, is one
 * of the first arrays again, or no array. */
static bool throwables_is_own(JNIEnv *jni, jobject element, const jobject first[FIRST_ARRAYS])
{
    for (jsize i = 0; i < FIRST_ARRAYS; i++)
        if ((*jni)->IsSameObject(jni, element, first[i]))
            return false;
    return is_array(jni, element);
}

/* Reports the arrays of one part of a stack trace, and returns the next part. A part, which is
 * known, has the arrays of some frames: four of them up to JDK 27, fewer since. The next part is an
 * array of the same length. The JVM fills these without any probe, and no Java code ever sees them,
 * so a probe reports them here or never. */
static jobject part_traced(struct session *session, struct os_thread *os, JNIEnv *jni,
                           jobjectArray part)
{
    jclass class = (*jni)->GetObjectClass(jni, part);
    jsize length = (*jni)->GetArrayLength(jni, part);
    jobject next = NULL, first[FIRST_ARRAYS] = {NULL, NULL};
    for (jsize i = 0; i < length; i++) {
        jobject element = (*jni)->GetObjectArrayElement(jni, part, i);
        bool has_objects = element != NULL && (*jni)->IsInstanceOf(jni, element, class);
        if (element == NULL ||
            (i >= FIRST_ARRAYS && !has_objects && !throwables_is_own(jni, element, first)))
            continue;
        if (i < FIRST_ARRAYS)
            first[i] = element;
        else if (has_objects && (*jni)->GetArrayLength(jni, element) == length)
            next = element;
        object_made(session, os, jni, element);
        if (stores_wanted(session))
            store_into_element(session, os, jni, part, i, element);
    }
    return next;
}

static uint64_t backtrace_number(struct session *session, JNIEnv *jni, jfieldID field)
{
    static _Atomic uint64_t known; /* in a session */
    uint64_t mine = session->number << FIELD_SESSION_SHIFT, number = atomic_load(&known) - mine;
    if (number != 0 && number >> FIELD_SESSION_SHIFT == 0)
        return number;
    jclass class = class_find(jni, "java/lang/Throwable");
    number = class != NULL ? field_number_of_id(session, jni, class, field) : 0;
    (*jni)->DeleteLocalRef(jni, class);
    atomic_store(&known, mine | number);
    return number;
}

void throwable_traced(struct session *session, struct os_thread *os, JNIEnv *jni, jobject object)
{
    static _Atomic(jfieldID) backtrace;
    if (object == NULL || (session->options.events & TRACED_ALLOC) == 0)
        return;
    jfieldID field =
        class_field_once(jni, &backtrace, "java/lang/Throwable", "backtrace", "Ljava/lang/Object;");
    if (field == NULL)
        return;
    jthrowable of_program = exception_set_aside(jni);
    struct recent_objects recent = os->bytecode.recent; /* may contain the message, which is checked
                                                         * next */
    jobject part = (*jni)->GetObjectField(jni, object, field);
    object_made(session, os, jni, part);
    if (part != NULL && stores_wanted(session))
        store_into_field(session, os, jni, object, part, backtrace_number(session, jni, field));
    bool framed = true;
    while (part != NULL && (framed = (*jni)->PushLocalFrame(jni, TRACE_REFERENCES) == JNI_OK))
        part = (*jni)->PopLocalFrame(jni, part_traced(session, os, jni, part));
    exception_restore(jni, of_program, !framed, THROWN_BY_ALLOCATION);
    os->bytecode.recent = recent;
}

static bool ask_if_constructor(JNIEnv *jni, jmethodID method)
{
    jclass owner = method_is_constructor(method) ? method_owner(method) : NULL;
    if (owner == NULL)
        return false;
    jclass throwable = class_find(jni, "java/lang/Throwable");
    bool is = throwable != NULL && (*jni)->IsAssignableFrom(jni, owner, throwable);
    (*jni)->DeleteLocalRef(jni, throwable);
    (*jni)->DeleteLocalRef(jni, owner);
    return is;
}

static bool is_constructor(JNIEnv *jni, jmethodID method)
{
    static struct verdicts known;
    bool is;
    if (!verdict_recall(&known, verdict_key(method), &is))
        verdict_keep(&known, verdict_key(method), is = ask_if_constructor(jni, method));
    return is;
}

static bool is_reflection(const char *signature)
{
    return strncmp(signature, "Ljava/lang/invoke/", 18) == 0 ||
           strstr(signature, "/reflect/") != NULL;
}

/* Returns true if Java code, and not the VM, calls the constructor from there. */
static bool ask_if_java_calls(JNIEnv *jni, const jvmtiFrameInfo *caller)
{
    jvmtiEnv *jvmti = tracer.jvmti;
    jint count = 0;
    unsigned char *code = NULL;
    if (method_owner_passes(jni, caller->method, is_reflection))
        return true;
    if (caller->location < 0) /* a native method */
        return false;
    if ((*jvmti)->GetBytecodes(jvmti, caller->method, &count, &code) != JVMTI_ERROR_NONE)
        return true;
    bool calls = caller->location >= count || code[caller->location] == INVOKESPECIAL;
    (*jvmti)->Deallocate(jvmti, code);
    return calls;
}

static bool java_calls(JNIEnv *jni, const jvmtiFrameInfo *caller)
{
    static struct verdicts known;
    uint64_t hash = step_hash_join(verdict_key(caller->method), 0);
    uint64_t key = step_hash_join(hash, (uint64_t) (caller->location + 2)) & ~UINT64_C(1);
    bool calls;
    if (!verdict_recall(&known, key, &calls))
        verdict_keep(&known, key, calls = ask_if_java_calls(jni, caller));
    return calls;
}

/* The innermost frames are the probe's and that of Throwable(String). */
static bool is_made_by_java(JNIEnv *jni)
{
    jvmtiFrameInfo frames[FRAMES];
    jint count = own_frames(2, FRAMES, frames);
    for (jint i = 0; i < count; i++)
        if (!is_constructor(jni, frames[i].method))
            return java_calls(jni, &frames[i]);
    return true;
}

void throwable_named(struct session *session, struct os_thread *os, JNIEnv *jni, jobject message)
{
    if (message == NULL || (session->options.events & TRACED_ALLOC) == 0 ||
        object_is_recent(os, message))
        return;
    if (is_made_by_java(jni)) {
        object_note_recent(os, slot_word(message));
    } else {
        object_made_string(session, os, jni, message);
        if (stores_wanted(session))
            stores_of_object(session, os, jni, message);
    }
}
