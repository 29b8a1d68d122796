/* SPDX-License-Identifier: Apache-2.0 */
/* Assigns objects and reserved ids to open constructors. */
#include "agent/bytecode/constructors.h"

#include <stdlib.h>

#include "agent/base/exceptions.h"
#include "agent/base/jvm_classes.h"
#include "agent/bytecode/object_facts.h"
#include "agent/bytecode/plain_calls.h"
#include "agent/records/classes.h"
#include "agent/records/layouts.h"
#include "agent/records/method_numbers.h"
#include "agent/records/put_record.h"

/* Returns true if the frame waits, or would if its object were not reserved. */
static bool is_open(const struct method_frame *frame)
{
    return (frame->pending & FRAME_RECORD) != 0;
}

static bool goes_on_above(const struct method_frame *frame)
{
    return is_open(frame) && (frame->pending & FRAME_IN_SUPER) != 0;
}

/* Returns the frame of the outermost constructor of this frame's object. */
static size_t outermost_of(const struct java_thread *java, size_t at)
{
    while (at > 0 && (java->frames[at].pending & FRAME_OUTERMOST) == 0 &&
           goes_on_above(&java->frames[at - 1]))
        at--;
    return at;
}

static uint64_t constructors_class_of(struct session *session, const struct method_frame *frame)
{
    return method_class_of(session, (uint32_t) (uintptr_t) frame->key);
}

/* A new object has its id: it is noted in the frame of its outermost constructor, where the entries
 * of all its constructors will find it. The object's class decides which frame that is, because
 * super() runs from the subclass inwards, and Object.<init>, which reports the object, is the
 * innermost. Objects made for the arguments of super() have other classes, or frames of their own
 * further in. */
void constructor_made(struct java_thread *java, struct session *session, uint64_t class,
                      uint64_t object)
{
    if (java->depth == 0 || !is_open(&java->frames[java->depth - 1]))
        return;
    size_t top = java->depth - 1;
    for (size_t i = outermost_of(java, top); i <= top; i++) {
        struct method_frame *frame = &java->frames[i];
        if (constructors_class_of(session, frame) != class)
            continue;
        if ((frame->pending & FRAME_OUTERMOST) == 0)
            frame->object = object;
        frame->pending |= FRAME_OUTERMOST;
        return;
    }
}

/* Marks that the frame needs no object any more. */
static void constructors_settle(struct java_thread *java, struct method_frame *frame)
{
    if (!is_open(frame))
        return;
    if ((frame->pending & FRAME_RESERVED) != 0)
        java->reserved--;
    else
        java->pending--;
    frame->pending = 0;
}

uint64_t constructor_take_reserved(struct java_thread *java, struct session *session,
                                   uint64_t class)
{
    if (java->depth == 0 || (java->frames[java->depth - 1].pending & FRAME_RESERVED) == 0)
        return 0;
    size_t first = outermost_of(java, java->depth - 1);
    if (constructors_class_of(session, &java->frames[first]) != class)
        return 0;
    uint64_t object = java->frames[first].object;
    for (size_t i = first; i < java->depth; i++)
        constructors_settle(java, &java->frames[i]);
    return object;
}

uint64_t constructor_reserved(struct session *session, const struct java_thread *java, JNIEnv *jni,
                              uint32_t number)
{
    (void) session;
    if (java->depth == 0)
        return 0;
    const struct method_frame *top = &java->frames[java->depth - 1];
    if ((top->pending & FRAME_RESERVED) == 0 || (top->pending & FRAME_IN_SUPER) == 0)
        return 0;
    jclass class = method_declaring_class((uint32_t) (uintptr_t) top->key);
    jclass super = method_declaring_class(number);
    bool same = class != NULL && super != NULL && (*jni)->IsAssignableFrom(jni, class, super);
    (*jni)->DeleteLocalRef(jni, class);
    (*jni)->DeleteLocalRef(jni, super);
    return same ? java->frames[outermost_of(java, java->depth - 1)].object : 0;
}

void constructor_write(struct session *session, struct live_stream *stream,
                       const struct java_thread *java, const struct method_frame *frame,
                       uint64_t object)
{
    uint64_t *room = reserve_event(session, stream, java->id, 2);
    if (room == NULL)
        return;
    constructor_put(stream, room, java, frame, object);
}

/* Writes the record of an object of that class that does not exist yet, and returns its id; 0: not
 * possible. */
static uint64_t object_reserve(struct session *session, struct os_thread *os, JNIEnv *jni,
                               jclass class, uint64_t thread, struct live_stream *stream)
{
    struct class_cache_entry *known = class_cached(session, os, jni, class);
    layout_of_cached(session, jni, class, known);
    uint64_t size = object_size_of_class(known, jni, class);
    uint64_t *room = known->number != 0 ? reserve_alloc(session, stream, thread, 0, 3) : NULL;
    if (room == NULL)
        return 0;
    uint64_t id = live_next_object(session->map, stream);
    write_alloc_at(session, thread_stamp(session, stream), stream, room, known->number, size, id,
                   false);
    return id;
}

/* Reserves an id for the object of that outermost constructor, and records its allocation. This is
 * how an id goes ahead of its object: MN of a constructor must carry the id of the object under
 * construction, and OA must come before it in the trace. A constructor's `this` is uninitialised
 * until super() has returned, and no probe can be given it before. Usually the entry waits, and a
 * later record resolves it. But a reader waits only for so many events, and a thread that leaves
 * its native thread goes on in another stream. Then the id is drawn now, with the class of the
 * outermost constructor, which is the object's, and its size. */
static uint64_t constructors_reserve(struct session *session, struct os_thread *os, JNIEnv *jni,
                                     struct java_thread *java, struct live_stream *stream,
                                     const struct method_frame *frame)
{
    jclass class = method_declaring_class((uint32_t) (uintptr_t) frame->key);
    uint64_t object = 0;
    if (class != NULL)
        object = object_reserve(session, os, jni, class, java->id, stream);
    (*jni)->DeleteLocalRef(jni, class);
    return object;
}

/* Assigns the object to the frames from `first` to `last`, which are of one object. Frames whose
 * object has an id (FRAME_OUTERMOST) are resolved and done. The others get a reserved id and stay
 * open (FRAME_RESERVED) until the object itself appears and takes it, in
 * constructor_take_reserved(), or turns out to have never been made. The innermost frame is written
 * first: readers take an object's last report as the outermost's. */
static void constructors_give(struct session *session, struct os_thread *os, JNIEnv *jni,
                              struct java_thread *java, struct live_stream *stream, size_t first,
                              size_t last)
{
    struct method_frame *outermost = &java->frames[first];
    bool known = (outermost->pending & (FRAME_OUTERMOST | FRAME_RESERVED)) != 0;
    if (!known)
        outermost->object = constructors_reserve(session, os, jni, java, stream, outermost);
    bool comes = !known || (outermost->pending & FRAME_RESERVED) != 0;
    uint64_t object = outermost->object;
    /* readers take an object's last report as the outermost's */
    for (size_t i = last + 1; i-- > first;) {
        struct method_frame *frame = &java->frames[i];
        if (!frame_waits(frame))
            continue;
        java->pending--;
        if (frame->stream == stream)
            constructor_write(session, stream, java, frame, object);
        frame->pending = comes ? frame->pending | FRAME_RESERVED : 0;
        java->reserved += comes;
    }
}

void constructors_keep_window(struct session *session, struct os_thread *os, JNIEnv *jni,
                              struct java_thread *java, struct live_stream *stream)
{
    for (size_t first = 0, last; first < java->depth && java->pending != 0; first = last + 1) {
        last = first;
        if (!is_open(&java->frames[first]))
            continue;
        while (last + 1 < java->depth && goes_on_above(&java->frames[last]) &&
               is_open(&java->frames[last + 1]) &&
               (java->frames[last + 1].pending & FRAME_OUTERMOST) == 0)
            last++;
        constructors_give(session, os, jni, java, stream, first, last);
    }
}

void constructors_leave(struct session *session, struct os_thread *os, JNIEnv *jni,
                        struct java_thread *java)
{
    if (java->session == session->number && java->pending != 0 && os->stream != NULL &&
        os->session == session->number)
        constructors_keep_window(session, os, jni, java, os->stream);
}

/* Handles a native thread that may end meanwhile: it does not use the session any more. */
static void end_of_thread(struct session *session, struct os_thread *own, JNIEnv *jni,
                          struct java_thread *java, struct live_stream *stream)
{
    if (java != NULL && java->session == session->number && java->pending != 0)
        constructors_keep_window(session, own, jni, java, stream);
}

/* Resolves what waits when the session ends. No thread is in a probe any more, so the frames of
 * other threads can be read, and their streams be written, here. The cache of classes is that of a
 * state of its own: those of the threads are not for others to change. */
void constructors_end(struct session *session, JNIEnv *jni)
{
    struct os_thread *own = calloc(1, sizeof *own); /* for its cache of classes */
    for (struct os_thread *of = threads_first(); own != NULL && of != NULL; of = of->next_all) {
        struct java_thread *platform = of->own, *current = of->current;
        struct live_stream *stream = of->stream;
        if (of->session != session->number || stream == NULL)
            continue;
        end_of_thread(session, own, jni, platform, stream);
        if (current != platform)
            end_of_thread(session, own, jni, current, stream);
    }
    free(own);
}

/* The reserved object was never created: it dies together with a new, unreferenced object. The
 * trace has its allocation already, and an object that never dies would look like a leak. So a
 * small array, which no probe reports, gets the id; the next collection finds it dead like any
 * other. */
static void object_never_made(struct session *session, struct os_thread *os, JNIEnv *jni,
                              uint64_t id)
{
    jthrowable of_program = exception_set_aside(jni);
    jobject other = id != 0 ? plain_bytes(jni, 0) : NULL;
    if (other != NULL)
        object_remember(session, os, jni, other, object_key(session, other), id);
    exception_restore(jni, of_program, other == NULL, THROWN_BY_ALLOCATION);
    (*jni)->DeleteLocalRef(jni, other);
}

void constructor_fails(struct session *session, struct os_thread *os, struct java_thread *java,
                       struct live_stream *stream)
{
    JNIEnv *jni = jvm_jni();
    size_t top = java->depth - 1, first = outermost_of(java, top);
    struct method_frame *frame = &java->frames[top];
    if (jni == NULL) {
        constructors_settle(java, frame);
        return;
    }
    if (frame_waits(frame))
        constructors_give(session, os, jni, java, stream, first, top);
    if (first == top && (frame->pending & FRAME_RESERVED) != 0)
        object_never_made(session, os, jni, frame->object);
    constructors_settle(java, frame);
}
