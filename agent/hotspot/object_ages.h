/* SPDX-License-Identifier: Apache-2.0 */
/* How many young collections an object has survived, which its header says: in the word that also
 * has its lock and its identity hash. Read while the program stands still. */
#ifndef AGENT_HOTSPOT_OBJECT_AGES_H
#define AGENT_HOTSPOT_OBJECT_AGES_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define OBJECT_AGES 16u /* the last one: 15 collections, or more */
#define OBJECT_LOCK_BITS 3u
#define OBJECT_UNLOCKED 1u

struct object_ages {
    unsigned shift;
    bool
        locks_are_addresses; /* of the place that has the locked object's own word; else two bits */
    bool monitors_are_addresses;
    size_t monitor_word; /* and in a monitor, where that word is */
};
extern struct object_ages object_ages;

/* Finds out how this JVM keeps ages. Returns why it is not known, or NULL. */
const char *object_ages_prove(JNIEnv *jni);

/* Returns the age by that word; OBJECT_AGES: it is not known. */
unsigned object_age_of_locked(uint64_t word);
static inline unsigned object_age_of_word(uint64_t word)
{
    if (__builtin_expect((word & OBJECT_LOCK_BITS) == OBJECT_UNLOCKED, 1))
        return (unsigned) (word >> object_ages.shift) & (OBJECT_AGES - 1);
    return object_age_of_locked(word);
}

static inline unsigned object_age(uintptr_t object)
{
    uint64_t word;
    memcpy(&word, (const void *) object, sizeof word);
    return object_age_of_word(word);
}

#endif
