/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A message is told of already if Java code passed it: then the frame below the constructors of the
 * throwable stands at an invokespecial, or belongs to reflection.  Frames are looked at only for
 * messages that are not among the thread's newest objects, and not the last one looked at.
 */
#include "throwables.h"

#include <string.h>

#include "objects.h"

#define INVOKESPECIAL 0xb7
#define FRAMES 16
#define KNOWN 256u

/* Places in a part of a stack trace, as HotSpot fills it: first arrays of its own. */
enum { TRACE_ARRAYS = 4 };

enum maker { BY_VM, BY_JAVA };

static jfieldID field_of_throwable(JNIEnv *jni, const char *name, const char *descriptor)
{
    jclass class = (*jni)->FindClass(jni, "java/lang/Throwable");
    jfieldID field = class != NULL ? (*jni)->GetFieldID(jni, class, name, descriptor) : NULL;
    (*jni)->ExceptionClear(jni);
    (*jni)->DeleteLocalRef(jni, class);
    return field;
}

/* A part has some frames; the next one is as long an array, and stands after the arrays.  Another
 * array of objects there is new, too; what else is there is none of its own. */
static jobject part_traced(struct session *session, struct os_thread *os, JNIEnv *jni,
                           jobjectArray part)
{
    jsize length = (*jni)->GetArrayLength(jni, part);
    jobject next = NULL;
    object_made(session, os, jni, part);
    for (jsize i = 0; i < length; i++) {
        jobject element = (*jni)->GetObjectArrayElement(jni, part, i);
        if (element != NULL && i >= TRACE_ARRAYS &&
            !(*jni)->IsInstanceOf(jni, element, (*jni)->GetObjectClass(jni, part)))
            continue;
        if (element != NULL && i >= TRACE_ARRAYS && (*jni)->GetArrayLength(jni, element) == length)
            next = element;
        else
            object_made(session, os, jni, element);
    }
    return next;
}

void throwable_traced(struct session *session, struct os_thread *os, JNIEnv *jni, jobject object)
{
    static _Atomic(jfieldID) backtrace;
    jfieldID field = atomic_load(&backtrace);
    if (object == NULL || (session->options.events & EVENT_ALLOC) == 0)
        return;
    if (field == NULL) {
        if ((field = field_of_throwable(jni, "backtrace", "Ljava/lang/Object;")) == NULL)
            return;
        atomic_store(&backtrace, field);
    }
    struct recent_objects recent = os->recent; /* the message, perhaps, which comes next */
    jobject part = (*jni)->GetObjectField(jni, object, field);
    if (part != NULL)
        part = part_traced(session, os, jni, part);
    while (part != NULL && (*jni)->PushLocalFrame(jni, 32) == JNI_OK)
        part = (*jni)->PopLocalFrame(jni, part_traced(session, os, jni, part));
    (*jni)->ExceptionClear(jni);
    os->recent = recent;
}

/* Verdicts on what was seen lately, in no order: a hash of it, the verdict in the lowest bit. */
struct verdicts {
    _Atomic uint64_t slots[KNOWN];
};

static uint64_t hash_of(const void *what, uint64_t more)
{
    uint64_t hash = ((uint64_t) (uintptr_t) what + more * UINT64_C(0x9e3779b97f4a7c15)) *
                    UINT64_C(0xd6e8feb86659fd93);
    return (hash ^ hash >> 32) & ~UINT64_C(1);
}

static bool recall(struct verdicts *verdicts, uint64_t hash, bool *verdict)
{
    uint64_t slot =
        atomic_load_explicit(&verdicts->slots[hash >> 8 & (KNOWN - 1)], memory_order_relaxed);
    *verdict = (slot & 1) != 0;
    return slot != 0 && (slot & ~UINT64_C(1)) == hash;
}

static void keep(struct verdicts *verdicts, uint64_t hash, bool verdict)
{
    atomic_store_explicit(&verdicts->slots[hash >> 8 & (KNOWN - 1)], hash | verdict,
                          memory_order_relaxed);
}

static bool ask_if_constructor(JNIEnv *jni, jmethodID method)
{
    jvmtiEnv *jvmti = tracer.jvmti;
    jclass owner = NULL;
    char *name = NULL;
    if ((*jvmti)->GetMethodName(jvmti, method, &name, NULL, NULL) != JVMTI_ERROR_NONE)
        return false;
    bool is = strcmp(name, "<init>") == 0;
    (*jvmti)->Deallocate(jvmti, (unsigned char *) name);
    if (!is || (*jvmti)->GetMethodDeclaringClass(jvmti, method, &owner) != JVMTI_ERROR_NONE)
        return false;
    jclass throwable = (*jni)->FindClass(jni, "java/lang/Throwable");
    is = throwable != NULL && (*jni)->IsAssignableFrom(jni, owner, throwable);
    (*jni)->ExceptionClear(jni);
    (*jni)->DeleteLocalRef(jni, throwable);
    (*jni)->DeleteLocalRef(jni, owner);
    return is;
}

static bool is_constructor(JNIEnv *jni, jmethodID method)
{
    static struct verdicts known;
    uint64_t hash = hash_of(method, 0);
    bool is;
    if (!recall(&known, hash, &is))
        keep(&known, hash, is = ask_if_constructor(jni, method));
    return is;
}

static bool is_reflection(jvmtiEnv *jvmti, JNIEnv *jni, jmethodID method)
{
    jclass owner = NULL;
    char *signature = NULL;
    if ((*jvmti)->GetMethodDeclaringClass(jvmti, method, &owner) != JVMTI_ERROR_NONE)
        return false;
    bool is = (*jvmti)->GetClassSignature(jvmti, owner, &signature, NULL) == JVMTI_ERROR_NONE &&
              (strncmp(signature, "Ljava/lang/invoke/", 18) == 0 ||
               strstr(signature, "/reflect/") != NULL);
    (*jvmti)->Deallocate(jvmti, (unsigned char *) signature);
    (*jni)->DeleteLocalRef(jni, owner);
    return is;
}

static enum maker ask_who_calls(JNIEnv *jni, const jvmtiFrameInfo *caller)
{
    jvmtiEnv *jvmti = tracer.jvmti;
    jint count = 0;
    unsigned char *code = NULL;
    if (is_reflection(jvmti, jni, caller->method))
        return BY_JAVA;
    if (caller->location < 0) /* a native method */
        return BY_VM;
    if ((*jvmti)->GetBytecodes(jvmti, caller->method, &count, &code) != JVMTI_ERROR_NONE)
        return BY_JAVA;
    enum maker maker =
        caller->location < count && code[caller->location] != INVOKESPECIAL ? BY_VM : BY_JAVA;
    (*jvmti)->Deallocate(jvmti, code);
    return maker;
}

static enum maker who_calls(JNIEnv *jni, const jvmtiFrameInfo *caller)
{
    static struct verdicts known;
    uint64_t hash = hash_of(caller->method, (uint64_t) caller->location + 2);
    bool by_java;
    if (!recall(&known, hash, &by_java))
        keep(&known, hash, by_java = ask_who_calls(jni, caller) == BY_JAVA);
    return by_java ? BY_JAVA : BY_VM;
}

/* The innermost frames are the probe's and that of Throwable(String). */
static enum maker find_maker(JNIEnv *jni)
{
    jvmtiFrameInfo frames[FRAMES];
    jint count = 0;
    if ((*tracer.jvmti)->GetStackTrace(tracer.jvmti, NULL, 2, FRAMES, frames, &count) !=
        JVMTI_ERROR_NONE)
        return BY_JAVA;
    for (jint i = 0; i < count; i++)
        if (!is_constructor(jni, frames[i].method))
            return who_calls(jni, &frames[i]);
    return BY_JAVA;
}

void throwable_named(struct session *session, struct os_thread *os, JNIEnv *jni, jobject message)
{
    if (message == NULL || (session->options.events & EVENT_ALLOC) == 0 ||
        object_is_recent(os, message))
        return;
    if (find_maker(jni) == BY_VM)
        object_made_string(session, os, jni, message);
    else
        object_note_recent(os, message);
}
