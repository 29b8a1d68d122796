/* SPDX-License-Identifier: Apache-2.0 */
/* Ages in headers.
 *
 * A header's first word has the object's age, unless the JVM has put something in its place: the
 * address of a lock on a thread's stack, or of a monitor. Then the word is found there, since
 * collectors keep the age in it wherever it is. Such an address is read through the kernel. */
#include "agent/hotspot/object_ages.h"

#include "agent/base/exceptions.h"
#include "agent/base/java_versions.h"
#include "agent/base/jvm_classes.h"
#include "agent/base/tracer.h"
#include "agent/hotspot/peek.h"
#include "agent/hotspot/slots.h"
#include "agent/hotspot/vm_structs.h"

#define LOCKED 0u
#define MONITOR 2u
#define LOCKS_BY_ADDRESS 1 /* a value of the flag LockingMode */
#define ATTEMPTS 8         /* the object may move meanwhile */

struct object_ages object_ages;

unsigned object_age_of_locked(uint64_t word)
{
    uint64_t lock = word & OBJECT_LOCK_BITS, own = 0;
    bool is_address = lock == LOCKED    ? object_ages.locks_are_addresses
                      : lock == MONITOR ? object_ages.monitors_are_addresses
                                        : false;
    if (lock != LOCKED && lock != MONITOR)
        return OBJECT_AGES; /* the JVM marks objects so while it collects */
    if (!is_address)
        own = word;
    else if (!peek((word & ~(uint64_t) OBJECT_LOCK_BITS) +
                       (lock == MONITOR ? object_ages.monitor_word : 0),
                   &own, sizeof own) ||
             (own & OBJECT_LOCK_BITS) != OBJECT_UNLOCKED)
        return OBJECT_AGES;
    return (unsigned) (own >> object_ages.shift) & (OBJECT_AGES - 1);
}

static bool find_places(void)
{
    uint64_t shift, mask, lock_mask, locked, unlocked, monitor;
    if (!vm_long_constant("markWord::age_shift", &shift) ||
        !vm_long_constant("markWord::age_mask", &mask) ||
        !vm_long_constant("markWord::lock_mask_in_place", &lock_mask) ||
        !(vm_long_constant("markWord::locked_value", &locked) ||
          vm_long_constant("markWord::fast_locked_value", &locked)) ||
        !(vm_long_constant("markWord::unlocked_value", &unlocked) ||
          vm_long_constant("markWord::lock_neutral_value", &unlocked)) ||
        !vm_long_constant("markWord::monitor_value", &monitor) || mask != OBJECT_AGES - 1 ||
        shift > 32 || lock_mask != OBJECT_LOCK_BITS || locked != LOCKED ||
        unlocked != OBJECT_UNLOCKED || monitor != MONITOR)
        return false;
    const int *mode = vm_flag("LockingMode");
    const unsigned char *has_table = vm_flag("UseObjectMonitorTable");
    bool found = vm_field_offset("ObjectMonitor", "_metadata", &object_ages.monitor_word) ||
                 vm_field_offset("ObjectMonitor", "_header", &object_ages.monitor_word);
    object_ages.shift = (unsigned) shift;
    object_ages.locks_are_addresses =
        mode != NULL ? *mode == LOCKS_BY_ADDRESS : tracer.java_major < JAVA_LOCKS_BY_FLAG;
    object_ages.monitors_are_addresses =
        has_table != NULL ? *has_table == 0 : tracer.java_major < JAVA_MONITORS_IN_TABLE;
    return found || !object_ages.monitors_are_addresses;
}

static unsigned age_now(jobject object)
{
    uint64_t word;
    return peek(slot_word(object), &word, sizeof word) ? object_age_of_word(word) : OBJECT_AGES;
}

/* A new object has no age, locked or not. */
static bool new_object_is_young(JNIEnv *jni)
{
    bool is_young = false;
    jclass class = class_find(jni, "java/lang/Object");
    jobject object = class != NULL ? (*jni)->AllocObject(jni, class) : NULL;
    if (object != NULL) {
        is_young = age_now(object) == 0;
        if ((*jni)->MonitorEnter(jni, object) == JNI_OK) {
            is_young = age_now(object) == 0 && is_young;
            (*jni)->MonitorExit(jni, object);
        }
    }
    (*jni)->DeleteLocalRef(jni, object);
    (*jni)->DeleteLocalRef(jni, class);
    return is_young;
}

const char *object_ages_prove(JNIEnv *jni)
{
    if (!find_places())
        return "the JVM does not publish where objects have their age";
    jthrowable of_program = exception_set_aside(jni);
    bool is_young = false;
    for (int i = 0; i < ATTEMPTS && !is_young; i++)
        is_young = new_object_is_young(jni);
    exception_restore(jni, of_program, !is_young, THROWN_BY_ALLOCATION);
    return is_young ? NULL : "objects do not have their age where the JVM says";
}
