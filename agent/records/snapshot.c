/* SPDX-License-Identifier: Apache-2.0 */
/* Records what exists when tracing starts: threads, classes, objects. Meanwhile the session's clock
 * is frozen, so that all of it, and all events meanwhile, have the time of VM init. */
#include "agent/records/snapshot.h"

#include <string.h>

#include "agent/base/jvm_classes.h"
#include "agent/records/classes.h"
#include "agent/records/layouts.h"
#include "agent/records/put_record.h"
#include "agent/records/threads.h"

#define ROUNDS 4

static void take_threads(struct session *session, JNIEnv *jni)
{
    jint count = 0;
    jthread *threads = NULL;
    if ((*tracer.jvmti)->GetAllThreads(tracer.jvmti, &count, &threads) != JVMTI_ERROR_NONE)
        return;
    for (jint i = 0; i < count; i++) {
        thread_register(session, threads[i], true);
        (*jni)->DeleteLocalRef(jni, threads[i]);
    }
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *) threads);
}

static void snapshot_take_class(void *context, JNIEnv *jni, jclass class)
{
    struct session *session = context;
    class_loaded(session, class, true);
    if (session->padding_mask != 0)
        layout_of_loaded(session, jni, class);
}

/* State of the heap walk. It runs in the VM's thread at a safepoint while the thread that requested
 * it waits, and writes to that thread's stream. */
struct walk {
    struct session *session;
    struct live_stream *stream;
    uint64_t unknown_classes; /* objects whose class had no number yet */
};

/* Returns an id for an object that has none in this session, or 0 if another thread was faster. */
static uint64_t claim_object(struct walk *walk, jlong *tag)
{
    uint64_t id = live_next_object(walk->session->map, walk->stream);
    if ((*tag & TAG_MARKS) == 0)
        *tag = tag_of_object(walk->session, id);
    else if (!object_claim_tag(walk->session, *tag, id))
        return 0;
    return id;
}

static jint JNICALL on_object(jlong class_tag, jlong size, jlong *tag, jint length, void *data)
{
    struct walk *walk = data;
    uint64_t class = class_number_of_tag(walk->session, class_tag);
    if (class_is_filler(class_tag))
        return JVMTI_VISIT_OBJECTS;
    if (class == 0) {
        walk->unknown_classes++;
        return JVMTI_VISIT_OBJECTS;
    }
    if (object_of_tag(walk->session, *tag) != 0) /* a probe was faster */
        return JVMTI_VISIT_OBJECTS;
    uint64_t *room = live_reserve(walk->session->map, walk->stream, 3);
    uint64_t id = room != NULL ? claim_object(walk, tag) : 0;
    if (id == 0)
        return JVMTI_VISIT_OBJECTS;
    walk->stream->base_stamp = thread_stamp(walk->session, walk->stream);
    room[0] = live_word(STEP_LIVE_EXISTING, walk->stream->base_stamp);
    room[1] = alloc_word(walk->session, class,
                         walk->session->padding_mask != 0
                             ? layout_used_of_tag(class_tag, length, (uint64_t) size)
                             : (uint64_t) size);
    room[2] = id;
    live_commit(walk->stream, 3, 1);
    return JVMTI_VISIT_OBJECTS;
}

static void switch_to_vm(struct session *session, struct live_stream *stream)
{
    uint64_t *room = live_reserve(session->map, stream, 1);
    if (room == NULL || stream->thread == 0)
        return;
    room[0] = live_word(STEP_LIVE_THREAD_SWITCH, 0);
    stream->thread = 0;
    live_commit(stream, 1, 0);
}

/* Records the objects that exist. Classes may be created between their listing and the walk; the
 * next walk finds their objects. The callback of a walk must not call the JVM, so it can only count
 * objects of a class without a number; the classes are numbered between two walks. Objects that
 * have got an id meanwhile, from a probe or in an earlier round, are passed over by their tag.
 * Since the program stands still during a walk, no class can be created in it, so the rounds end
 * soon. */
static void take_objects(struct session *session, struct os_thread *os, JNIEnv *jni)
{
    struct live_stream *stream = thread_stream(session, os);
    if (stream == NULL)
        return;
    switch_to_vm(session, stream);
    for (int round = 0; round < ROUNDS; round++) {
        struct walk walk = {.session = session, .stream = stream};
        live_stand_still(stream, true);
        heap_each_object(0, NULL, on_object, &walk);
        live_stand_still(stream, false);
        if (walk.unknown_classes == 0)
            break;
        class_each_loaded(jni, snapshot_take_class, session);
    }
}

/* Returns true if a collection must come before the snapshot. Allocation buffers handed out before
 * sampling was on cause no samples: the collection takes them back from their threads. It also
 * removes garbage, which would otherwise be recorded as existing and then die at the first
 * collection. With max-pause= there is none: samples of the buffers that threads have are missing
 * then, and nothing that exists is recorded. */
static bool needs_collection(const struct session *session)
{
    bool samples =
        session->options.engine == ENGINE_JVMTI || session->options.engine == ENGINE_SAMPLED;
    return (tracer.early_collection || session->late) && (samples || session->options.existing) &&
           session->options.max_pause_ns == 0;
}

void snapshot_take(struct session *session, JNIEnv *jni)
{
    struct os_thread *os;
    if (probe_enter(&os) == NULL)
        return;
    if ((session->options.events & TRACED_THREAD) != 0)
        take_threads(session, jni);
    if ((session->options.events & TRACED_CLASS) != 0)
        class_each_loaded(jni, snapshot_take_class, session);
    if ((session->options.events & TRACED_ALLOC) != 0) {
        uint64_t took_ns;
        if (needs_collection(session))
            heap_collect(&took_ns);
        if (session->options.existing)
            take_objects(session, os, jni);
    }
    probe_leave(os);
}
