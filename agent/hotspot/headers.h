/* SPDX-License-Identifier: Apache-2.0 */
/* Layout of object headers: the word that identifies the class, and an array's length. They are
 * read only while nothing moves (agent/records/hold.h). */
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
    uint8_t class_shift; /* of a narrow word: its lower bits are not the class's (compact
                          * headers) */
    uint8_t length_at;
    uint8_t elements_at[ELEMENT_SHIFTS]; /* by the logarithm of an element's size */
    uint8_t references_shift;            /* logarithm of a reference's size */
    uint32_t alignment;                  /* of an object's size; a power of two */
};

extern struct header_layout header_layout;

/* Returns true if objects move, and weak references are cleared, in pauses only: G1, Serial,
 * Parallel. */
bool collector_works_in_pauses(void);
/* Returns false if collections for class histograms and heap dumps are not announced. */
bool collector_announces_all(void);

/* Returns true for generational ZGC. Its young collections treat weak references as strong, so an
 * object with one, or with a tag, dies only in old collections. */
bool collector_keeps_weakly_held(void);

/* Call once per session that reads headers, on a Java thread. Sets header_layout from the JVM's own
 * answers, unless moves are not announced. */
void headers_prove(JNIEnv *jni, bool announced);

/* Sets the members of header_layout that follow from sizes, by the JVM's specified answers alone:
 * all but `known` and the places of class and length. Returns false if sizes follow another rule.
 */
bool headers_find_sizes(JNIEnv *jni);

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

/* Returns where the class's word ends. */
static inline unsigned header_class_end(void)
{
    return header_layout.class_at + (header_layout.narrow ? 4u : 8u);
}

static inline uint32_t header_array_length(uintptr_t object)
{
    uint32_t length;
    memcpy(&length, (const void *) (object + header_layout.length_at), sizeof length);
    return length;
}

/* Returns where the elements of an array with `length` elements of 1 << shift bytes end. */
static inline uint64_t header_array_end(uint32_t length, unsigned shift)
{
    return header_layout.elements_at[shift] + ((uint64_t) length << shift);
}

/* Returns the size of such an array in bytes. */
static inline uint64_t header_array_size(uint32_t length, unsigned shift)
{
    uint64_t end = header_array_end(length, shift);
    return (end + header_layout.alignment - 1) & ~(uint64_t) (header_layout.alignment - 1);
}

#endif
