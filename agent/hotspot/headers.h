/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands at the beginning of each object: the word that names its class, and an array's
 * length. Read only while nothing moves (agent/records/hold.h).
 */
#ifndef AGENT_HOTSPOT_HEADERS_H
#define AGENT_HOTSPOT_HEADERS_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define ELEMENT_SHIFTS 4u /* elements of 1, 2, 4 and 8 bytes */

struct header_layout {
    bool known;
    bool narrow;         /* the class's word has 4 bytes, not 8 */
    uint8_t class_at;    /* where it begins */
    uint8_t class_shift; /* of a narrow one: its lower bits are not the class's (compact headers) */
    uint8_t length_at;
    uint8_t elements_at[ELEMENT_SHIFTS]; /* by the logarithm of an element's size */
    uint8_t references_shift;            /* that of a reference's */
    uint32_t alignment;                  /* of an object's size; a power of two */
};

extern struct header_layout header_layout;

/* Objects move in pauses only, and each pause is announced (JVMTI's GarbageCollectionStart): G1 in
 * all JVMs that were tested; Serial and Parallel since some JDK after 17, which announces no
 * collections for histograms and heap dumps. */
bool collector_announces_moves(void);
/* False: it collects for class histograms and heap dumps without a word. */
bool collector_announces_all(void);

/* Generational ZGC: its young collections treat weak references as strong, so that what has one, or
 * a tag, dies in old collections only. */
bool collector_keeps_weakly_held(void);

/* Once a session that reads headers, on a Java thread: header_layout, as the JVM's own answers show
 * it; not where moves are not announced. */
void headers_prove(JNIEnv *jni, bool announced);

static inline uint64_t header_class_word(uintptr_t object)
{
    uint32_t half;
    uint64_t word;
    if (__builtin_expect(header_layout.narrow, 1)) {
        memcpy(&half, (const void *) (object + header_layout.class_at), sizeof half);
        return half >> header_layout.class_shift;
    }
    memcpy(&word, (const void *) (object + header_layout.class_at), sizeof word);
    return word;
}

static inline uint32_t header_array_length(uintptr_t object)
{
    uint32_t length;
    memcpy(&length, (const void *) (object + header_layout.length_at), sizeof length);
    return length;
}

/* Of an array with so many elements. */
static inline uint64_t header_array_size(uint32_t length, unsigned shift)
{
    uint64_t end = header_layout.elements_at[shift] + ((uint64_t) length << shift);
    return (end + header_layout.alignment - 1) & ~(uint64_t) (header_layout.alignment - 1);
}

#endif
