/* SPDX-License-Identifier: Apache-2.0 */
/* VMObjectAlloc with engine=bytecode. The VM reports an object when the native method that created
 * it is about to return. The method's name decides whether Java code reports it as well. */
#include "agent/bytecode/vm_objects.h"

#include <string.h>

#include "agent/base/exceptions.h"
#include "agent/base/jvm_classes.h"
#include "agent/base/method_verdicts.h"
#include "agent/deaths/identity.h"
#include "agent/events/events.h"
#include "agent/records/classes.h"
#include "agent/records/threads.h"

#define KNOWN_METHODS 64u

/* Number of frames above the native method up to the code that would call the probe. */
static const struct rule {
    const char *name;
    jint caller;
} rules[] = {
    {"newInstance0", 0}, /* runs a constructor: Object.<init> reports it */
    {"allocateInstance", 0}, {"clone", 1}, {"newArray", 2}, {"multiNewArray", 0},
};

#define RULES (sizeof rules / sizeof rules[0])

#define RULE_BITS 3u
_Static_assert(RULES < 1u << RULE_BITS, "the number of a rule fits");

/* Recently seen native methods: the method, and below it the number of its rule (0: none). Both are
 * in one word, because methods share slots, and threads fill them without a lock. Of two words, a
 * thread could read one method and the rule of another, which another thread has just stored; two
 * threads that store could even leave such a pair for good. An object of that method would then be
 * reported twice, or not at all. Relaxed is enough: a word says everything. */
static _Atomic uint64_t known[KNOWN_METHODS];

/* Returns the number of the method's rule, or 0. */
static uint64_t look_up_rule(jmethodID method)
{
    char *name = NULL;
    uint64_t number = 0;
    if ((*tracer.jvmti)->GetMethodName(tracer.jvmti, method, &name, NULL, NULL) != JVMTI_ERROR_NONE)
        return 0;
    for (size_t i = 0; i < RULES; i++)
        if (strcmp(rules[i].name, name) == 0)
            number = i + 1;
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *) name);
    return number;
}

static const struct rule *rule_of(jmethodID method)
{
    _Atomic uint64_t *slot = &known[method_slot(method, KNOWN_METHODS)];
    uint64_t key = (uint64_t) (uintptr_t) method << RULE_BITS;
    uint64_t word = atomic_load_explicit(slot, memory_order_relaxed);
    if (word >> RULE_BITS != key >> RULE_BITS) {
        word = key | look_up_rule(method);
        atomic_store_explicit(slot, word, memory_order_relaxed);
    }
    uint64_t number = word & ((1u << RULE_BITS) - 1);
    return number != 0 ? &rules[number - 1] : NULL;
}

/* Code of method handles: hidden classes, and those that the JDK has generated before. */
static bool is_no_method_handle(const char *signature)
{
    return strncmp(signature, "Ljava/lang/invoke/", 18) != 0 ||
           (strchr(signature, '.') == NULL && strstr(signature, "$Holder;") == NULL);
}

/* Method handles and reflection call without bytecode of their own, or from bytecode that is not
 * rewritten. */
static bool has_probes(JNIEnv *jni, jmethodID method)
{
    jboolean native = JNI_FALSE;
    return (*tracer.jvmti)->IsMethodNative(tracer.jvmti, method, &native) == JVMTI_ERROR_NONE &&
           !native && method_owner_passes(jni, method, is_no_method_handle);
}

static bool is_reported_by_probe(JNIEnv *jni)
{
    jvmtiFrameInfo frames[3];
    jint count = own_frames(0, 3, frames);
    const struct rule *rule = count != 0 ? rule_of(frames[0].method) : NULL;
    if (rule == NULL)
        return false;
    return rule->caller == 0 ||
           (rule->caller < count && has_probes(jni, frames[rule->caller].method));
}

/* An array that Java code created, with its probe, below a native method: the VM reports some of
 * these like its own. If objects are not recognised this way, they have tags (vm_natives.c). */
static bool vm_objects_is_known(JNIEnv *jni, jobject object)
{
    struct os_thread *os;
    struct session *session = probe_enter(&os);
    if (session == NULL)
        return false;
    bool found =
        session->finds_objects && identity_find(session, jni, identity_key(object), object) != 0;
    probe_leave(os);
    return found;
}

bool vm_objects_alloc(JNIEnv *jni, jobject object, jclass class, jlong size_bytes)
{
    if (atomic_load_explicit(&tracer.session, memory_order_relaxed) == NULL ||
        is_reported_by_probe(jni) || vm_objects_is_known(jni, object))
        return false;
    event_alloc(jni, NULL, object, class, size_bytes, ALLOC_BY_VM);
    return true;
}

/* ---- clones: a class has Object's clone() if the method that it finds under that name is declared
 * there ---- */

enum { NOT_KNOWN, OBJECTS, ITS_OWN };

static bool is_object(const char *signature)
{
    return strcmp(signature, "Ljava/lang/Object;") == 0;
}

static bool has_object_clone(JNIEnv *jni, jclass class)
{
    jthrowable of_program = exception_set_aside(jni);
    jmethodID method = (*jni)->GetMethodID(jni, class, "clone", "()Ljava/lang/Object;");
    exception_restore(jni, of_program, method == NULL, THROWN_BY_LOOKUP);
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
