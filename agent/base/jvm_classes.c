/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the JVM. */
#include "agent/base/jvm_classes.h"

#include <string.h>

#include "agent/base/exceptions.h"
#include "agent/base/java_versions.h"
#include "agent/base/own_share.h"
#include "agent/base/tracer.h"

#define ACCESS_STATIC 0x0008

void jvm_free(void *memory)
{
    if (memory != NULL)
        (*tracer.jvmti)->Deallocate(tracer.jvmti, memory);
}

JNIEnv *jvm_jni(void)
{
    JNIEnv *jni = NULL;
    return (*tracer.vm)->GetEnv(tracer.vm, (void **) &jni, JNI_VERSION_1_8) == JNI_OK ? jni : NULL;
}

jthread jvm_thread(void)
{
    jthread thread = NULL;
    return (*tracer.jvmti)->GetCurrentThread(tracer.jvmti, &thread) == JVMTI_ERROR_NONE ? thread
                                                                                        : NULL;
}

char *jvm_property(const char *name)
{
    char *value = NULL;
    return (*tracer.jvmti)->GetSystemProperty(tracer.jvmti, name, &value) == JVMTI_ERROR_NONE
               ? value
               : NULL;
}

bool jvm_property_has(const char *name, const char *word)
{
    char *text = jvm_property(name);
    bool has = text != NULL && strstr(text, word) != NULL;
    jvm_free(text);
    return has;
}

bool jvm_add_capabilities(const jvmtiCapabilities *wanted)
{
    return (*tracer.jvmti)->AddCapabilities(tracer.jvmti, wanted) == JVMTI_ERROR_NONE;
}

jlong jvm_tag(jobject object)
{
    jlong tag = 0;
    return (*tracer.jvmti)->GetTag(tracer.jvmti, object, &tag) == JVMTI_ERROR_NONE ? tag : 0;
}

jclass class_find(JNIEnv *jni, const char *name)
{
    jthrowable of_program = exception_set_aside(jni);
    jclass class = (*jni)->FindClass(jni, name);
    exception_restore(jni, of_program, class == NULL, THROWN_BY_LOOKUP);
    return class;
}

jweak object_weakly(JNIEnv *jni, jobject object)
{
    jthrowable of_program = exception_set_aside(jni);
    jweak reference = (*jni)->NewWeakGlobalRef(jni, object);
    exception_restore(jni, of_program, reference == NULL, THROWN_BY_ALLOCATION);
    return reference;
}

jfieldID class_field_once(JNIEnv *jni, _Atomic(jfieldID) *known, const char *class_name,
                          const char *name, const char *descriptor)
{
    jfieldID field = atomic_load(known);
    if (field != NULL)
        return field;
    jthrowable of_program = exception_set_aside(jni);
    jclass class = (*jni)->FindClass(jni, class_name);
    field = class != NULL ? (*jni)->GetFieldID(jni, class, name, descriptor) : NULL;
    exception_restore(jni, of_program, field == NULL, THROWN_BY_LOOKUP);
    (*jni)->DeleteLocalRef(jni, class);
    atomic_store(known, field);
    return field;
}

jclass class_go_up(JNIEnv *jni, jclass class)
{
    jclass super = (*jni)->GetSuperclass(jni, class);
    (*jni)->DeleteLocalRef(jni, class);
    return super;
}

jint class_status(jclass class)
{
    jint status = 0;
    return (*tracer.jvmti)->GetClassStatus(tracer.jvmti, class, &status) == JVMTI_ERROR_NONE
               ? status
               : 0;
}

bool references_allow(JNIEnv *jni)
{
    bool room = (*jni)->EnsureLocalCapacity(jni, MOST_REFERENCES) == JNI_OK;
    exception_restore(jni, NULL, !room, THROWN_BY_ALLOCATION);
    return room;
}

bool classes_loaded(JNIEnv *jni, jclass **classes, jint *count)
{
    jthrowable of_program = exception_set_aside(jni);
    bool room = references_allow(jni);
    exception_restore(jni, of_program, false, THROWN_BY_NOTHING);
    return room &&
           (*tracer.jvmti)->GetLoadedClasses(tracer.jvmti, count, classes) == JVMTI_ERROR_NONE;
}

bool references_begin(JNIEnv *jni, jint most)
{
    bool begun = (*jni)->PushLocalFrame(jni, most) == JNI_OK; /* may be called with an exception */
    exception_restore(jni, NULL, !begun, THROWN_BY_ALLOCATION);
    return begun;
}

bool class_each_loaded(JNIEnv *jni, loaded_class_visitor *visit, void *context)
{
    jint count = 0;
    jclass *classes = NULL;
    if (!classes_loaded(jni, &classes, &count))
        return false;
    for (jint i = 0; i < count; i++) {
        visit(context, jni, classes[i]);
        (*jni)->DeleteLocalRef(jni, classes[i]);
    }
    jvm_free(classes);
    return true;
}

char *class_signature(jclass class)
{
    char *signature = NULL;
    return (*tracer.jvmti)->GetClassSignature(tracer.jvmti, class, &signature, NULL) ==
                   JVMTI_ERROR_NONE
               ? signature
               : NULL;
}

bool class_passes(jclass class, bool (*test)(const char *signature))
{
    char *signature = class_signature(class);
    bool passes = signature != NULL && test(signature);
    jvm_free(signature);
    return passes;
}

jclass method_owner(jmethodID method)
{
    jclass owner = NULL;
    return (*tracer.jvmti)->GetMethodDeclaringClass(tracer.jvmti, method, &owner) ==
                   JVMTI_ERROR_NONE
               ? owner
               : NULL;
}

bool method_is_constructor(jmethodID method)
{
    char *name = NULL;
    if ((*tracer.jvmti)->GetMethodName(tracer.jvmti, method, &name, NULL, NULL) != JVMTI_ERROR_NONE)
        return false;
    bool is = strcmp(name, "<init>") == 0;
    jvm_free(name);
    return is;
}

bool method_owner_passes(JNIEnv *jni, jmethodID method, bool (*test)(const char *signature))
{
    jclass owner = method_owner(method);
    bool passes = owner != NULL && class_passes(owner, test);
    (*jni)->DeleteLocalRef(jni, owner);
    return passes;
}

static bool jvm_classes_describe(jclass class, struct class_field *field)
{
    jvmtiEnv *jvmti = tracer.jvmti;
    if ((*jvmti)->GetFieldName(jvmti, class, field->id, &field->name, &field->descriptor, NULL) !=
            JVMTI_ERROR_NONE ||
        (*jvmti)->GetFieldModifiers(jvmti, class, field->id, &field->modifiers) != JVMTI_ERROR_NONE)
        return false;
    field->is_static = (field->modifiers & ACCESS_STATIC) != 0;
    field->is_reference = field->descriptor[0] == 'L' || field->descriptor[0] == '[';
    return true;
}

bool class_each_field(jclass class, class_field_visitor *visit, void *context)
{
    jint count = 0;
    jfieldID *fields = NULL;
    if ((*tracer.jvmti)->GetClassFields(tracer.jvmti, class, &count, &fields) != JVMTI_ERROR_NONE)
        return false;
    bool all = true, goes_on = true;
    for (jint i = 0; i < count && goes_on; i++) {
        struct class_field field = {.id = fields[i]};
        bool known = jvm_classes_describe(class, &field);
        goes_on = !known || visit(context, class, &field);
        all = all && known && goes_on;
        jvm_free(field.name);
        jvm_free(field.descriptor);
    }
    jvm_free(fields);
    return all;
}

void heap_each_object(jint filter, jclass class, jvmtiHeapIterationCallback callback, void *context)
{
    jvmtiHeapCallbacks callbacks;
    memset(&callbacks, 0, sizeof callbacks);
    callbacks.heap_iteration_callback = callback;
    struct own_call call = own_share_calls();
    (*tracer.jvmti)->IterateThroughHeap(tracer.jvmti, filter, class, &callbacks, context);
    own_share_called(OWN_STOP_HEAP, &call);
}

struct standing {
    void (*act)(void *context);
    void *context;
    bool has_acted;
};

static jint JNICALL on_first_root(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info,
                                  jlong class_tag, jlong referrer_class_tag, jlong size, jlong *tag,
                                  jlong *referrer_tag, jint length, void *user)
{
    struct standing *standing = user;
    (void) kind, (void) info, (void) class_tag, (void) referrer_class_tag, (void) size;
    (void) tag, (void) referrer_tag, (void) length;
    if (!standing->has_acted)
        standing->act(standing->context);
    standing->has_acted = true;
    return JVMTI_VISIT_ABORT;
}

/* JVMTI follows references only while the program stands still. With an object to begin at, JDK 17
 * would go over the whole heap in the end, to take marks away; at the roots it has made none. */
bool heap_stand_still(void (*act)(void *context), void *context)
{
    static const jvmtiHeapCallbacks callbacks = {.heap_reference_callback = on_first_root};
    struct standing standing = {.act = act, .context = context};
    struct own_call call = own_share_calls();
    jvmtiError code =
        (*tracer.jvmti)->FollowReferences(tracer.jvmti, 0, NULL, NULL, &callbacks, &standing);
    own_share_called(OWN_STOP_HEAP, &call);
    return code == JVMTI_ERROR_NONE && standing.has_acted;
}

bool heap_collect(uint64_t *took_ns)
{
    uint64_t from_ns = clock_monotonic_ns();
    bool done = (*tracer.jvmti)->ForceGarbageCollection(tracer.jvmti) == JVMTI_ERROR_NONE;
    *took_ns = clock_monotonic_ns() - from_ns;
    own_share_stopped(OWN_STOP_FORCED, *took_ns);
    return done;
}

/* ---- the calling thread's own frames ---- */

/* Returns false if the JVM does not know the thread. */
static bool jvm_classes_begin(jthread *own)
{
    *own = NULL;
    if (tracer.java_major < JAVA_CONTINUATIONS || tracer.java_major >= JAVA_OWN_FRAMES_AT_ONCE)
        return true;
    *own = jvm_jni() != NULL ? jvm_thread() : NULL;
    return *own != NULL;
}

static void jvm_classes_end(jthread own)
{
    JNIEnv *jni = own != NULL ? jvm_jni() : NULL;
    if (jni != NULL)
        (*jni)->DeleteLocalRef(jni, own);
}

jint own_frames(jint first, jint most, jvmtiFrameInfo *frames)
{
    jthread own;
    jint count = 0;
    if (jvm_classes_begin(&own) &&
        (*tracer.jvmti)->GetStackTrace(tracer.jvmti, own, first, most, frames, &count) !=
            JVMTI_ERROR_NONE)
        count = 0;
    jvm_classes_end(own);
    return count;
}

jmethodID own_frame_method(jint depth)
{
    jthread own;
    jmethodID method = NULL;
    jlocation location;
    if (jvm_classes_begin(&own) &&
        (*tracer.jvmti)->GetFrameLocation(tracer.jvmti, own, depth, &method, &location) !=
            JVMTI_ERROR_NONE)
        method = NULL;
    jvm_classes_end(own);
    return method;
}

jobject own_frame_object(void)
{
    jthread own;
    jobject object = NULL;
    if (jvm_classes_begin(&own) &&
        (*tracer.jvmti)->GetLocalInstance(tracer.jvmti, own, 0, &object) != JVMTI_ERROR_NONE)
        object = NULL;
    jvm_classes_end(own);
    return object;
}

jobject loader_of_platform(JNIEnv *jni)
{
    static _Atomic(jobject) platform;
    if (atomic_load(&platform) == NULL) {
        jthrowable of_program = exception_set_aside(jni);
        jclass class = class_find(jni, "java/lang/ClassLoader");
        jmethodID get = class != NULL
                            ? (*jni)->GetStaticMethodID(jni, class, "getPlatformClassLoader",
                                                        "()Ljava/lang/ClassLoader;")
                            : NULL;
        jobject found = get != NULL ? (*jni)->CallStaticObjectMethod(jni, class, get) : NULL;
        exception_restore(jni, of_program, found == NULL, THROWN_BY_JAVA);
        if (found != NULL)
            atomic_store(&platform, (*jni)->NewGlobalRef(jni, found));
        (*jni)->DeleteLocalRef(jni, found);
        (*jni)->DeleteLocalRef(jni, class);
    }
    return atomic_load(&platform);
}

uint64_t heap_used_bytes(JNIEnv *jni)
{
    int64_t total = 0, unused = 0;
    jthrowable of_program = exception_set_aside(jni);
    jclass class = (*jni)->FindClass(jni, "java/lang/Runtime");
    jmethodID get = class == NULL ? NULL
                                  : (*jni)->GetStaticMethodID(jni, class, "getRuntime",
                                                              "()Ljava/lang/Runtime;");
    jmethodID all = get == NULL ? NULL : (*jni)->GetMethodID(jni, class, "totalMemory", "()J");
    jmethodID left = all == NULL ? NULL : (*jni)->GetMethodID(jni, class, "freeMemory", "()J");
    jobject runtime = left == NULL ? NULL : (*jni)->CallStaticObjectMethod(jni, class, get);
    if (runtime != NULL && !(*jni)->ExceptionCheck(jni))
        total = (*jni)->CallLongMethod(jni, runtime, all);
    if (runtime != NULL && !(*jni)->ExceptionCheck(jni))
        unused = (*jni)->CallLongMethod(jni, runtime, left);
    exception_restore(jni, of_program, runtime == NULL, THROWN_BY_LOOKUP);
    (*jni)->DeleteLocalRef(jni, runtime);
    (*jni)->DeleteLocalRef(jni, class);
    return total > unused ? (uint64_t) (total - unused) : 0;
}
