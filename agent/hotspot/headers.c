/* SPDX-License-Identifier: Apache-2.0 */
/* The proof: arrays of known lengths, whose sizes JVMTI says, are read through the kernel, which
 * does not fault. */
#include "agent/hotspot/headers.h"

#include <string.h>

#include "agent/base/internals.h"
#include "agent/base/tracer.h"
#include "agent/hotspot/peek.h"
#include "agent/hotspot/slots.h"
#include "agent/hotspot/vm_structs.h"

#define ATTEMPTS 8 /* objects move */
#define MANY 64    /* elements: more than the rounding of a size hides */
#define ANNOUNCES_ALL 25

struct header_layout header_layout;

static bool flag_is_set(const char *name)
{
    const unsigned char *flag = vm_flag(name);
    return flag != NULL && *flag == 1;
}

bool collector_announces_moves(void)
{
    return flag_is_set("UseG1GC") ||
           ((flag_is_set("UseSerialGC") || flag_is_set("UseParallelGC")) &&
            tracer.java_major >= ANNOUNCES_ALL);
}

/* An array of `length` elements of 1 << shift bytes; of references where shift is out of range. */
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

/* 0: there is no such array. */
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

/* The least growth of a byte array is what sizes are rounded to. */
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

/* As many elements as fit into what an empty array takes tell where they begin. */
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

static bool read_header(jobject object, uint64_t *class_word, uint32_t *length)
{
    unsigned char bytes[32];
    if (!peek(slot_word(object), bytes, sizeof bytes))
        return false;
    *class_word = header_class_word((uintptr_t) bytes);
    *length = header_array_length((uintptr_t) bytes);
    return true;
}

/* Two of a class, and one of each of two others. */
static bool headers_are_as_said(const jarray arrays[4], const jsize lengths[4])
{
    uint64_t words[4];
    for (int i = 0; i < 4; i++) {
        uint32_t length = 0;
        if (arrays[i] == NULL || !read_header(arrays[i], &words[i], &length) ||
            length != (uint32_t) lengths[i])
            return false;
    }
    return words[0] == words[1] && words[0] != 0 && words[0] != words[2] && words[2] != words[3] &&
           words[0] != words[3];
}

static bool find_words(JNIEnv *jni, jclass element)
{
    static const jsize lengths[4] = {17, 23, 19, 29};
    jarray arrays[4] = {make_array(jni, NULL, 0, lengths[0]), make_array(jni, NULL, 0, lengths[1]),
                        make_array(jni, NULL, 3, lengths[2]),
                        make_array(jni, element, ELEMENT_SHIFTS, lengths[3])};
    bool found = false;
    for (int i = 0; i < 2 * ATTEMPTS && !found; i++) {
        header_layout.narrow = i % 2 == 0;
        header_layout.length_at = header_layout.narrow ? 12 : 16;
        found = headers_are_as_said(arrays, lengths);
    }
    for (int i = 0; i < 4; i++)
        (*jni)->DeleteLocalRef(jni, arrays[i]);
    return found;
}

static bool find_layout(JNIEnv *jni)
{
    jclass element = (*jni)->FindClass(jni, "java/lang/Object");
    bool found = element != NULL && find_sizes(jni, element) && find_words(jni, element);
    (*jni)->ExceptionClear(jni);
    (*jni)->DeleteLocalRef(jni, element);
    return found;
}

void headers_prove(JNIEnv *jni, bool announced)
{
    header_layout.known = false;
    if (!internal_try(INTERNAL_HEADERS))
        return;
    if (!atomic_load(&slots_readable))
        internal_refused(INTERNAL_HEADERS, "slots are not read");
    else if (!announced)
        internal_refused(INTERNAL_HEADERS, "not with this collector");
    else if (!find_layout(jni))
        internal_refused(INTERNAL_HEADERS, "objects are laid out in another way");
    else {
        header_layout.known = true;
        internal_used(INTERNAL_HEADERS);
    }
}
