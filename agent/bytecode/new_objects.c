/* SPDX-License-Identifier: Apache-2.0 */
/*
 * New objects with engine=bytecode.
 *
 * Most have no tag: a weak reference finds their death, the stream gives their id.  Tags mark the
 * few that more than one source may tell of: those of the start snapshot, clones, what the VM makes
 * itself.
 */
#include "agent/bytecode/new_objects.h"

#include <pthread.h>
#include <string.h>

#include "agent/base/exceptions.h"
#include "agent/base/patience.h"
#include "agent/bytecode/constructors.h"
#include "agent/bytecode/vm_objects.h"
#include "agent/deaths/identity.h"
#include "agent/deaths/reaper.h"
#include "agent/deaths/recycle.h"
#include "agent/events/events.h"
#include "agent/events/tagged_deaths.h"
#include "agent/hotspot/headers.h"
#include "agent/hotspot/slots.h"
#include "agent/records/classes.h"
#include "agent/records/put_record.h"
#include "agent/references/object_ids.h"
#include "agent/stacks/stacks.h"

/* The start snapshot has reported objects whose constructors had not run yet.  In a JVM that starts
 * there are none; in one that runs, a look at the tag for a while finds them.  Below some native
 * methods the JVM will tell of the object once more: see vm_natives.c. */
static bool may_be_told_twice(struct session *session, struct os_thread *os)
{
    if (tracer_is_starting(session))
        return true;
    if (__builtin_expect(os->checked == session->number, 1))
        return false;
    if (os->vm_natives == 0 && clock_raw_unordered() - tracer.scale.zero > session->check_until)
        os->checked = session->number;
    return true;
}

static uint64_t size_of(struct class_cache_entry *class, jclass mirror, jobject object)
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

/* From the object's header, if its class was seen since the last collection. */
static inline bool facts_of_header(const struct session *session, struct os_thread *os,
                                   jobject object, struct object_facts *facts)
{
    if (!header_layout.known || !hold_begin(os))
        return false;
    bool found = facts_at(session, os, slot_word(object), facts);
    hold_end(os);
    return found;
}

/* The same object's class and size, as the JVM has said them: for the next of this class. */
static void note_header(const struct session *session, struct os_thread *os, jclass mirror,
                        jobject object, const struct class_cache_entry *class, uint64_t size)
{
    int shift =
        class->size_bytes == 0 ? class_element_shift(mirror, header_layout.references_shift) : 0;
    if (!header_layout.known || shift < 0 || size == 0 || !hold_begin(os))
        return;
    uintptr_t address = slot_word(object);
    uint64_t word = header_class_word(address);
    struct class_word_entry *pair = class_word_pair(os, word);
    if (class->size_bytes != 0 ||
        header_array_size(header_array_length(address), (unsigned) shift) == size) {
        pair[1] = pair[0];
        pair[0] = (struct class_word_entry){
            .word = word,
            .collections = atomic_load_explicit(&tracer.collections_begun, memory_order_relaxed),
            .session = session->number,
            .number = class->number,
            .size_bytes = class->size_bytes,
            .element_shift = (uint8_t) shift};
    }
    hold_end(os);
}

static struct object_facts facts_of(struct session *session, struct os_thread *os, JNIEnv *jni,
                                    jobject object)
{
    struct object_facts facts = {0};
    if (__builtin_expect(facts_of_header(session, os, object, &facts), 1))
        return facts;
    jclass mirror = (*jni)->GetObjectClass(jni, object);
    struct class_cache_entry *class = class_cached(session, os, jni, mirror);
    facts.class = class->number;
    if (class->number != 0) {
        facts.size_bytes = size_of(class, mirror, object);
        note_header(session, os, mirror, object, class, facts.size_bytes);
    }
    return facts;
}

/* An object is about to be remembered. */
static inline uint32_t key_of(const struct session *session, jobject object)
{
    if (!session->finds_objects)
        return 0;
    uint32_t key = identity_key(object);
    identity_expect(key);
    return key;
}

/* The object's weak reference goes where the reaper finds it. */
static void remember(struct session *session, struct os_thread *os, JNIEnv *jni, jobject object,
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
    if (atomic_load_explicit(&os->weak_session, memory_order_relaxed) != session->number)
        atomic_store(&os->weak_session, session->number);
    if (!weak_table_add(&reaper_table, &os->weak_page, (uint64_t) key << WEAK_ID_BITS | id,
                        reference)) {
        if (session->finds_objects)
            identity_remove(session, key, id);
        (*jni)->DeleteWeakGlobalRef(jni, reference);
    }
    if (weak_page_is_fresh(&os->weak_page))
        reaper_keep_pace(session, os);
}

/* collect=: so much was allocated. */
static void count_for_collection(struct session *session, struct os_thread *os, uint64_t size)
{
    uint64_t every = session->options.collect_every_bytes;
    uint64_t before = atomic_fetch_add(&session->uncollected, size);
    os->collects |= every == 0 || before / every != (before + size) / every;
}

/* One thread's collection is looked at before the next one's begins: what died has its own, also
 * where the JVM's own thread has to tell of it (what was there before a session that came late). */
static void collect(JNIEnv *jni)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    if (!lock_within(&lock, COMMAND_PATIENCE_NS))
        return;
    if ((*tracer.jvmti)->ForceGarbageCollection(tracer.jvmti) == JVMTI_ERROR_NONE) {
        tagged_deaths_flush();
        reaper_pass(jni);
    }
    pthread_mutex_unlock(&lock);
}

void object_probe_leave(struct os_thread *os, JNIEnv *jni)
{
    bool collects = os->collects;
    os->collects = false;
    probe_leave(os);
    /* The reaper's own objects are told of too. */
    if (__builtin_expect(collects && !tracer.dying, 0) && !reaper_is_mine())
        collect(jni);
}

/* Through the object's tag, as engine=jvmti does it. */
static void report_tagged(struct session *session, struct os_thread *os, JNIEnv *jni,
                          jobject object)
{
    jlong size = 0;
    jclass mirror = (*jni)->GetObjectClass(jni, object);
    if ((*tracer.jvmti)->GetObjectSize(tracer.jvmti, object, &size) == JVMTI_ERROR_NONE)
        event_alloc_within(session, os, jni, NULL, object, mirror, (uint64_t) size, ALLOC_BY_VM,
                           true);
    if (session->options.collects && size > 0)
        count_for_collection(session, os, (uint64_t) size);
    (*jni)->DeleteLocalRef(jni, mirror);
}

bool object_is_recent(const struct os_thread *os, jobject object)
{
    uintptr_t place = slot_word(object);
    if (place == 0 || os->recent.collections != atomic_load(&tracer.collections_begun))
        return false;
    for (size_t i = 0; i < RECENT_OBJECTS; i++)
        if (os->recent.places[i] == place)
            return true;
    return false;
}

void object_forget_recent(struct os_thread *os, uint64_t collections)
{
    memset(os->recent.places, 0, sizeof os->recent.places);
    os->recent.collections = collections;
}

/* An object that its constructors' entries have named already; true: all is reported. */
static bool made_by_constructor(struct session *session, struct os_thread *os, JNIEnv *jni,
                                jobject object, uint32_t key, uint64_t class,
                                struct java_thread *java, struct live_stream *stream)
{
    if (constructors_wait_long(java, stream))
        constructors_keep_window(session, os, jni, java, stream);
    uint64_t id = java->reserved != 0 ? constructor_take_reserved(java, session, class) : 0;
    if (id != 0)
        remember(session, os, jni, object, key, id);
    return id != 0;
}

/* The JVM gives back the local references of a probe when it returns. */
void object_made(struct session *session, struct os_thread *os, JNIEnv *jni, jobject object)
{
    if (object == NULL || (session->options.events & EVENT_ALLOC) == 0)
        return;
    if (__builtin_expect(may_be_told_twice(session, os), 0)) {
        report_tagged(session, os, jni, object);
        return;
    }
    uint32_t key = key_of(session, object);
    object_note_recent(os, slot_word(object));
    struct object_facts facts = facts_of(session, os, jni, object);
    struct live_stream *stream = thread_stream(session, os);
    if (facts.class == 0 || stream == NULL)
        return;
    struct java_thread *java = thread_current(session, os, NULL);
    if (__builtin_expect(java != NULL && java->pending + java->reserved != 0, 0) &&
        made_by_constructor(session, os, jni, object, key, facts.class, java, stream))
        return;
    uint64_t stack = 0;
    if (__builtin_expect(session->stacks != NULL, 0))
        stack = stack_of_allocation(session, os, jni, object, facts.class);
    uint64_t *room = reserve_alloc(session, stream, java != NULL ? java->id : 0, stack, 3);
    if (room != NULL) {
        uint64_t id = live_next_object(session->map, stream);
        write_alloc_at(facts.known ? thread_stamp_unordered(session, stream)
                                   : thread_stamp(session, stream),
                       stream, room, facts.class, facts.size_bytes, id, false);
        remember(session, os, jni, object, key, id);
        if (__builtin_expect(session->options.collects, 0))
            count_for_collection(session, os, facts.size_bytes);
        if (java != NULL && java->pending != 0)
            constructor_made(java, session, facts.class, id);
    }
}

static jint JNICALL note_size(jlong class_tag, jlong size, jlong *tag, jint length, void *size_out)
{
    (void) class_tag, (void) tag, (void) length;
    *(jlong *) size_out = size;
    return JVMTI_VISIT_ABORT;
}

/* The size of an object of a class that has one at least, whose constructor is open: the heap is
 * searched for it.  To make another would wait for the class's initializer, which waits for that
 * constructor, if this is another thread. */
static uint64_t size_in_heap(jclass class)
{
    jvmtiHeapCallbacks callbacks;
    jlong size = 0;
    memset(&callbacks, 0, sizeof callbacks);
    callbacks.heap_iteration_callback = note_size;
    (*tracer.jvmti)->IterateThroughHeap(tracer.jvmti, 0, class, &callbacks, &size);
    return (uint64_t) size;
}

static bool is_initialized(jclass class)
{
    jint status = 0;
    return (*tracer.jvmti)->GetClassStatus(tracer.jvmti, class, &status) == JVMTI_ERROR_NONE &&
           (status & JVMTI_CLASS_STATUS_INITIALIZED) != 0;
}

static uint64_t size_of_class(struct class_cache_entry *known, JNIEnv *jni, jclass class)
{
    if (known->size_bytes != 0)
        return known->size_bytes;
    if (!is_initialized(class))
        return known->size_bytes = size_in_heap(class);
    jthrowable of_program = exception_set_aside(jni);
    jobject like = jni_calls_plain_object(jni, class);
    uint64_t size = like != NULL ? size_of(known, class, like) : 0;
    exception_restore(jni, of_program);
    (*jni)->DeleteLocalRef(jni, like);
    return size;
}

uint64_t object_reserve(struct session *session, struct os_thread *os, JNIEnv *jni, jclass class,
                        uint64_t thread, struct live_stream *stream)
{
    struct class_cache_entry *known = class_cached(session, os, jni, class);
    uint64_t size = size_of_class(known, jni, class);
    uint64_t *room = known->number != 0 ? reserve_alloc(session, stream, thread, 0, 3) : NULL;
    if (room == NULL)
        return 0;
    uint64_t id = live_next_object(session->map, stream);
    write_alloc(session, stream, room, known->number, size, id, false);
    return id;
}

void object_never_made(struct session *session, struct os_thread *os, JNIEnv *jni, uint64_t id)
{
    jthrowable of_program = exception_set_aside(jni);
    jobject other = id != 0 ? jni_calls_plain_bytes(jni, 0) : NULL;
    if (other != NULL)
        remember(session, os, jni, other, key_of(session, other), id);
    exception_restore(jni, of_program);
    (*jni)->DeleteLocalRef(jni, other);
}

void object_made_once(struct session *session, struct os_thread *os, JNIEnv *jni, jobject object)
{
    if (object == NULL || (session->options.events & EVENT_ALLOC) == 0)
        return;
    report_tagged(session, os, jni, object);
}

void object_made_string(struct session *session, struct os_thread *os, JNIEnv *jni, jobject string)
{
    if (string == NULL)
        return;
    object_made(session, os, jni, string);
    object_made(session, os, jni, string_array(jni, string));
}

jobject string_array(JNIEnv *jni, jobject string)
{
    static _Atomic(jfieldID) value;
    jfieldID field = atomic_load(&value);
    if (field == NULL) {
        jthrowable of_program = exception_set_aside(jni);
        jclass class = (*jni)->GetObjectClass(jni, string);
        field = (*jni)->GetFieldID(jni, class, "value", "[B");
        exception_restore(jni, of_program);
        (*jni)->DeleteLocalRef(jni, class);
        atomic_store(&value, field);
    }
    return field != NULL ? (*jni)->GetObjectField(jni, string, field) : NULL;
}

static void made_arrays(struct session *session, struct os_thread *os, JNIEnv *jni, jobject array,
                        jint dimensions)
{
    object_made(session, os, jni, array);
    if (array == NULL || dimensions <= 1)
        return;
    jsize length = (*jni)->GetArrayLength(jni, array);
    for (jsize i = 0; i < length; i++) {
        if ((*jni)->PushLocalFrame(jni, 16) != JNI_OK)
            return;
        jobject element = (*jni)->GetObjectArrayElement(jni, array, i);
        made_arrays(session, os, jni, element, dimensions - 1);
        (*jni)->PopLocalFrame(jni, NULL);
    }
}

void object_made_arrays(struct session *session, struct os_thread *os, JNIEnv *jni, jobject array,
                        jint dimensions)
{
    jthrowable of_program = exception_set_aside(jni);
    made_arrays(session, os, jni, array, dimensions);
    exception_restore(jni, of_program);
}
