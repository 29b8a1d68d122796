/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces the routine of ArraysSupport.vectorizedMismatch(). */
#include "agent/bytecode/leaf_allocs.h"

#include <stdlib.h>

#include "agent/base/exceptions.h"
#include "agent/base/internals.h"
#include "agent/bytecode/quick_events.h"
#include "agent/hotspot/routines.h"
#include "agent/references/sights.h"
#include "agent/rewriter/rewrite.h"

#define NOT_RECORDED (-1)

typedef int32_t (*mismatch_function)(const void *one, const void *other, int32_t length,
                                     int32_t scale);

static struct {
    struct routine routine;
    _Atomic bool record;
} mismatch = {.routine = {.names = {"vectorizedMismatch"}}};

static mismatch_function mismatch_at(uintptr_t address)
{
    union {
        uintptr_t address;
        mismatch_function function;
    } both = {address};
    return both.function;
}

/* Nothing moves while this runs. */
static inline __attribute__((always_inline)) int32_t take(uintptr_t place)
{
    struct os_thread *os = thread_self;
    if (__builtin_expect(os == NULL ||
                             !atomic_load_explicit(&mismatch.record, memory_order_relaxed) ||
                             !atomic_load_explicit(&sights_on, memory_order_relaxed),
                         0))
        return NOT_RECORDED;
    sight_see(&os->references.sight, place, 0);
    return made_quickly() ? 0 : NOT_RECORDED;
}

static int32_t on_mismatch_plain(const void *one, const void *other, int32_t length, int32_t scale)
{
    if (__builtin_expect(scale != MISMATCH_SCALE, 0))
        return mismatch_at(mismatch.routine.address)(one, other, length, scale);
    return take((uintptr_t) one);
}

/* Of AVX's encoding, like the code around it: see leaf_calls.c. */
#if defined(__x86_64__)
__attribute__((target("avx"), flatten)) static int32_t on_mismatch_avx(const void *one,
                                                                       const void *other,
                                                                       int32_t length,
                                                                       int32_t scale)
{
    if (__builtin_expect(scale != MISMATCH_SCALE, 0))
        return mismatch_at(mismatch.routine.address)(one, other, length, scale);
    return take((uintptr_t) one);
}

static uintptr_t on_mismatch(void)
{
    return (uintptr_t) (__builtin_cpu_supports("avx") ? on_mismatch_avx : on_mismatch_plain);
}
#else
static uintptr_t on_mismatch(void)
{
    return (uintptr_t) on_mismatch_plain;
}
#endif

static jclass define_tier(JNIEnv *jni)
{
    size_t size = 0;
    uint8_t *bytes = tier_class_file(&size);
    jclass class = NULL;
    if (bytes != NULL)
        class = (*jni)->DefineClass(jni, TIER_CLASS, NULL, (const jbyte *) bytes, (jsize) size);
    free(bytes);
    return class;
}

/* Calls both methods once: they must be there, and say what they say in the interpreter. */
static bool is_as_expected(JNIEnv *jni)
{
    jclass support = (*jni)->FindClass(jni, MISMATCH_CLASS);
    jmethodID compare = support != NULL ? (*jni)->GetStaticMethodID(jni, support, MISMATCH_METHOD,
                                                                    MISMATCH_DESCRIPTOR)
                                        : NULL;
    jclass tier = compare != NULL ? define_tier(jni) : NULL;
    jmethodID is_c2 =
        tier != NULL ? (*jni)->GetStaticMethodID(jni, tier, TIER_METHOD, TIER_DESCRIPTOR) : NULL;
    bool expected = is_c2 != NULL && !(*jni)->CallStaticBooleanMethod(jni, tier, is_c2) &&
                    !(*jni)->ExceptionCheck(jni) &&
                    (*jni)->CallStaticIntMethod(jni, support, compare, NULL, (jlong) 0, NULL,
                                                (jlong) 0, (jint) 0, (jint) MISMATCH_SCALE) < 0 &&
                    !(*jni)->ExceptionCheck(jni);
    (*jni)->DeleteLocalRef(jni, support);
    (*jni)->DeleteLocalRef(jni, tier);
    return expected;
}

/* There is no proof of what C1 does, so this is for the JDKs on which it was tested. */
bool leaf_allocs_possible(JNIEnv *jni)
{
    if (!internal_is_allowed(INTERNAL_SIGHT) || internals_are_to_be_proven() ||
        !routine_find(&mismatch.routine))
        return false;
    jthrowable of_program = exception_set_aside(jni);
    bool possible = is_as_expected(jni);
    exception_restore(jni, of_program);
    return possible;
}

void leaf_allocs_use(bool record)
{
    if (mismatch.routine.variable == NULL)
        return;
    bool on = record && internal_is_allowed(INTERNAL_SIGHT);
    atomic_store(&mismatch.record, on);
    routine_replace(&mismatch.routine, on ? on_mismatch() : 0);
}

void leaf_allocs_end(void)
{
    leaf_allocs_use(false);
}
