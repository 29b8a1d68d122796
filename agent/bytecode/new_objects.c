/* SPDX-License-Identifier: Apache-2.0 */
/* New objects with engine=bytecode.
 *
 * Most have no tag: a weak reference shows their death, the stream assigns their id. Tags mark the
 * few that more than one source may report: those of the start snapshot, clones, and objects that
 * the VM creates itself. */
#include "agent/bytecode/new_objects.h"

#include <pthread.h>
#include <string.h>

#include "agent/base/exceptions.h"
#include "agent/base/jvm_classes.h"
#include "agent/base/patience.h"
#include "agent/bytecode/constructors.h"
#include "agent/bytecode/object_facts.h"
#include "agent/deaths/reaper.h"
#include "agent/events/events.h"
#include "agent/hotspot/slots.h"
#include "agent/records/classes.h"
#include "agent/records/put_record.h"
#include "agent/stacks/stacks.h"

/* Returns true if the object may have an id already, which its tag shows. Reading a tag takes many
 * times as long as the rest, so each thread stops doing it as soon as it can.
 *
 * The start snapshot has reported objects whose constructors had not run yet. There are none in a
 * JVM that starts; in a running one, tags are checked for a while to find them. An object of the
 * snapshot whose Object.<init> comes later than CHECK_NS gets a second id. Below some native
 * methods the JVM will report the object again: see vm_natives.c. `checked` is the session's
 * number, so a new session begins with the checks again without touching any thread. */
static bool may_be_reported_twice(struct session *session, struct os_thread *os)
{
    if (tracer_is_starting(session))
        return true;
    if (__builtin_expect(os->events.checked == session->number, 1))
        return false;
    if (os->bytecode.vm_natives == 0 &&
        clock_raw_unordered() - tracer.scale.zero > session->bytecode.check_until)
        os->events.checked = session->number;
    return true;
}

/* collect=: counts allocated bytes. */
static void count_for_collection(struct session *session, struct os_thread *os, uint64_t size)
{
    uint64_t every = session->options.collect_every_bytes;
    uint64_t before = atomic_fetch_add(&session->bytecode.uncollected, size);
    os->bytecode.collects |= every == 0 || before / every != (before + size) / every;
}

/* Makes the collection of collect=. The deaths of one thread's collection are processed before the
 * next one's begins, so that each object dies in its own collection, also if the JVM's own thread
 * has to report it (objects from before a session that started late). It is called outside of the
 * probe: the collection waits for a safepoint, and the end of a session would wait for that probe
 * as long. */
static void new_objects_collect(JNIEnv *jni)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    if (!lock_within(&lock, COMMAND_PATIENCE_NS))
        return;
    uint64_t took_ns;
    if (heap_collect(&took_ns)) {
        tagged_deaths_flush();
        reaper_pass(jni, false);
    }
    pthread_mutex_unlock(&lock);
}

void object_probe_leave(struct os_thread *os, JNIEnv *jni)
{
    bool collects = os->bytecode.collects;
    os->bytecode.collects = false;
    probe_leave(os);
    /* the reaper's own objects are reported, too */
    if (__builtin_expect(collects && !tracer.dying, 0) && !reaper_is_mine())
        new_objects_collect(jni);
}

/* Reports through the object's tag, like engine=jvmti. */
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
    if (place == 0 || os->bytecode.recent.collections != collections_seen())
        return false;
    for (size_t i = 0; i < RECENT_OBJECTS; i++)
        if (os->bytecode.recent.places[i] == place)
            return true;
    return false;
}

void object_forget_recent(struct os_thread *os, uint64_t collections)
{
    memset(os->bytecode.recent.places, 0, sizeof os->bytecode.recent.places);
    os->bytecode.recent.collections = collections;
}

/* Handles an object that its constructors' entries have named already. Returns true if everything
 * is reported. */
static bool made_by_constructor(struct session *session, struct os_thread *os, JNIEnv *jni,
                                jobject object, uint32_t key, uint64_t class,
                                struct java_thread *java, struct live_stream *stream)
{
    if (constructors_wait_long(java, stream))
        constructors_keep_window(session, os, jni, java, stream);
    uint64_t id = java->reserved != 0 ? constructor_take_reserved(java, session, class) : 0;
    if (id != 0)
        object_remember(session, os, jni, object, key, id);
    return id != 0;
}

/* Reports a new object. The JVM deletes the local references of a probe when it returns.
 *
 * The order of the steps:
 *
 * - Tags are looked at first, while the object may have an id already; report_tagged() handles both
 *   cases.
 * - The hash key is computed before the record, to fetch the entry of the table early.
 * - Class and size come before room is reserved, since finding a new class writes a definition,
 *   which must precede the record, and may take any time.
 * - A constructor that waits for this object may have been given an id for it in advance. Then the
 *   object takes that id, and its allocation is in the trace already.
 * - The id is drawn only when there is room. So a dropped record uses none, and the next object of
 *   the stream still has the id after the last one's, which takes no word.
 * - The record is committed before the reference is added to the page. The reaper finds dead
 *   objects only through the page, so it never reports the death of an object whose record is still
 *   to be written.
 * - An object of a class that this thread knows may have a stamp without order (stamps.h): no other
 *   thread can have got the object yet. A class that was new may have been defined by another
 *   thread a moment ago; then the stamp must not be earlier than the class's. */
void object_made(struct session *session, struct os_thread *os, JNIEnv *jni, jobject object)
{
    if (object == NULL || (session->options.events & TRACED_ALLOC) == 0)
        return;
    if (__builtin_expect(may_be_reported_twice(session, os), 0)) {
        report_tagged(session, os, jni, object);
        return;
    }
    uint32_t key = object_key(session, object);
    object_note_recent(os, slot_word(object));
    struct object_facts facts = object_facts_of(session, os, jni, object);
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
        write_alloc_at(session,
                       facts.known ? allocation_stamp(session, stream)
                                   : thread_stamp(session, stream),
                       stream, room, facts.class, facts.used_bytes, id, false);
        object_remember(session, os, jni, object, key, id);
        if (__builtin_expect(session->options.collects, 0))
            count_for_collection(session, os, facts.used_bytes);
        if (java != NULL && java->pending != 0)
            constructor_made(java, session, facts.class, id);
    }
}

void object_made_once(struct session *session, struct os_thread *os, JNIEnv *jni, jobject object)
{
    if (object == NULL || (session->options.events & TRACED_ALLOC) == 0)
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
    jfieldID field = class_field_once(jni, &value, "java/lang/String", "value", "[B");
    return field != NULL ? (*jni)->GetObjectField(jni, string, field) : NULL;
}

/* Returns false if there are no more local references. */
static bool made_arrays(struct session *session, struct os_thread *os, JNIEnv *jni, jobject array,
                        jint dimensions)
{
    object_made(session, os, jni, array);
    if (array == NULL || dimensions <= 1)
        return true;
    bool all = true;
    jsize length = (*jni)->GetArrayLength(jni, array);
    for (jsize i = 0; i < length && all; i++) {
        if ((*jni)->PushLocalFrame(jni, 16) != JNI_OK)
            return false;
        jobject element = (*jni)->GetObjectArrayElement(jni, array, i);
        all = made_arrays(session, os, jni, element, dimensions - 1);
        (*jni)->PopLocalFrame(jni, NULL);
    }
    return all;
}

void object_made_arrays(struct session *session, struct os_thread *os, JNIEnv *jni, jobject array,
                        jint dimensions)
{
    jthrowable of_program = exception_set_aside(jni);
    bool all = made_arrays(session, os, jni, array, dimensions);
    exception_restore(jni, of_program, !all, THROWN_BY_ALLOCATION);
}
