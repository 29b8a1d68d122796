/* SPDX-License-Identifier: Apache-2.0 */
/* Converts events to raw records. */
#include "agent/events/events.h"

#include <sched.h>

#include "agent/base/java_versions.h"
#include "agent/events/collections.h"
#include "agent/events/engine.h"
#include "agent/hotspot/hash_state.h"
#include "agent/records/classes.h"
#include "agent/records/layouts.h"
#include "agent/records/put_record.h"
#include "agent/stacks/stacks.h"

#define FREE_GAP_NS UINT64_C(10000000)

/* JDKs after 17 draw an identity hash for a tagged object. */
bool event_set_tag(jobject object, jlong tag)
{
    hash_state_enter();
    bool set = (*tracer.jvmti)->SetTag(tracer.jvmti, object, tag) == JVMTI_ERROR_NONE;
    hash_state_leave();
    return set;
}

/* Assigns an id to the object and records it. `tag` is its current tag.
 *
 * The room is reserved first: an object with a tag but without a record would be named by later
 * events and never be known. The stamp is taken before the tag is set, since from then on other
 * threads find the id and write it with stamps of their own, which must not be earlier. The record
 * is committed after it all; a reader merges by time, so it does not matter that another thread's
 * record may reach the file first. If another thread was faster with a mirror's tag, the room is
 * left unused, and its id is returned. */
static uint64_t record_object(struct session *session, struct live_stream *stream, uint64_t thread,
                              jobject object, uint64_t class, uint64_t used_bytes, jlong tag,
                              uint64_t stack, bool existing)
{
    uint64_t *room = reserve_alloc(session, stream, thread, stack, 3);
    if (room == NULL)
        return 0;
    uint64_t id = live_next_object(session->map, stream);
    /* before any other thread can find the id */
    uint64_t stamp = thread_stamp(session, stream);
    if ((tag & TAG_MARKS) != 0 ? !object_claim_tag(session, tag, id)
                               : !event_set_tag(object, tag_of_object(session, id)))
        return object_of_tag(session, tag);
    write_alloc_at(session, stamp, stream, room, class, used_bytes, id, existing);
    return id;
}

/* Tags an object that has lost its tag. A sample has just reported the object, but its tag is gone:
 * JDKs after 17 look up tags by the identity hash in the object's header, and JVM_Clone overwrites
 * the header. The object gets the same id again; of its two death notices, the one with this tag is
 * ignored. It is known by class and size, and by being this thread's last sample: the two reports
 * follow each other directly. */
static bool tag_again(const struct session *session, struct os_thread *os, jobject object,
                      uint64_t class, uint64_t size_bytes)
{
    if (tracer.java_major < JAVA_TAGS_BY_HASH || os->events.last_object == 0 ||
        os->events.last_class != class || os->events.last_size_bytes != size_bytes)
        return false;
    event_set_tag(object, tag_of_object(session, os->events.last_object) | TAG_AGAIN);
    os->events.last_object = 0;
    return true;
}

/* Sampled objects are new, and reading a tag is slow. The tag is read for objects that the VM
 * reports, and until the thread has passed the start snapshot. */
static bool events_is_known(const struct session *session, struct os_thread *os, jobject object,
                            enum alloc_origin source, jlong *tag)
{
    if (source == ALLOC_SAMPLED && os->events.checked == session->number)
        return false;
    if ((*tracer.jvmti)->GetTag(tracer.jvmti, object, tag) != JVMTI_ERROR_NONE)
        return true;
    return object_of_tag(session, *tag) != 0;
}

static uint64_t used_bytes(const struct session *session, JNIEnv *jni, jclass class, jobject object,
                           uint64_t size)
{
    return session->padding_mask != 0 ? layout_used_bytes(jni, class, object, size) : size;
}

void event_alloc_within(struct session *session, struct os_thread *os, JNIEnv *jni, jthread thread,
                        jobject object, jclass class, uint64_t size_bytes, enum alloc_origin source,
                        bool by_java)
{
    struct live_stream *stream = thread_stream(session, os);
    struct class_cache_entry *cached = class_cached(session, os, jni, class);
    uint64_t class_id = cached->number;
    layout_of_cached(session, jni, class, cached);
    if (stream == NULL || class_id == 0)
        return;
    const struct java_thread *java = thread_current(session, os, thread);
    jlong tag = 0;
    bool settled = !tracer_is_starting(session);
    bool known = events_is_known(session, os, object, source, &tag);
    if (settled)
        os->events.checked =
            session->options.engine != ENGINE_BYTECODE ? session->number : os->events.checked;
    if (known ||
        (source == ALLOC_BY_VM && tag == 0 && tag_again(session, os, object, class_id, size_bytes)))
        return;
    size_bytes = used_bytes(session, jni, class, object, size_bytes);
    uint64_t stack =
        stack_of_allocation(session, os, jni, by_java ? object : NULL, by_java ? class_id : 0);
    os->events.last_object = record_object(session, stream, java != NULL ? java->id : 0, object,
                                           class_id, size_bytes, tag, stack, false);
    os->events.last_class = class_id;
    os->events.last_size_bytes = size_bytes;
    if (source != ALLOC_SAMPLED || tag != 0)
        os->events.last_object = 0;
}

void event_alloc(JNIEnv *jni, jthread thread, jobject object, jclass class, jlong size_bytes,
                 enum alloc_origin source)
{
    struct os_thread *os;
    struct session *session = probe_enter(&os);
    if (session == NULL)
        return;
    if (session->engine->take_sample != NULL)
        session->engine->take_sample(session, os, jni, thread, object, class, size_bytes);
    else if (size_bytes >= 0)
        event_alloc_within(session, os, jni, thread, object, class, (uint64_t) size_bytes, source,
                           false);
    probe_leave(os);
}

/* The JVM reports dead objects while it holds the lock of its tag map, so time spent here delays
 * all threads that allocate. This flag serialises the writers of frees. As the session is looked up
 * under it, it also keeps the session alive. */
static _Atomic bool frees_busy;

/* A lock of one flag. It is held for a few instructions, unless a chunk is full; the stream of
 * frees never waits for room. So a thread that finds it taken yields and does not sleep. The
 * exchange is sequentially consistent: event_free() loads the session after it, and end_probes() of
 * session_drain.c takes the session away before its own exchange. Whoever gets the flag later than
 * that finds no session; whoever had it before has left when event_wait_for_frees() returns. */
void event_frees_enter(void)
{
    while (atomic_exchange_explicit(&frees_busy, true, memory_order_seq_cst))
        sched_yield();
}

void event_frees_leave(void)
{
    atomic_store_explicit(&frees_busy, false, memory_order_release);
}

void event_wait_for_frees(void)
{
    event_frees_enter();
    event_frees_leave();
}

static void end_batch(struct session *session)
{
    if (!session->free_batch.open)
        return;
    uint64_t *room = live_reserve(session->map, session->frees, 1);
    if (room == NULL)
        return;
    room[0] = live_word(STEP_LIVE_FREE_END, session->free_batch.stamp);
    live_commit(session->frees, 1, 0);
    session->free_batch.open = false;
}

/* Returns the time of deaths that a collection found: never before this batch or the last one, as
 * there are two sources. The start snapshot's clock is frozen, except for streams of virtual
 * threads that change their carriers. Objects that those have allocated do not die earlier.
 *
 * A batch has one time, that of its FREE_END. The order of the ids in it is not that of their
 * deaths, which nobody knows: one collection found them all. Readers may rely on rising times of
 * batches. */
static uint64_t stamp_of_free(const struct session *session, uint64_t stamp)
{
    uint64_t latest = atomic_load_explicit(&session->stamps.latest_frozen, memory_order_acquire);
    stamp = stamp > latest ? stamp : latest;
    return stamp > session->free_batch.stamp ? stamp : session->free_batch.stamp;
}

static void note_frees(struct session *session, uint64_t stamp, uint64_t raw, uint64_t collection)
{
    session->free_batch.stamp = stamp;
    session->free_batch.raw = raw;
    session->free_batch.collection = collection;
    atomic_store_explicit(&session->map->header->free_stamp, stamp, memory_order_relaxed);
}

/* While a trace ends collections have no date any more. */
static uint64_t stamp_of_found(const struct session *session, uint64_t raw)
{
    uint64_t frozen = atomic_load_explicit(&session->stamps.frozen, memory_order_acquire);
    if (!collections_are_dated())
        return frozen != 0 ? tracer_stamp_without_clock(frozen) : raw - tracer.scale.zero;
    uint64_t stamp = stamp_of_collection(session);
    return stamp > session->stamps.first ? stamp : session->stamps.first;
}

/* Records one death. The JVM reports the dead objects of a collection one by one, some time after
 * it. They have its time, as those have whose references were cleared: a pause is one collection. A
 * batch ends with its collection, or after a pause of FREE_GAP_NS, since no event says that the JVM
 * has reported all. An object of an earlier file is marked, as this file has no allocation of
 * it. */
void event_freed(struct session *session, uint64_t object)
{
    uint64_t raw = clock_raw_unordered(), stamp = stamp_of_found(session, raw);
    uint64_t collection = atomic_load_explicit(&tracer.collections, memory_order_relaxed);
    if (session->free_batch.open && (collection != session->free_batch.collection ||
                                     raw - session->free_batch.raw > session->free_batch.gap))
        end_batch(session);
    uint64_t *room = live_reserve(session->map, session->frees, 1);
    if (room == NULL)
        return;
    if (object < session->first_object)
        object |= STEP_LIVE_IS_EARLIER;
    room[0] = live_word(STEP_LIVE_FREE_OBJECT, object);
    session->free_batch.open = true;
    note_frees(session, stamp_of_free(session, stamp), raw, collection);
    live_commit(session->frees, 1, 1);
}

/* Under frees_busy. */
static void (*between_files)(jlong tag);

void event_frees_between_files(void (*note)(jlong tag))
{
    between_files = note;
}

void event_free(jlong tag)
{
    event_frees_enter();
    struct session *session = atomic_load_explicit(&tracer.session, memory_order_seq_cst);
    if (atomic_load_explicit(&tracer.forked, memory_order_relaxed) || (tag & TAG_AGAIN) != 0) {
        event_frees_leave();
        return;
    }
    if (between_files != NULL) {
        between_files(tag);
    } else if (session != NULL) {
        uint64_t object = object_of_tag(session, tag);
        const struct engine *engine = session->engine;
        if (object != 0 && (engine->awaits == NULL || engine->awaits(session, object)))
            event_freed(session, object);
    }
    event_frees_leave();
}

void event_given_up(struct session *session, uint64_t object, uint64_t threshold)
{
    end_batch(session);
    if (session->free_batch.open) /* no room for its end */
        return;
    uint64_t *room = live_reserve(session->map, session->frees, 5);
    if (room == NULL)
        return;
    session->free_batch.stamp = stamp_of_free(session, tracer_stamp(session));
    room[0] = live_word(STEP_LIVE_FACT, session->free_batch.stamp);
    room[1] = STEP_LIVE_GIVEN_UP;
    room[2] = STEP_LIVE_GIVEN_UP_BYTES;
    room[3] = object;
    room[4] = threshold;
    atomic_store_explicit(&session->map->header->free_stamp, session->free_batch.stamp,
                          memory_order_relaxed);
    live_commit(session->frees, 5, 1);
}

/* Returns how many of the objects have consecutive ids, at most as many as one record holds. A page
 * of references has the objects of one thread in the order in which it made them. */
static size_t run_length(const uint64_t *objects, size_t count)
{
    size_t most = count < STEP_LIVE_FREED_MOST ? count : STEP_LIVE_FREED_MOST, length = 1;
    while (length < most && objects[length] == objects[0] + length)
        length++;
    return length;
}

void event_free_many(struct session *session, const uint64_t *objects, size_t count, uint64_t stamp,
                     uint64_t collection)
{
    if ((session->options.events & TRACED_FREE) == 0)
        return;
    event_frees_enter();
    if (session->free_batch.open && collection != session->free_batch.collection)
        end_batch(session);
    stamp = stamp_of_free(session, stamp);
    size_t written = 0;
    while (written < count) {
        uint64_t *room = live_reserve(session->map, session->frees, 1);
        if (room == NULL)
            break;
        uint64_t run = run_length(objects + written, count - written);
        room[0] =
            live_word(STEP_LIVE_FREE_OBJECT, objects[written] | (run - 1) << STEP_LIVE_FREED_BITS);
        live_commit(session->frees, 1, (unsigned) run);
        written += run;
    }
    session->free_batch.open = session->free_batch.open || written != 0;
    note_frees(session, stamp, clock_raw_unordered(), collection);
    event_frees_leave();
}

/* Closes a batch that has not grown for a while, or at once if `now`. A thread that writes frees
 * right now keeps the batch open anyway, so the drain does not wait for it. Without this, the
 * deaths of the last collection would stay in the decoder until the next one: a watched trace would
 * show them late, and their chunks could not be released. */
bool event_close_free_batch(struct session *session, bool now)
{
    if (!now && atomic_load_explicit(&frees_busy, memory_order_relaxed))
        return false;
    event_frees_enter();
    bool was_open = session->free_batch.open;
    if (now || clock_raw() - session->free_batch.raw > 5 * session->free_batch.gap)
        end_batch(session);
    bool closed = was_open && !session->free_batch.open;
    event_frees_leave();
    return closed;
}

void event_set_free_gap(struct session *session)
{
    session->free_batch.gap = tracer_stamps_of_ns(FREE_GAP_NS);
}

/* The VM posts no event for some of the objects that it creates. */
uint64_t event_tagged_object(struct session *session, struct live_stream *stream, uint64_t thread,
                             JNIEnv *jni, jobject object, bool *is_new)
{
    jvmtiEnv *jvmti = tracer.jvmti;
    jlong tag = 0, size = 0;
    uint64_t id = 0;
    *is_new = false;
    if ((*jvmti)->GetTag(jvmti, object, &tag) == JVMTI_ERROR_NONE)
        id = object_of_tag(session, tag);
    if (id == 0 && session->options.existing) {
        jclass class = (*jni)->GetObjectClass(jni, object);
        uint64_t class_id = class_number(session, class);
        if (class_id != 0 && (*jvmti)->GetTag(jvmti, object, &tag) == JVMTI_ERROR_NONE &&
            (*jvmti)->GetObjectSize(jvmti, object, &size) == JVMTI_ERROR_NONE)
            id = record_object(session, stream, thread, object, class_id,
                               used_bytes(session, jni, class, object, (uint64_t) size), tag, 0,
                               session->options.engine != ENGINE_BYTECODE);
        *is_new = id != 0;
        (*jni)->DeleteLocalRef(jni, class);
    }
    return id;
}
