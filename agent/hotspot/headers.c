/* SPDX-License-Identifier: Apache-2.0 */
/* Proves the layout of headers: arrays of known lengths, whose sizes JVMTI returns, are read
 * through the kernel, which does not fault. */
#include "agent/hotspot/headers.h"

#include <string.h>

#include "agent/base/exceptions.h"
#include "agent/base/internals.h"
#include "agent/base/java_versions.h"
#include "agent/base/jvm_classes.h"
#include "agent/base/tracer.h"
#include "agent/hotspot/peek.h"
#include "agent/hotspot/slots.h"
#include "agent/hotspot/vm_structs.h"

#define ATTEMPTS 8 /* objects may move */
#define MANY 64    /* elements: more than the rounding of sizes hides */

struct header_layout header_layout;

static bool flag_is_set(const char *name)
{
    const unsigned char *flag = vm_flag(name);
    return flag != NULL && *flag == 1;
}

static bool has_no_concurrent_phases(void)
{
    return flag_is_set("UseSerialGC") || flag_is_set("UseParallelGC");
}

bool collector_announces_all(void)
{
    return tracer.java_major >= JAVA_ANNOUNCES_ALL || !has_no_concurrent_phases();
}

/* This is a list of what was tested, not something that could be found out: that a collector never
 * moves an object outside of a pause cannot be shown by watching it. The canary finds the first
 * breach, late. ZGC and Shenandoah move objects while the program runs. */
bool collector_works_in_pauses(void)
{
    return flag_is_set("UseG1GC") || has_no_concurrent_phases();
}

bool collector_keeps_weakly_held(void)
{
    return flag_is_set("UseZGC") &&
           (tracer.java_major >= JAVA_ZGC_IS_GENERATIONAL || flag_is_set("ZGenerational"));
}

/* Creates an array of `length` elements of 1 << shift bytes; of references if shift is out of
 * range. */
static jarray make_array(JNIEnv *jni, jclass element, unsigned shift, jsize length)
{
    switch (shift) {
    case 0:
        return (*jni)->NewByteArray(jni, length);
    case 1:
        return (*jni)->NewCharArray(jni, length);
    case 2:
        return (*jni)->NewIntArray(jni, length);
    case 3:
        return (*jni)->NewLongArray(jni, length);
    default:
        return (*jni)->NewObjectArray(jni, length, element, NULL);
    }
}

/* Returns 0 if there is no such array. */
static uint64_t size_of_array(JNIEnv *jni, jclass element, unsigned shift, jsize length)
{
    jlong size = 0;
    jarray array = make_array(jni, element, shift, length);
    if (array == NULL ||
        (*tracer.jvmti)->GetObjectSize(tracer.jvmti, array, &size) != JVMTI_ERROR_NONE)
        size = 0;
    (*jni)->DeleteLocalRef(jni, array);
    return (uint64_t) size;
}

/* Sizes are rounded to the smallest growth of a byte array. */
static uint32_t find_alignment(JNIEnv *jni)
{
    uint64_t first = size_of_array(jni, NULL, 0, 0);
    for (jsize length = 1; length <= MANY; length++) {
        uint64_t size = size_of_array(jni, NULL, 0, length);
        if (size > first) {
            uint64_t step = size - first;
            return (step & (step - 1)) == 0 && step <= 256 ? (uint32_t) step : 0;
        }
    }
    return 0;
}

/* Finds where the elements of such an array begin. The number of elements that fit into an empty
 * array's size shows it: the empty size is the header, rounded up, so header and fitting elements
 * fill it exactly. This uses the JVM's specified answers alone. */
static bool find_elements(JNIEnv *jni, jclass element, unsigned kind, unsigned shift,
                          uint8_t *elements_at)
{
    uint64_t empty = size_of_array(jni, element, kind, 0);
    jsize fit = 0;
    while (fit < MANY && size_of_array(jni, element, kind, fit + 1) == empty)
        fit++;
    if (empty == 0 || empty > 64 || fit == MANY || (uint64_t) fit << shift > empty)
        return false;
    *elements_at = (uint8_t) (empty - ((uint64_t) fit << shift));
    return true;
}

static bool sizes_are_as_said(JNIEnv *jni, jclass element, unsigned kind, unsigned shift)
{
    static const jsize lengths[] = {0, 1, 2, 3, 5, 8, 13, 21, 100, 1000};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        if (size_of_array(jni, element, kind, lengths[i]) !=
            header_array_size((uint32_t) lengths[i], shift))
            return false;
    return true;
}

static bool find_sizes(JNIEnv *jni, jclass element)
{
    uint8_t references_at = 0;
    header_layout.alignment = find_alignment(jni);
    if (header_layout.alignment == 0)
        return false;
    for (unsigned shift = 0; shift < ELEMENT_SHIFTS; shift++)
        if (!find_elements(jni, NULL, shift, shift, &header_layout.elements_at[shift]) ||
            !sizes_are_as_said(jni, NULL, shift, shift))
            return false;
    uint64_t growth = size_of_array(jni, element, ELEMENT_SHIFTS, 1024) -
                      size_of_array(jni, element, ELEMENT_SHIFTS, 0);
    header_layout.references_shift = growth / 1024 == 8 ? 3 : 2;
    return find_elements(jni, element, ELEMENT_SHIFTS, header_layout.references_shift,
                         &references_at) &&
           references_at == header_layout.elements_at[header_layout.references_shift] &&
           sizes_are_as_said(jni, element, ELEMENT_SHIFTS, header_layout.references_shift);
}

static bool headers_read(jobject object, uint64_t *class_word, uint32_t *length)
{
    unsigned char bytes[32];
    if (!peek(slot_word(object), bytes, sizeof bytes))
        return false;
    *class_word = header_class_word((uintptr_t) bytes);
    *length = header_array_length((uintptr_t) bytes);
    return true;
}

/* HotSpot's places of an object's class and an array's length. */
static const struct word_layout {
    bool narrow;
    uint8_t class_at, class_shift, length_at;
} layouts[] = {
    {true, 8, 0, 12},  /* after the mark word: compressed class pointers */
    {false, 8, 0, 16}, /* after the mark word: a full pointer */
    {true, 4, 10, 8},  /* in the upper 22 bits of the mark word: -XX:+UseCompactObjectHeaders */
};
#define LAYOUTS (sizeof layouts / sizeof layouts[0])

/* Compares two arrays of one class, and one each of two others. */
static bool headers_are_as_said(const jarray arrays[4], const jsize lengths[4])
{
    uint64_t words[4];
    for (int i = 0; i < 4; i++) {
        uint32_t length = 0;
        if (arrays[i] == NULL || !headers_read(arrays[i], &words[i], &length) ||
            length != (uint32_t) lengths[i])
            return false;
    }
    return words[0] == words[1] && words[0] != 0 && words[0] != words[2] && words[2] != words[3] &&
           words[0] != words[3];
}

/* Tries the known layouts on four arrays of known lengths: two of one class, and one each of two
 * others. The lengths differ, so a word at another place is hardly equal to all four. The class
 * words must be equal for the first two and differ otherwise: a wrong place, such as that of the
 * hash or of the lock, fails one of both. Each layout is tried several times, since an array may
 * move between reading its slot and its header; the kernel reads, so a stale address does no
 * harm. */
static bool find_words(JNIEnv *jni, jclass element)
{
    static const jsize lengths[4] = {17, 23, 19, 29};
    jarray arrays[4] = {make_array(jni, NULL, 0, lengths[0]), make_array(jni, NULL, 0, lengths[1]),
                        make_array(jni, NULL, 3, lengths[2]),
                        make_array(jni, element, ELEMENT_SHIFTS, lengths[3])};
    bool found = false;
    for (size_t i = 0; i < LAYOUTS * ATTEMPTS && !found; i++) {
        const struct word_layout *layout = &layouts[i % LAYOUTS];
        header_layout.narrow = layout->narrow;
        header_layout.class_at = layout->class_at;
        header_layout.class_shift = layout->class_shift;
        header_layout.length_at = layout->length_at;
        found = headers_are_as_said(arrays, lengths);
    }
    for (int i = 0; i < 4; i++)
        (*jni)->DeleteLocalRef(jni, arrays[i]);
    return found;
}

/* `words`: also the places of class and length. */
static bool find_layout(JNIEnv *jni, bool words)
{
    jthrowable of_program = exception_set_aside(jni);
    jclass element = class_find(jni, "java/lang/Object");
    bool found =
        element != NULL && find_sizes(jni, element) && (!words || find_words(jni, element));
    exception_restore(jni, of_program, !found, THROWN_BY_ALLOCATION);
    (*jni)->DeleteLocalRef(jni, element);
    return found;
}

bool headers_find_sizes(JNIEnv *jni)
{
    return find_layout(jni, false);
}

void headers_prove(JNIEnv *jni, bool announced)
{
    header_layout.known = false;
    if (!internal_is_allowed(INTERNAL_HEADERS))
        return;
    const char *refused = !atomic_load(&slots_readable) ? "slots are not read"
                          : !announced                  ? "not with this collector"
                          : !find_layout(jni, true)     ? "objects are laid out in another way"
                                                        : NULL;
    header_layout.known = refused == NULL;
    internal_settled(INTERNAL_HEADERS, refused);
}
