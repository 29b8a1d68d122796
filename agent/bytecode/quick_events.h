/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Method events in the usual case, as whole probes: a thread that is known, a record in short, an
 * exit from the innermost frame, no object that is asked for.  They call nothing, so that whoever
 * inlines them saves no register.  False: nothing was done, the probe takes the long way
 * (method_events.h).
 */
#ifndef AGENT_BYTECODE_QUICK_EVENTS_H
#define AGENT_BYTECODE_QUICK_EVENTS_H

#include "agent/bytecode/constructors.h"
#include "agent/records/method_numbers.h"
#include "agent/records/put_record.h"
#include "agent/references/object_ids.h"

#define QUICK static inline __attribute__((always_inline))

struct quick {
    struct os_thread *os;
    struct session *session;
    struct java_thread *java;
    struct live_stream *stream;
};

/* True: the thread is marked as in a probe, and its stream has room for so many words. */
QUICK bool begin_quickly(struct quick *quick, size_t words)
{
    struct os_thread *os = quick->os = thread_self;
    if (__builtin_expect(os == NULL, 0))
        return false;
    atomic_store_explicit(&os->in_probe, 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst); /* see probe_enter() */
    struct session *session = quick->session =
        atomic_load_explicit(&tracer.session, memory_order_acquire);
    struct java_thread *java = quick->java = os->current;
    struct live_stream *stream = quick->stream = os->stream; /* there, if the session is the one */
    if (__builtin_expect(session != NULL && java != NULL, 1) &&
        __builtin_expect(atomic_load_explicit(&session->quick_methods, memory_order_relaxed), 1) &&
        __builtin_expect(os->session == session->number, 1) &&
        __builtin_expect(java->session == session->number, 1) &&
        __builtin_expect(atomic_load_explicit(&java->os, memory_order_relaxed) == os, 1) &&
        __builtin_expect(stream->thread == java->id, 1) &&
        __builtin_expect((size_t) (stream->end - stream->cursor) >= words, 1))
        return true;
    probe_leave(os);
    return false;
}

QUICK bool write_quickly(const struct quick *quick, enum step_live_kind kind, uint64_t method)
{
    struct live_stream *stream = quick->stream;
    uint64_t frozen = atomic_load_explicit(&quick->session->frozen_stamp, memory_order_relaxed);
    uint64_t stamp = __builtin_expect(frozen != 0, 0) ? tracer_stamp_without_clock(frozen)
                                                      : clock_counter() - tracer.scale.zero;
    return write_short_at(stream_stamp(stream, stamp), stream, stream->cursor, kind, method);
}

/* The number's method; false: there is none, it is not traced, or its id is too long. */
QUICK bool method_quickly(const struct quick *quick, uint32_t number, uint64_t *method)
{
    _Atomic uint64_t *known = method_known(number);
    uint64_t packed = known != NULL ? atomic_load_explicit(known, memory_order_relaxed) : 0;
    /* of another session it is out of this range, and 0 if it is not traced */
    *method = packed - (quick->session->number << METHOD_SESSION_SHIFT);
    return __builtin_expect(*method - 1 < (UINT64_C(1) << STEP_LIVE_METHOD_BITS) - 1, 1);
}

/* The id of the object that the thread was shown last, with this number, since when nothing has
 * moved; 0: it is not known so.  It is shown once. */
QUICK uint64_t object_quickly(const struct quick *quick, uint32_t number)
{
    struct sight *sight = &quick->os->sight;
    uintptr_t place = sight->place;
    sight->place = 0;
    bool is =
        place != 0 && sight->with == number && quick->session->holds &&
        sight->collections == atomic_load_explicit(&tracer.collections_begun, memory_order_relaxed);
    return __builtin_expect(is, 1) ? object_id_at(quick->session, quick->os, place) : 0;
}

QUICK void push_quickly(struct java_thread *java, uint64_t method, uint32_t number)
{
    struct method_frame *frame = &java->frames[java->depth++];
    frame->method = method;
    frame->key = (void *) (uintptr_t) number;
    frame->pending = 0;
}

/* Only of a frame that waits does anybody ask for stream and object. */
QUICK bool enter_quickly(uint32_t number, bool of_object)
{
    struct quick quick;
    uint64_t method;
    if (!begin_quickly(&quick, 1))
        return false;
    struct java_thread *java = quick.java;
    bool done = !(of_object && quick.session->names_objects) &&
                method_quickly(&quick, number, &method) &&
                __builtin_expect(java->depth != java->capacity, 1) &&
                !constructors_wait_long(java, quick.stream) &&
                write_quickly(&quick, STEP_LIVE_ENTRY_SHORT, method);
    if (done)
        push_quickly(java, method, number);
    probe_leave(quick.os);
    return done;
}

/* An instance method's, of the object that was shown. */
QUICK bool enter_this_quickly(uint32_t number)
{
    struct quick quick;
    uint64_t method, object;
    if (!begin_quickly(&quick, 3))
        return false;
    struct java_thread *java = quick.java;
    struct live_stream *stream = quick.stream;
    bool done = (object = object_quickly(&quick, number)) != 0 && quick.session->names_objects &&
                method_quickly(&quick, number, &method) &&
                __builtin_expect(java->depth != java->capacity, 1) &&
                !constructors_wait_long(java, stream);
    if (done) {
        write_event(quick.session, stream, stream->cursor, STEP_LIVE_ENTRY, method, object);
        push_quickly(java, method, number);
    }
    probe_leave(quick.os);
    return done;
}

/* The innermost frame's constructor has got its object, which was shown. */
QUICK bool constructed_quickly(uint32_t number)
{
    struct quick quick;
    if (!begin_quickly(&quick, 2))
        return false;
    struct java_thread *java = quick.java;
    uint64_t object = object_quickly(&quick, number);
    bool none = java->pending + java->reserved == 0;
    struct method_frame *frame =
        __builtin_expect(java->depth != 0, 1) ? &java->frames[java->depth - 1] : NULL;
    bool done = object != 0 && quick.session->names_objects && frame != NULL &&
                frame->key == (void *) (uintptr_t) number && frame_waits(frame) &&
                frame->stream == quick.stream;
    if (done) {
        java->pending--;
        constructor_put(quick.stream, quick.stream->cursor, java, frame, object);
        frame->pending = 0;
    }
    probe_leave(quick.os);
    return done || none;
}

/* A constructor's, whose object is still to come; `in_super`: 0, or FRAME_IN_SUPER. */
QUICK bool construct_quickly(uint32_t number, uint64_t in_super)
{
    struct quick quick;
    uint64_t method;
    if (!begin_quickly(&quick, 1))
        return false;
    struct java_thread *java = quick.java;
    struct live_stream *stream = quick.stream;
    bool done = quick.session->names_objects && method_quickly(&quick, number, &method) &&
                __builtin_expect(java->depth != java->capacity, 1) &&
                __builtin_expect(java->reserved == 0, 1) && !constructors_wait_long(java, stream) &&
                write_quickly(&quick, STEP_LIVE_ENTRY_NEW_SHORT, method);
    if (done) {
        java->frames[java->depth++] = (struct method_frame){.method = method,
                                                            .key = (void *) (uintptr_t) number,
                                                            .pending = stream->events | in_super,
                                                            .stream = stream};
        if (java->pending++ == 0)
            java->window_start = stream->events;
    }
    probe_leave(quick.os);
    return done;
}

QUICK bool leave_quickly(uint32_t number)
{
    struct quick quick;
    if (!begin_quickly(&quick, 1))
        return false;
    struct java_thread *java = quick.java;
    const struct method_frame *frame =
        __builtin_expect(java->depth != 0, 1) ? &java->frames[java->depth - 1] : NULL;
    bool done = frame != NULL && __builtin_expect(frame->key == (void *) (uintptr_t) number, 1) &&
                __builtin_expect(frame->pending == 0, 1) &&
                write_quickly(&quick, STEP_LIVE_EXIT_SHORT, frame->method);
    java->depth -= done;
    probe_leave(quick.os);
    return done;
}

/* Both at once, at one time.  No object is traced where this probe is. */
QUICK bool call_quickly(uint32_t number)
{
    struct quick quick;
    uint64_t method;
    if (!begin_quickly(&quick, 2))
        return false;
    bool done = method_quickly(&quick, number, &method) &&
                write_quickly(&quick, STEP_LIVE_ENTRY_SHORT, method);
    if (done) {
        struct live_stream *stream = quick.stream;
        stream->cursor[0] = live_word(STEP_LIVE_EXIT_SHORT, method);
        live_commit(stream, 1, 1);
    }
    probe_leave(quick.os);
    return done;
}

#endif
