/* SPDX-License-Identifier: Apache-2.0 */
/* Native methods of Class that create objects and may have the JVM run Java code for that: a class
 * loader, to load what a method's signature names. Until they return, the JVM reports all
 * allocations, its own objects and those of that code, which probes report as well. So meanwhile
 * probes report objects through tags (new_objects.c).
 *
 * Also Unsafe.allocateInstance(), which the JVM reports although the calling code does: detecting
 * that takes longer than the rest. JNI's AllocObject() does the same without a report. */
#include "agent/bytecode/vm_objects.h"

#include <dlfcn.h>
#include <pthread.h>

#include "agent/base/exceptions.h"
#include "agent/base/internals.h"
#include "agent/base/jvm_classes.h"
#include "agent/base/tracer.h"
#include "agent/bytecode/plain_calls.h"
#include "agent/records/threads.h"

typedef jobject(JNICALL list_function)(JNIEnv *, jclass);
typedef jobject(JNICALL choice_function)(JNIEnv *, jclass, jboolean);

/* Returns NULL if there is no session, or if it compares objects with known ones, or does not need
 * to. The depth is in the thread, not in a global: class loaders run in parallel. `checked` is
 * cleared, so this thread's probes look at tags until the native method returns;
 * may_be_reported_twice() sets it again afterwards. */
static struct os_thread *vm_natives_enter(void)
{
    struct os_thread *os;
    struct session *session = probe_enter(&os);
    if (session == NULL)
        return NULL;
    bool compares = session->finds_objects || !internal_is_allowed(INTERNAL_REFLECT);
    if (!compares) {
        os->bytecode.vm_natives++;
        os->events.checked = 0;
    }
    probe_leave(os);
    return compares ? NULL : os;
}

/* enumerator, name of the method, of the JVM's function, result; methods that can be restricted to
 * public members, then the others */
#define CHOICE_NATIVES(X)                                                                          \
    X(FIELDS, "getDeclaredFields0", "JVM_GetClassDeclaredFields", "[Ljava/lang/reflect/Field;")    \
    X(METHODS, "getDeclaredMethods0", "JVM_GetClassDeclaredMethods",                               \
      "[Ljava/lang/reflect/Method;")                                                               \
    X(CONSTRUCTORS, "getDeclaredConstructors0", "JVM_GetClassDeclaredConstructors",                \
      "[Ljava/lang/reflect/Constructor;")
#define LIST_NATIVES(X)                                                                            \
    X(CLASSES, "getDeclaredClasses0", "JVM_GetDeclaredClasses", "[Ljava/lang/Class;")              \
    X(NEST, "getNestMembers0", "JVM_GetNestMembers", "[Ljava/lang/Class;")                         \
    X(COMPONENTS, "getRecordComponents0", "JVM_GetRecordComponents",                               \
      "[Ljava/lang/reflect/RecordComponent;")                                                      \
    X(SUBCLASSES, "getPermittedSubclasses0", "JVM_GetPermittedSubclasses", "[Ljava/lang/Class;")   \
    X(ENCLOSING, "getEnclosingMethod0", "JVM_GetEnclosingMethodInfo", "[Ljava/lang/Object;")

enum native_number {
#define ENUMERATOR(number, name, symbol, result) NATIVE_##number,
    CHOICE_NATIVES(ENUMERATOR) LIST_NATIVES(ENUMERATOR)
#undef ENUMERATOR
        NATIVE_COUNT
};

union native_function {
    void *address;
    list_function *list;
    choice_function *choice;
};

/* The JVM's functions. */
static union native_function originals[NATIVE_COUNT];

#define DEFINE_CHOICE(number, name, symbol, result)                                                \
    static jobject JNICALL on_##number(JNIEnv *jni, jclass class, jboolean of_public)              \
    {                                                                                              \
        struct os_thread *os = vm_natives_enter();                                                 \
        jobject members = originals[NATIVE_##number].choice(jni, class, of_public);                \
        if (os != NULL)                                                                            \
            os->bytecode.vm_natives--;                                                             \
        return members;                                                                            \
    }
#define DEFINE_LIST(number, name, symbol, result)                                                  \
    static jobject JNICALL on_##number(JNIEnv *jni, jclass class)                                  \
    {                                                                                              \
        struct os_thread *os = vm_natives_enter();                                                 \
        jobject members = originals[NATIVE_##number].list(jni, class);                             \
        if (os != NULL)                                                                            \
            os->bytecode.vm_natives--;                                                             \
        return members;                                                                            \
    }
CHOICE_NATIVES(DEFINE_CHOICE)
LIST_NATIVES(DEFINE_LIST)
#undef DEFINE_CHOICE
#undef DEFINE_LIST

/* JNI's table has texts that are not const. */
static struct native {
    const char *symbol;
    char name[32], descriptor[64];
    union native_function ours;
} natives[NATIVE_COUNT] = {
#define CHOICE_ROW(number, name, symbol, result)                                                   \
    [NATIVE_##number] = {symbol, name, "(Z)" result, {.choice = on_##number}},
#define LIST_ROW(number, name, symbol, result)                                                     \
    [NATIVE_##number] = {symbol, name, "()" result, {.list = on_##number}},
    CHOICE_NATIVES(CHOICE_ROW) LIST_NATIVES(LIST_ROW)
#undef CHOICE_ROW
#undef LIST_ROW
};

bool natives_replace(JNIEnv *jni, jclass class, const JNINativeMethod *method, void *library,
                     const char *symbol, void **original)
{
    *original = dlsym(library, symbol);
    return *original != NULL && class != NULL && natives_register(jni, class, method, 1);
}

static jobject JNICALL allocate_instance(JNIEnv *jni, jobject unsafe, jclass class)
{
    (void) unsafe;
    return plain_object(jni, class);
}

static bool intercept_unsafe(JNIEnv *jni)
{
    static char name[] = "allocateInstance", descriptor[] = "(Ljava/lang/Class;)Ljava/lang/Object;";
    const JNINativeMethod method = {name, descriptor, (void *) (uintptr_t) allocate_instance};
    jclass class = class_find(jni, "jdk/internal/misc/Unsafe");
    bool done = class != NULL && natives_register(jni, class, &method, 1);
    (*jni)->DeleteLocalRef(jni, class);
    return done;
}

void vm_natives_intercept(JNIEnv *jni)
{
    static bool done;
    if (!internal_is_allowed(INTERNAL_REFLECT))
        return;
    void *library = done ? NULL : dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD);
    jclass class = library != NULL ? class_find(jni, "java/lang/Class") : NULL;
    for (size_t i = 0; i < NATIVE_COUNT && class != NULL; i++)
        done |= natives_replace(
            jni, class,
            &(JNINativeMethod){natives[i].name, natives[i].descriptor, natives[i].ours.address},
            library, natives[i].symbol, &originals[i].address);
    if (class != NULL)
        done |= intercept_unsafe(jni);
    internal_settled(INTERNAL_REFLECT, done ? NULL : "the JVM has no such functions");
    (*jni)->DeleteLocalRef(jni, class);
}

/* ---- natives of the boot loader's classes, registered without the JVM's warning ---- */

/* The JVM warns, on stdout, when native methods of its own class are registered by code that none
 * of its own classes has called. So the probes' class calls a native method of the JDK, which calls
 * JNI's GetStringLength(), which is replaced by a function of the agent for that moment. */
static struct {
    jclass probes; /* global reference */
    jclass class;
    const JNINativeMethod *methods;
    jint count;
    pthread_t thread;
    bool wanted, registered;
} linking;

static void register_now(JNIEnv *jni)
{
    if (!pthread_equal(linking.thread, pthread_self()) || !linking.wanted)
        return;
    linking.wanted = false;
    linking.registered =
        (*jni)->RegisterNatives(jni, linking.class, linking.methods, linking.count) == JNI_OK;
}

static void call_link(JNIEnv *jni)
{
    jmethodID link =
        (*jni)->GetStaticMethodID(jni, linking.probes, "link", "(Ljava/lang/String;)V");
    jstring name = (*jni)->NewStringUTF(jni, "probe");
    linking.thread = pthread_self();
    linking.wanted = true;
    if (link != NULL && name != NULL && jni_calls_link(register_now)) {
        (*jni)->CallStaticVoidMethod(jni, linking.probes, link, name);
        jni_calls_link(NULL);
    }
    (*jni)->DeleteLocalRef(jni, name);
}

static bool register_quietly(JNIEnv *jni)
{
    linking.registered = false;
    jthrowable of_program = exception_set_aside(jni);
    call_link(jni);
    exception_restore(jni, of_program, !linking.registered, THROWN_BY_JAVA);
    return linking.registered;
}

static bool register_aloud(JNIEnv *jni)
{
    jthrowable of_program = exception_set_aside(jni);
    bool done =
        (*jni)->RegisterNatives(jni, linking.class, linking.methods, linking.count) == JNI_OK;
    exception_restore(jni, of_program, !done, THROWN_BY_LOOKUP);
    return done;
}

void natives_link_by(jclass probes)
{
    linking.probes = probes;
}

bool natives_register(JNIEnv *jni, jclass class, const JNINativeMethod *methods, jint count)
{
    linking.class = class;
    linking.methods = methods;
    linking.count = count;
    return register_quietly(jni) || register_aloud(jni);
}
