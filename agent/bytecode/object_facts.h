/* SPDX-License-Identifier: Apache-2.0 */
/* Class and size of a new object, as stored in records. */
#ifndef AGENT_BYTECODE_OBJECT_FACTS_H
#define AGENT_BYTECODE_OBJECT_FACTS_H

#include "agent/deaths/identity.h"
#include "agent/hotspot/headers.h"
#include "agent/hotspot/slots.h"
#include "agent/records/hold.h"
#include "agent/records/threads.h"
#include "format/core/hash.h"

/* An object's record without the id; class 0: none. */
struct object_facts {
    uint64_t class;
    uint64_t used_bytes; /* the size; layout=yes: without the bytes after an array's elements */
    bool known;          /* this thread has had an object of the class before */
};

/* Returns the two entries where the word may be. */
static inline struct class_word_entry *class_word_pair(struct os_thread *os, uint64_t word)
{
    return os->bytecode.class_words[step_hash(word) >> (64 - CLASS_WORDS_LOG2)];
}

static inline bool is_of_word(const struct class_word_entry *entry, const struct session *session,
                              uint64_t word)
{
    return entry->word == word && entry->session == session->number &&
           entry->collections == collections_seen();
}

/* Reads the header of the object at that address, in a hold or leaf call. Returns false unless its
 * class was seen since the last collection.
 *
 * The class word of a header is an address in metaspace. A collection may unload that class, and
 * another one may get the address. So an entry is valid for one count of collections only: within
 * it the word means what the JVM said of an earlier object with the same word. All objects of a
 * class that is no array have one size; an array's follows from its length. */
static inline bool facts_at(const struct session *session, struct os_thread *os, uintptr_t address,
                            struct object_facts *facts)
{
    uint64_t word = header_class_word(address);
    const struct class_word_entry *entry = class_word_pair(os, word);
    entry += !is_of_word(entry, session, word);
    if (!is_of_word(entry, session, word))
        return false;
    facts->class = entry->number;
    facts->known = true;
    facts->used_bytes = entry->size_bytes;
    if (entry->size_bytes == 0) {
        uint32_t length = header_array_length(address);
        facts->used_bytes = session->padding_mask != 0
                                ? header_array_end(length, entry->element_shift)
                                : header_array_size(length, entry->element_shift);
    }
    return true;
}

/* Same by asking the JVM, for any object. */
struct object_facts object_facts_asked(struct session *session, struct os_thread *os, JNIEnv *jni,
                                       jobject object);
static inline struct object_facts object_facts_of(struct session *session, struct os_thread *os,
                                                  JNIEnv *jni, jobject object)
{
    struct object_facts facts;
    bool found = false;
    if (header_layout.known && hold_begin(os)) {
        found = facts_at(session, os, slot_word(object), &facts);
        hold_end(os);
    }
    if (__builtin_expect(found, 1))
        return facts;
    return object_facts_asked(session, os, jni, object);
}

/* Returns the size of an object of that class that does not exist yet. */
uint64_t object_size_of_class(struct class_cache_entry *known, JNIEnv *jni, jclass class);

/* Weak references to new objects, which let the reaper detect their deaths. */

/* Computes the key for object_remember() in advance. */
static inline uint32_t object_key(const struct session *session, jobject object)
{
    if (!session->finds_objects)
        return 0;
    uint32_t key = identity_key(object);
    identity_expect(key);
    return key;
}

/* Creates a weak reference to the object with that id and adds it to the reaper's table. */
void object_remember(struct session *session, struct os_thread *os, JNIEnv *jni, jobject object,
                     uint32_t key, uint64_t id);

#endif
