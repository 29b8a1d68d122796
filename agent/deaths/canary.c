/* SPDX-License-Identifier: Apache-2.0 */
/* Slots are compared first: the JVM is asked only about references that it can still follow. */
#include "agent/deaths/canary.h"

#include "agent/base/exceptions.h"
#include "agent/base/internals.h"
#include "agent/deaths/recycle.h"
#include "agent/events/engine.h"
#include "capture/log.h"

#define CANARY_BYTES 16

static jbyteArray(JNICALL *new_bytes)(JNIEnv *jni, jsize length); /* JNI's function, without the
                                                                   * agent's reports */

static struct {
    jobject object; /* global reference; NULL: there is none now */
    jweak recycled; /* weak, to the same object; NULL: there was none to recycle */
    uintptr_t place;
    uint64_t collections; /* when `place` was read */
} canary;

void canary_prepare(JNIEnv *jni)
{
    new_bytes = (*jni)->NewByteArray;
}

/* In a hold. Empties a slot with a wrong address, which the collector must not follow. The
 * recycled reference is compared with a strong one, not with a stored address: the collector
 * updates the strong one in any case, so a difference means that it does not treat the other as a
 * reference. The stored address is compared only if collections_seen() is the same. */
static void compare_slots(uintptr_t place, void *fault_out)
{
    const char **fault = fault_out;
    if (canary.recycled != NULL && slot_word(canary.recycled) != place) {
        slot_set(canary.recycled, 0);
        *fault = "a reference that was used again has lost its object";
    } else if (place != canary.place && canary.collections == collections_seen())
        *fault = "an object moved in a pause that was not announced";
}

/* Returns NULL if all is as it should be, or cannot be checked now. */
static const char *find_fault(struct os_thread *os, JNIEnv *jni)
{
    const char *fault = NULL;
    if (canary.object == NULL || !hold_with(os, jni, canary.object, compare_slots, &fault))
        return NULL;
    if (fault != NULL || canary.recycled == NULL ||
        ((*jni)->IsSameObject(jni, canary.recycled, canary.object) &&
         !(*jni)->IsSameObject(jni, canary.recycled, NULL)))
        return fault;
    return "the JVM finds another object behind a reference that was used again";
}

static void set_place(uintptr_t place, void *batch)
{
    canary.place = place;
    canary.collections = collections_seen();
    if (canary.recycled != NULL)
        slot_set(canary.recycled, place);
    else if (batch != NULL)
        canary.recycled = recycle_at(batch, place);
}

/* Lets the references refer to the new object. Returns false if they must not be touched now. */
static bool move_to(struct os_thread *os, JNIEnv *jni, jobject object)
{
    struct recycled *batch = canary.recycled == NULL ? recycle_batch(os) : NULL;
    if (!hold_with(os, jni, object, set_place, batch))
        return false;
    (*jni)->DeleteGlobalRef(jni, canary.object);
    canary.object = object;
    return true;
}

static void renew(struct os_thread *os, JNIEnv *jni)
{
    jthrowable of_program = exception_set_aside(jni);
    jbyteArray bytes = new_bytes(jni, CANARY_BYTES);
    jobject object = bytes != NULL ? (*jni)->NewGlobalRef(jni, bytes) : NULL;
    exception_restore(jni, of_program, object == NULL, THROWN_BY_ALLOCATION);
    (*jni)->DeleteLocalRef(jni, bytes);
    if (object != NULL && !move_to(os, jni, object))
        (*jni)->DeleteGlobalRef(jni, object);
}

static void switch_off(const struct session *session, const char *fault)
{
    internals_switch_off_writes(fault);
    holds_forbid();
    if (session->engine->end_writes != NULL)
        session->engine->end_writes();
    log_message("internals: %s: techniques that write into the JVM are disabled from now on; the "
                "trace may be wrong before this point",
                fault);
}

/* An object that has survived a few collections is old and hardly ever moves, so the canary is made
 * anew after each one: only a young object shows that an unannounced collection moves objects. */
void canary_look(struct session *session, struct os_thread *os, JNIEnv *jni)
{
    if (!places_are_good(session))
        return;
    const char *fault = find_fault(os, jni);
    if (fault != NULL)
        switch_off(session, fault);
    else if (canary.object == NULL || canary.recycled == NULL ||
             canary.collections != collections_seen())
        renew(os, jni);
}

void canary_reset(JNIEnv *jni)
{
    if (canary.recycled != NULL)
        (*jni)->DeleteWeakGlobalRef(jni, canary.recycled);
    if (canary.object != NULL)
        (*jni)->DeleteGlobalRef(jni, canary.object);
    canary.recycled = NULL;
    canary.object = NULL;
}
