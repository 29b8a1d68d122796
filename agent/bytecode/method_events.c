/* SPDX-License-Identifier: Apache-2.0 */
/* Records method events of rewritten code. */
#include "agent/bytecode/method_events.h"

#include "agent/bytecode/constructors.h"
#include "agent/bytecode/quick_events.h"
#include "agent/references/object_ids.h"

static void *method_events_key_of(uint32_t number)
{
    return (void *) (uintptr_t) number;
}

/* Writes an event in its short form if possible, otherwise in the long one. */
static bool method_events_write(struct session *session, struct live_stream *stream,
                                uint64_t thread, enum step_live_kind brief,
                                enum step_live_kind full, uint64_t method, uint64_t object)
{
    uint64_t *room = reserve_event(session, stream, thread, 3);
    if (room == NULL)
        return false;
    if (object == 0 && brief != STEP_LIVE_ENTRY_NEW_SHORT && stamp_is_spared(stream) &&
        write_spared(stream, room, brief, method))
        return true;
    if (object != 0 ||
        !write_short_at(thread_stamp_unordered(session, stream), stream, room, brief, method))
        write_event(session, stream, room, full, method, object);
    return true;
}

/* Enters a constructor of an object that already has its id. */
static void enter_reserved(struct session *session, struct live_stream *stream,
                           struct java_thread *java, uint32_t number, uint64_t method, uint64_t id)
{
    if (method_events_write(session, stream, java->id, STEP_LIVE_ENTRY_SHORT, STEP_LIVE_ENTRY,
                            method, id) &&
        push_frame(java, (struct method_frame){method, method_events_key_of(number),
                                               stream->events | FRAME_RESERVED, stream, id}))
        java->reserved++;
}

void method_entered(struct session *session, struct os_thread *os, JNIEnv *jni, uint32_t number,
                    jobject object, bool is_new)
{
    if (!atomic_load_explicit(&session->methods_on, memory_order_relaxed))
        return;
    uint64_t method = method_of_number(session, number);
    struct java_thread *java = thread_current(session, os, NULL);
    struct live_stream *stream = thread_stream(session, os);
    if (method == 0 || java == NULL || stream == NULL)
        return;
    bool waits = is_new && session->names_objects;
    if (constructors_wait_long(java, stream))
        constructors_keep_window(session, os, jni, java, stream);
    uint64_t id =
        session->names_objects ? object_id_of(session, os, stream, java->id, jni, object) : 0;
    if (__builtin_expect(waits && java->reserved != 0, 0) &&
        (id = constructor_reserved(session, java, jni, number)) != 0) {
        enter_reserved(session, stream, java, number, method, id);
        return;
    }
    if (!method_events_write(session, stream, java->id,
                             waits ? STEP_LIVE_ENTRY_NEW_SHORT : STEP_LIVE_ENTRY_SHORT,
                             waits ? STEP_LIVE_ENTRY_NEW : STEP_LIVE_ENTRY, method, id))
        return;
    if (!push_frame(java, (struct method_frame){method, method_events_key_of(number),
                                                waits ? stream->events : 0, stream, 0}) ||
        !waits)
        return;
    if (java->pending++ == 0)
        java->window_start = stream->events;
}

void method_calls_super(struct session *session, struct os_thread *os, uint32_t number)
{
    struct java_thread *java = thread_known(session, os);
    if (java == NULL || java->depth == 0 || java->pending + java->reserved == 0)
        return;
    if (java->frames[java->depth - 1].key != method_events_key_of(number))
        method_left(session, os, number, LEAVE_CAUGHT);
    struct method_frame *frame = java->depth != 0 ? &java->frames[java->depth - 1] : NULL;
    if (frame != NULL && frame->key == method_events_key_of(number) && frame->pending != 0)
        frame->pending |= FRAME_IN_SUPER;
}

void method_constructed(struct session *session, struct os_thread *os, JNIEnv *jni, uint32_t number,
                        jobject object)
{
    struct java_thread *java = thread_known(session, os);
    struct live_stream *stream = thread_stream(session, os);
    if (java == NULL || stream == NULL || java->pending + java->reserved == 0)
        return;
    size_t found = java->depth;
    while (found > 0 && java->frames[found - 1].key != method_events_key_of(number))
        found--;
    if (found == 0 || java->frames[found - 1].pending == 0)
        return;
    struct method_frame *frame = &java->frames[found - 1];
    if (!frame_waits(frame)) {
        java->reserved--;
        frame->pending = 0;
        return;
    }
    uint64_t id =
        session->finds_objects ? object_id_of(session, os, stream, java->id, jni, object) : 0;
    java->pending--;
    if (frame->stream == stream)
        constructor_write(session, stream, java, frame, id);
    frame->pending = 0;
}

/* Closes the innermost frame. If there is no room, it stays, and the next exit closes it: so a
 * dropped record cannot unbalance the rest of the thread. */
static bool close_frame(struct session *session, struct os_thread *os, struct live_stream *stream,
                        struct java_thread *java, bool by_exception)
{
    const struct method_frame *frame = &java->frames[java->depth - 1];
    if (__builtin_expect(frame->pending != 0, 0))
        constructor_fails(session, os, java, stream);
    if (!(by_exception ? method_events_write(session, stream, java->id, STEP_LIVE_FRAME_POP_SHORT,
                                             STEP_LIVE_FRAME_POP, frame->method, 0)
                       : method_events_write(session, stream, java->id, STEP_LIVE_EXIT_SHORT,
                                             STEP_LIVE_EXIT, frame->method, 0)))
        return false;
    java->depth--;
    return true;
}

/* Closes the frame of this method. The shadow stack may have frames above it that were left without
 * a probe: a constructor before the end of super(), Object.<init>, and frames whose handler could
 * not run because the stack was full. They are closed first, as left by an exception, so entries
 * and exits nest in the trace. A method that is not on the shadow stack was entered before the
 * trace began; its exit has no entry and is not recorded. LEAVE_CAUGHT closes only what is above:
 * the method goes on in its handler. */
void method_left(struct session *session, struct os_thread *os, uint32_t number,
                 enum method_leave how)
{
    struct java_thread *java = thread_known(session, os);
    if (java == NULL || java->depth == 0)
        return;
    struct live_stream *stream = thread_stream(session, os);
    if (stream == NULL)
        return;
    size_t found = java->depth;
    while (found > 0 && java->frames[found - 1].key != method_events_key_of(number))
        found--;
    if (found == 0)
        return;
    while (java->depth > found)
        if (!close_frame(session, os, stream, java, true))
            return;
    if (how != LEAVE_CAUGHT)
        close_frame(session, os, stream, java, how == LEAVE_UNWIND);
}
