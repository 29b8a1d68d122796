/* SPDX-License-Identifier: Apache-2.0 */
/* New objects with engine=bytecode: ids, weak references, records. */
#ifndef AGENT_BYTECODE_NEW_OBJECTS_H
#define AGENT_BYTECODE_NEW_OBJECTS_H

#include "agent/hotspot/headers.h"
#include "agent/records/threads.h"
#include "format/core/hash.h"

/* A new object that nobody has reported. */
void object_made(struct session *session, struct os_thread *os, JNIEnv *jni, jobject object);
/* The same as probe_leave() where objects may have been made: with collect= the JVM may have to
 * collect now, and the dead are looked for. */
void object_probe_leave(struct os_thread *os, JNIEnv *jni);
/* The same for a string and the array that only it has. */
void object_made_string(struct session *session, struct os_thread *os, JNIEnv *jni, jobject string);
/* That array; NULL: the JVM keeps it elsewhere. */
jobject string_array(JNIEnv *jni, jobject string);
/* Is it one of the last few objects of this thread that were reported, or noted?  It may be though
 * the answer is no: a collection forgets all. */
bool object_is_recent(const struct os_thread *os, jobject object);
void object_forget_recent(struct os_thread *os, uint64_t collections);
static inline void object_note_recent(struct os_thread *os, uintptr_t place)
{
    uint64_t collections = atomic_load_explicit(&tracer.collections_begun, memory_order_relaxed);
    if (__builtin_expect(os->recent.collections != collections, 0))
        object_forget_recent(os, collections);
    os->recent.places[os->recent.count++ % RECENT_OBJECTS] = place;
}
/* An object that may have been reported already, by object_made_once() or by the VM. */
void object_made_once(struct session *session, struct os_thread *os, JNIEnv *jni, jobject object);
/* Tells of an object of that class that is still to come, and gives it its id; 0: it can't. */
uint64_t object_reserve(struct session *session, struct os_thread *os, JNIEnv *jni, jclass class,
                        uint64_t thread, struct live_stream *stream);
/* Such an object never came: it dies when one that is made now and held by nobody does. */
void object_never_made(struct session *session, struct os_thread *os, JNIEnv *jni, uint64_t id);
/* An array of arrays, with that many dimensions made at once. */
void object_made_arrays(struct session *session, struct os_thread *os, JNIEnv *jni, jobject array,
                        jint dimensions);

/* What a record says of an object besides its id; class 0: it has none. */
struct object_facts {
    uint64_t class, size_bytes;
    bool known; /* this thread has had an object of the class before */
};

/* The two places where the word may be. */
static inline struct class_word_entry *class_word_pair(struct os_thread *os, uint64_t word)
{
    return os->class_words[step_hash(word) >> (64 - CLASS_WORDS_LOG2)];
}

static inline bool is_of_word(const struct class_word_entry *entry, const struct session *session,
                              uint64_t word)
{
    return entry->word == word && entry->session == session->number &&
           entry->collections ==
               atomic_load_explicit(&tracer.collections_begun, memory_order_relaxed);
}

/* From the header of the object at that address, while nothing moves, if its class was seen since
 * the last collection. */
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
    facts->size_bytes = entry->size_bytes;
    if (entry->size_bytes == 0)
        facts->size_bytes = header_array_size(header_array_length(address), entry->element_shift);
    return true;
}

#endif
