/* SPDX-License-Identifier: Apache-2.0 */
/*
 * VMObjectAlloc with engine=bytecode.  The VM tells of an object when the native method that made it
 * is about to return.  Which of them Java code tells of too goes by that method's name.
 */
#include "vm_objects.h"

#include <string.h>

#include "probes.h"
#include "threads.h"

#define KNOWN_METHODS 64u

enum told_by { TOLD_BY_VM, TOLD_BY_PROBE, TOLD_BY_PROBE_IF_ARRAY };

static const struct {
    const char *name;
    enum told_by told;
} rules[] = {
    {"newInstance0", TOLD_BY_PROBE}, /* of a constructor: Object.<init> */
    {"clone", TOLD_BY_PROBE_IF_ARRAY},
    {"newArray", TOLD_BY_PROBE},
    {"multiNewArray", TOLD_BY_PROBE},
    {"allocateInstance", TOLD_BY_PROBE},
};

/* Native methods seen lately, in no order; a slot is written whole before its key. */
static struct {
    _Atomic(jmethodID) method;
    _Atomic int told;
} known[KNOWN_METHODS];

static enum told_by rule_of(jmethodID method)
{
    char *name = NULL;
    enum told_by told = TOLD_BY_VM;
    if ((*tracer.jvmti)->GetMethodName(tracer.jvmti, method, &name, NULL, NULL) != JVMTI_ERROR_NONE)
        return told;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (strcmp(rules[i].name, name) == 0)
            told = rules[i].told;
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *) name);
    return told;
}

static enum told_by told_by(void)
{
    jmethodID method = NULL;
    jlocation location;
    if ((*tracer.jvmti)->GetFrameLocation(tracer.jvmti, NULL, 0, &method, &location) !=
        JVMTI_ERROR_NONE)
        return TOLD_BY_VM;
    size_t slot = ((uintptr_t) method >> 3) % KNOWN_METHODS;
    if (atomic_load(&known[slot].method) == method)
        return (enum told_by) atomic_load(&known[slot].told);
    enum told_by told = rule_of(method);
    atomic_store(&known[slot].method, NULL);
    atomic_store(&known[slot].told, (int) told);
    atomic_store(&known[slot].method, method);
    return told;
}

static bool is_array(jclass class)
{
    jboolean array = JNI_FALSE;
    return (*tracer.jvmti)->IsArrayClass(tracer.jvmti, class, &array) == JVMTI_ERROR_NONE && array;
}

void JNICALL vm_objects_on_alloc(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object,
                                 jclass class, jlong size_bytes)
{
    (void) jvmti, (void) thread;
    if (atomic_load_explicit(&tracer.session, memory_order_relaxed) == NULL)
        return;
    enum told_by told = told_by();
    if (told == TOLD_BY_PROBE || (told == TOLD_BY_PROBE_IF_ARRAY && is_array(class)))
        return;
    probe_alloc(jni, NULL, object, class, size_bytes, ALLOC_BY_VM);
}
