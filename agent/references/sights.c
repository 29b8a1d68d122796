/* SPDX-License-Identifier: Apache-2.0 */
/* Defines the class that calls Unsafe.copyMemory0(), a private method: a hidden class in Unsafe's
 * nest. */
#include "agent/references/sights.h"

#include <stdlib.h>

#include "agent/base/exceptions.h"
#include "agent/base/internals.h"
#include "agent/hotspot/compilations.h"
#include "agent/hotspot/headers.h"
#include "agent/hotspot/routines.h"
#include "agent/hotspot/slots.h"
#include "agent/hotspot/vm_structs.h"
#include "agent/records/hold.h"
#include "agent/rewriter/rewrite.h"

#define NEST_HIDDEN_STRONG 7 /* MethodHandleNatives.Constants: NESTMATE, HIDDEN, STRONG_LOADER */
#define ATTEMPTS 8           /* objects may move */
#define SHOWN_NUMBER 5
#define SHOWN_TO_ACTION (~UINT64_C(0)) /* a number that no probe has */
#define PROOF_LOOPS 1000

typedef jclass(JNICALL *define_function)(JNIEnv *, jclass, const char *, const jbyte *, jsize,
                                         jobject, jboolean, jint, jobject);
typedef void (*copy_function)(const void *, void *, size_t);

static struct {
    struct routine routine;
    define_function define;
    jobject made; /* a global reference; it shows objects to actions */
    jmethodID show;
    _Atomic bool on;     /* threads store what they are shown */
    const char *refused; /* why sights are not used; NULL: the test passed */
} sights = {.routine = {.names = {"unsafe_arraycopy"}}, .refused = "the probes' class is without"};

/* The object and number that the self-test was shown, on one thread. */
static struct {
    pthread_t thread;
    _Atomic bool runs;
    uint64_t calls;
    struct sight sight;
} proof;

/* Stores what the thread is shown. Nothing moves while this runs, so address and count of
 * collections belong together. The stores are volatile and in this order, with the address last:
 * only this thread reads them, in its next leaf call, and a sight without an address is none. */
static inline void see(struct sight *sight, uintptr_t place, uint64_t with)
{
    *(volatile uint64_t *) &sight->with = with;
    *(volatile uint64_t *) &sight->collections = collections_seen();
    *(volatile uintptr_t *) &sight->place = place;
}

__attribute__((cold, noinline)) static void see_for_proof(uintptr_t place, uint64_t with)
{
    if (!pthread_equal(proof.thread, pthread_self()))
        return;
    see(&proof.sight, place, with);
    proof.calls++;
}

__attribute__((cold, noinline)) static void act(struct os_thread *os, uintptr_t place)
{
    hold_action *action = os->references.shown;
    os->references.shown = NULL;
    if (action != NULL)
        action(place, os->references.shown_context);
}

/* Replaces Unsafe.copyMemory0()'s routine. Uses no vector registers: see leaf_calls.c. A copy of
 * zero bytes is a probe's: Unsafe.copyMemory() returns before it would copy nothing, so the
 * program's calls have a size. The address where to copy to is the number; nothing is stored
 * there. */
static void on_copy(const void *from, void *to, size_t size)
{
    if (__builtin_expect(size != 0, 0)) {
        ((copy_function) sights.routine.address)(from, to, size);
        return;
    }
    struct os_thread *os = thread_self;
    if (__builtin_expect(os != NULL && (uintptr_t) to == SHOWN_TO_ACTION, 0))
        act(os, (uintptr_t) from);
    else if (__builtin_expect(os != NULL && atomic_load_explicit(&sights.on, memory_order_relaxed),
                              1))
        see(&os->references.sight, (uintptr_t) from, (uintptr_t) to);
    else if (atomic_load_explicit(&proof.runs, memory_order_relaxed))
        see_for_proof((uintptr_t) from, (uintptr_t) to);
}

bool sights_possible(void)
{
    if (!internal_is_allowed(INTERNAL_SIGHT))
        return false;
    void *symbol = vm_exported("JVM_LookupDefineClass");
    sights.define = (define_function) (uintptr_t) symbol;
    if (!atomic_load(&slots_readable))
        sights.refused = "slots are not read";
    else if (!collector_works_in_pauses())
        sights.refused = "not with this collector";
    else if (symbol == NULL)
        sights.refused = "the JVM defines no hidden classes for others";
    else if (!routine_find(&sights.routine))
        sights.refused = "the JVM does not publish its routine, or where it is stored";
    else
        return true;
    return false;
}

static jclass sights_define_class(JNIEnv *jni)
{
    size_t size = 0;
    uint8_t *bytes = sight_class_file(&size);
    jclass host = (*jni)->FindClass(jni, SIGHT_HOST), class = NULL;
    if (bytes != NULL && host != NULL)
        class = sights.define(jni, host, SIGHT_CLASS, (const jbyte *) bytes, (jsize) size, NULL,
                              JNI_TRUE, NEST_HIDDEN_STRONG, NULL);
    free(bytes);
    (*jni)->DeleteLocalRef(jni, host);
    return class;
}

/* Returns true if the shown object arrived, once and with its number. It may move before its
 * address is compared: `*same`. A handle in place of the address, or the address of another word of
 * the object, is never the same, so the callers want most calls to be. */
static bool arrives_once(JNIEnv *jni, jobject sight, jmethodID show, jobject object, bool *same)
{
    uint64_t calls = proof.calls, with = SHOWN_NUMBER + calls;
    (*jni)->CallVoidMethod(jni, sight, show, object, (jlong) with);
    *same = proof.sight.place == slot_word(object);
    return !(*jni)->ExceptionCheck(jni) && proof.calls == calls + 1 && proof.sight.with == with;
}

/* Tests the native method, which the interpreter calls. */
static bool arrives(JNIEnv *jni, jobject sight, jmethodID show, jobject object)
{
    bool same = false;
    for (int i = 0; i < ATTEMPTS && !same; i++)
        if (!arrives_once(jni, sight, show, object, &same))
            return false;
    return same;
}

struct show_calls {
    JNIEnv *jni;
    jobject sight, object;
    jmethodID show;
    int moved;
};

static bool arrive(void *context)
{
    struct show_calls *calls = context;
    for (int call = 0; call < PROOF_LOOPS; call++) {
        bool same = false;
        if (!arrives_once(calls->jni, calls->sight, calls->show, calls->object, &same))
            return false;
        calls->moved += !same;
    }
    return true;
}

/* Tests all code of the method: interpreted, by C1, and by C2, which calls the routine itself. */
static bool arrives_compiled(JNIEnv *jni, jobject sight, jmethodID show, jobject object)
{
    struct show_calls calls = {jni, sight, object, show, 0};
    return compilations_prove(&show, 1, arrive, &calls) > 0 && calls.moved < ATTEMPTS;
}

static bool is_proven(JNIEnv *jni, jobject sight, jmethodID show)
{
    jbyteArray object = (*jni)->NewByteArray(jni, 0);
    proof.thread = pthread_self();
    atomic_store(&proof.runs, true);
    bool proven = object != NULL && arrives(jni, sight, show, object) &&
                  (!internals_are_to_be_proven() || arrives_compiled(jni, sight, show, object));
    atomic_store(&proof.runs, false);
    (*jni)->DeleteLocalRef(jni, object);
    return proven;
}

static bool make(JNIEnv *jni, jclass probes)
{
    jthrowable of_program = exception_set_aside(jni);
    jclass class = sights_define_class(jni);
    jmethodID show =
        class != NULL ? (*jni)->GetMethodID(jni, class, SIGHT_METHOD, SIGHT_DESCRIPTOR) : NULL;
    jobject sight = show != NULL ? (*jni)->AllocObject(jni, class) : NULL;
    jfieldID field = sight != NULL ? (*jni)->GetStaticFieldID(jni, probes, PROBE_SIGHT_FIELD,
                                                              "L" PROBE_CLASS ";")
                                   : NULL;
    bool made = field != NULL && is_proven(jni, sight, show);
    if (made) {
        (*jni)->SetStaticObjectField(jni, probes, field, sight);
        sights.show = show;
        sights.made = (*jni)->NewGlobalRef(jni, sight);
    }
    exception_restore(jni, of_program, !made, THROWN_BY_JAVA);
    (*jni)->DeleteLocalRef(jni, sight);
    (*jni)->DeleteLocalRef(jni, class);
    return made;
}

/* Returns false if the object did not arrive. An action that has not run must not run later. */
static bool sights_act(struct os_thread *os, JNIEnv *jni, jobject object, hold_action *action,
                       void *context)
{
    jthrowable of_program = exception_set_aside(jni);
    os->references.shown_context = context;
    os->references.shown = action;
    (*jni)->CallVoidMethod(jni, sights.made, sights.show, object, (jlong) SHOWN_TO_ACTION);
    bool done = os->references.shown == NULL;
    os->references.shown = NULL;
    exception_restore(jni, of_program, !done, THROWN_BY_JAVA);
    return done;
}

/* The routine stays replaced: no probe may exist whose show() calls the JVM's routine and whose
 * Math.tan() calls the agent's. Compiled code contains the addresses of the moment of its
 * compilation. If both routines were switched with each session, code that was compiled in between
 * would call the agent's tan() without having shown its object, and a sight that was left over
 * could be taken for it. A probe that never shows (no field) calls its native method instead. */
void sights_make(JNIEnv *jni, jclass probes)
{
    atomic_store(&sights.on, false);
    routine_replace(&sights.routine, (uintptr_t) on_copy);
    if (make(jni, probes)) {
        sights.refused = NULL;
        holds_set_leaf(sights.made != NULL ? sights_act : NULL);
    } else {
        sights.refused = "shown objects do not arrive";
        routine_replace(&sights.routine, 0);
    }
}

void sights_end(void)
{
    atomic_store(&sights.on, false);
    holds_set_leaf(NULL);
    routine_replace(&sights.routine, 0);
}

void sights_use(bool wanted)
{
    bool on = wanted && internal_is_allowed(INTERNAL_SIGHT);
    if (on)
        internal_settled(INTERNAL_SIGHT, sights.refused);
    atomic_store(&sights.on, on && sights.refused == NULL);
}
