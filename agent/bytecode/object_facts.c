/* SPDX-License-Identifier: Apache-2.0 */
/* Class and size of a new object: from its header if its class is known, otherwise from the JVM. */
#include "agent/bytecode/object_facts.h"

#include <string.h>

#include "agent/base/exceptions.h"
#include "agent/base/jvm_classes.h"
#include "agent/bytecode/plain_calls.h"
#include "agent/deaths/pace.h"
#include "agent/deaths/reaper.h"
#include "agent/deaths/recycle.h"
#include "agent/records/classes.h"
#include "agent/records/layouts.h"
#include "agent/references/object_ids.h"

#define ASKED_AGAIN 256u

static uint64_t object_facts_size_of(struct class_cache_entry *class, jclass mirror, jobject object)
{
    jlong size = 0;
    if (class->size_bytes != 0)
        return class->size_bytes;
    if ((*tracer.jvmti)->GetObjectSize(tracer.jvmti, object, &size) != JVMTI_ERROR_NONE)
        return 0;
    if (!class->is_array && !(class->is_array = class_element_shift(mirror, 0) >= 0))
        class->size_bytes = (uint64_t) size;
    return (uint64_t) size;
}

/* What note_at() stores. */
struct header_note {
    struct os_thread *os;
    uint64_t session, number;
    uint64_t size_bytes, size; /* of the class, 0 for arrays; of the object */
    uint8_t element_shift;
};

static void note_at(uintptr_t address, void *context)
{
    const struct header_note *note = context;
    uint64_t word = header_class_word(address);
    if (note->size_bytes == 0 &&
        header_array_size(header_array_length(address), note->element_shift) != note->size)
        return;
    struct class_word_entry *pair = class_word_pair(note->os, word);
    pair[1] = pair[0];
    pair[0] = (struct class_word_entry){.word = word,
                                        .collections = collections_seen(),
                                        .session = note->session,
                                        .number = note->number,
                                        .size_bytes = note->size_bytes,
                                        .element_shift = note->element_shift};
}

/* Where collections may be silent, the word is for leaf calls alone, and to note it takes one: once
 * a collection, and now and then, since another class may have taken its place. */
static bool wants_note(struct class_cache_entry *class)
{
    if (!collections_may_be_silent())
        return true;
    uint64_t now = collections_seen() + 1;
    class->asked = class->noted == now ? class->asked + 1 : 0;
    class->noted = now;
    return class->asked % ASKED_AGAIN == 0;
}

/* Stores the JVM's answer for the next object of this class. The word is read in a hold, and the
 * count of collections with it, so both belong together. An array is noted only if the size that
 * follows from its header is the one that the JVM said: a wrong layout then costs time, never a
 * wrong size. */
static void note_header(const struct session *session, struct os_thread *os, JNIEnv *jni,
                        jclass mirror, jobject object, struct class_cache_entry *class,
                        uint64_t size)
{
    if (!header_layout.known || size == 0 || !wants_note(class))
        return;
    int shift =
        class->size_bytes == 0 ? class_element_shift(mirror, header_layout.references_shift) : 0;
    if (shift < 0)
        return;
    struct header_note note = {.os = os,
                               .session = session->number,
                               .number = class->number,
                               .size_bytes = class->size_bytes,
                               .size = size,
                               .element_shift = (uint8_t) shift};
    hold_with(os, jni, object, note_at, &note);
}

struct object_facts object_facts_asked(struct session *session, struct os_thread *os, JNIEnv *jni,
                                       jobject object)
{
    struct object_facts facts = {0};
    jclass mirror = (*jni)->GetObjectClass(jni, object);
    struct class_cache_entry *class = class_cached(session, os, jni, mirror);
    facts.class = class->number;
    layout_of_cached(session, jni, mirror, class);
    if (class->number != 0) {
        facts.used_bytes = object_facts_size_of(class, mirror, object);
        note_header(session, os, jni, mirror, object, class, facts.used_bytes);
        if (session->padding_mask != 0)
            facts.used_bytes = layout_used_bytes(jni, mirror, object, facts.used_bytes);
    }
    return facts;
}

static jint JNICALL note_size(jlong class_tag, jlong size, jlong *tag, jint length, void *size_out)
{
    (void) class_tag, (void) tag, (void) length;
    *(jlong *) size_out = size;
    return JVMTI_VISIT_ABORT;
}

/* Returns the size of an object of a class that has at least one, whose constructor is open, by
 * searching the heap. Allocating another would wait for the class's initializer, which waits for
 * that constructor if this is another thread. */
static uint64_t size_in_heap(jclass class)
{
    jlong size = 0;
    heap_each_object(0, class, note_size, &size);
    return (uint64_t) size;
}

uint64_t object_size_of_class(struct class_cache_entry *known, JNIEnv *jni, jclass class)
{
    if (known->size_bytes != 0)
        return known->size_bytes;
    if ((class_status(class) & JVMTI_CLASS_STATUS_INITIALIZED) == 0)
        return known->size_bytes = size_in_heap(class);
    jthrowable of_program = exception_set_aside(jni);
    jobject like = plain_object(jni, class);
    uint64_t size = like != NULL ? object_facts_size_of(known, class, like) : 0;
    exception_restore(jni, of_program, like == NULL, THROWN_BY_ALLOCATION);
    (*jni)->DeleteLocalRef(jni, like);
    return size;
}

/* ---- weak references, which let the reaper detect deaths ---- */

void object_remember(struct session *session, struct os_thread *os, JNIEnv *jni, jobject object,
                     uint32_t key, uint64_t id)
{
    if (!session->keeps_references)
        return;
    jweak reference = recycle_for(os, object);
    if (reference == NULL && (reference = recycle_make(os, jni, object)) == NULL)
        return;
    if (session->finds_objects) {
        identity_add(session, key, id, reference);
        object_id_note(session, os, object, id);
    }
    if (atomic_load_explicit(&os->deaths.weak_session, memory_order_relaxed) != session->number)
        atomic_store(&os->deaths.weak_session, session->number);
    if (!weak_table_add(&reaper_table, &os->deaths.weak_page, (uint64_t) key << WEAK_ID_BITS | id,
                        reference)) {
        if (session->finds_objects)
            identity_remove(session, key, id);
        (*jni)->DeleteWeakGlobalRef(jni, reference);
    }
    if (weak_page_is_fresh(&os->deaths.weak_page))
        pace_keep(session, os, &reaper_table);
}
