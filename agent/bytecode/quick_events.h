/* SPDX-License-Identifier: Apache-2.0 */
/* Method events and allocations in the usual case, as whole probes: the thread is known, the record
 * has its short form, the exit is of the innermost frame, no object is looked up. They call
 * nothing, so that code that inlines them saves no registers. They return false without side
 * effects if the slow path is needed (method_events.h). */
#ifndef AGENT_BYTECODE_QUICK_EVENTS_H
#define AGENT_BYTECODE_QUICK_EVENTS_H

#include "agent/bytecode/constructors.h"
#include "agent/bytecode/new_objects.h"
#include "agent/bytecode/object_facts.h"
#include "agent/deaths/reaper.h"
#include "agent/deaths/recycle.h"
#include "agent/deaths/weak_table.h"
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

/* Returns true if the thread is marked as in a probe and its stream has room for `words` words (0:
 * no stream is needed). Returns false while the JVM's end closes the trace: then threads wait in
 * native probes. `object`: the probe of a new object.
 *
 * The mark comes before the load of the session, as in probe_enter(), and relies on membarrier():
 * the fast paths are off where probes need a fence. All that follows is a check that the usual case
 * holds. Nothing has been changed when a check fails, so the native probe can do everything anew.
 * The shown object is discarded with the failure, lest a later probe of the same number takes it.
 *
 * The room is checked here, once, for the longest record of the probe. So no later step can fail
 * halfway, and none may begin a chunk, which takes a lock. */
QUICK bool begin_quickly(struct quick *quick, size_t words, bool object)
{
    struct os_thread *os = quick->os = thread_self;
    if (__builtin_expect(os == NULL, 0))
        return false;
    atomic_store_explicit(&os->in_probe, 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst); /* see probe_enter() */
    struct session *session = quick->session =
        atomic_load_explicit(&tracer.session, memory_order_acquire);
    struct java_thread *java = quick->java = os->current;
    struct live_stream *stream = quick->stream = os->stream; /* set if the session is the current
                                                              * one */
    if (__builtin_expect(session != NULL && java != NULL, 1) &&
        __builtin_expect(!atomic_load_explicit(&tracer.closing, memory_order_relaxed), 1) &&
        __builtin_expect(
            atomic_load_explicit(object ? &session->quick_objects : &session->quick_methods,
                                 memory_order_relaxed),
            1) &&
        __builtin_expect(java->session == session->number, 1) &&
        __builtin_expect(atomic_load_explicit(&java->os, memory_order_relaxed) == os, 1) &&
        (words == 0 || (__builtin_expect(os->session == session->number, 1) &&
                        __builtin_expect(stream->thread == java->id, 1) &&
                        __builtin_expect((size_t) (stream->end - stream->cursor) >= words, 1))))
        return true;
    os->references.sight.place = 0; /* discards the shown object */
    probe_leave(os);
    return false;
}

QUICK bool write_quickly(const struct quick *quick, enum step_live_kind kind, uint64_t method)
{
    struct live_stream *stream = quick->stream;
    /* an object's allocation takes the time of its constructor's entry */
    if (kind != STEP_LIVE_ENTRY_NEW_SHORT && stamp_is_spared(stream))
        return write_spared(stream, stream->cursor, kind, method);
    uint64_t frozen = atomic_load_explicit(&quick->session->stamps.frozen, memory_order_relaxed);
    uint64_t stamp = __builtin_expect(frozen != 0, 0)    ? tracer_stamp_without_clock(frozen)
                     : quick->session->stamps.every != 0 ? stamp_of_many(quick->session, stream)
                                                         : clock_counter() - tracer.scale.zero;
    return write_short_at(stream_stamp(stream, stamp), stream, stream->cursor, kind, method);
}

/* Sets the number's method. Returns false if there is none, it is not traced, or its id is too
 * long. */
QUICK bool method_quickly(const struct quick *quick, uint32_t number, uint64_t *method)
{
    _Atomic uint64_t *known = method_known(number);
    uint64_t packed = known != NULL ? atomic_load_explicit(known, memory_order_relaxed) : 0;
    /* out of this range for another session, and 0 if not traced */
    *method = packed - (quick->session->number << METHOD_SESSION_SHIFT);
    return __builtin_expect(*method - 1 < (UINT64_C(1) << STEP_LIVE_METHOD_BITS) - 1, 1);
}

/* Returns the address of the object that the thread was shown last, with this number, if nothing
 * has moved since; otherwise 0. An object is shown once. While collections are not announced (a
 * session's end has disabled their event), holds are refused, and the count of collections is
 * meaningless.
 *
 * No hold is needed: the probe is a leaf call, and the thread is in Java code for the JVM, so no
 * pause can begin before it returns. What the count excludes is a pause between the two calls of
 * the probe, in interpreted code. The number excludes another probe between them, as of a class
 * initializer that ran there. */
QUICK uintptr_t place_quickly(const struct quick *quick, uint32_t number)
{
    struct sight *sight = &quick->os->references.sight;
    uintptr_t place = sight->place;
    sight->place = 0;
    bool is = sight->with == number && quick->session->places &&
              !atomic_load_explicit(&places_refused, memory_order_relaxed) &&
              sight->collections == collections_seen();
    return __builtin_expect(is, 1) ? place : 0;
}

/* Returns the object's id, or 0 if the thread does not know it. */
QUICK uint64_t object_quickly(const struct quick *quick, uint32_t number)
{
    uintptr_t place = place_quickly(quick, number);
    return __builtin_expect(place != 0, 1) ? object_id_at(quick->session, quick->os, place) : 0;
}

QUICK void push_quickly(struct java_thread *java, uint64_t method, uint32_t number)
{
    struct method_frame *frame = &java->frames[java->depth++];
    frame->method = method;
    frame->key = (void *) (uintptr_t) number;
    frame->pending = 0;
}

/* Stream and object are only used in frames that wait. */
QUICK bool enter_quickly(uint32_t number, bool of_object)
{
    struct quick quick;
    uint64_t method;
    if (!begin_quickly(&quick, 1, false))
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

/* Enters an instance method, of the object that was shown. */
QUICK bool enter_this_quickly(uint32_t number)
{
    struct quick quick;
    uint64_t method, object;
    if (!begin_quickly(&quick, 3, false))
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
    if (!begin_quickly(&quick, 2, false))
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

/* Enters a constructor, whose object is not known yet; `in_super`: 0, or FRAME_IN_SUPER. */
QUICK bool construct_quickly(uint32_t number, uint64_t in_super)
{
    struct quick quick;
    uint64_t method;
    if (!begin_quickly(&quick, 1, false))
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
    if (!begin_quickly(&quick, 1, false))
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

/* Entry and exit at once, at one time. No objects are traced where this probe is used. */
QUICK bool call_quickly(uint32_t number)
{
    struct quick quick;
    uint64_t method;
    if (!begin_quickly(&quick, 2, false))
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

/* Returns true if there is room for an object's reference and a reference to recycle, without a
 * call. It is checked before the record is written: an object in the trace without a reference
 * would never die. */
QUICK bool can_remember_quickly(const struct quick *quick)
{
    struct os_thread *os = quick->os;
    const struct recycled *recycled =
        atomic_load_explicit(&os->deaths.recycled, memory_order_relaxed);
    const struct weak_page *page =
        atomic_load_explicit(&os->deaths.weak_page, memory_order_relaxed);
    uint32_t used = page != NULL ? atomic_load_explicit(&page->used, memory_order_relaxed) : 0;
    return !quick->session->keeps_references ||
           (recycled != NULL && recycled->count != 0 && used != 0 &&
            weak_page_has_room(page, used) &&
            atomic_load_explicit(&os->deaths.weak_session, memory_order_relaxed) ==
                quick->session->number);
}

QUICK void remember_quickly(const struct quick *quick, uintptr_t place, uint64_t id)
{
    if (quick->session->keeps_references)
        weak_table_add(
            &reaper_table, &quick->os->deaths.weak_page, id,
            recycle_at(atomic_load_explicit(&quick->os->deaths.recycled, memory_order_relaxed),
                       place));
}

/* Reports a new object that was shown with number 0, of a class that the thread knows. The id comes
 * from the range that the stream has reserved; `checked` of this session means that the object
 * cannot have a tag. Frames that wait for an object, or a call stack in the chunk, need the native
 * probe. */
QUICK bool made_quickly(void)
{
    struct quick quick;
    struct object_facts facts;
    if (!begin_quickly(&quick, 3, true))
        return false;
    struct java_thread *java = quick.java;
    struct live_stream *stream = quick.stream;
    uintptr_t place = place_quickly(&quick, 0);
    bool done = __builtin_expect(place != 0, 1) &&
                quick.os->events.checked == quick.session->number &&
                facts_at(quick.session, quick.os, place, &facts) && facts.class != 0 &&
                java->pending + java->reserved == 0 && stream->stack == 0 &&
                stream->next_object < stream->end_object && can_remember_quickly(&quick);
    if (done) {
        uint64_t id = stream->next_object++;
        write_alloc_at(quick.session, allocation_stamp(quick.session, stream), stream,
                       stream->cursor, facts.class, facts.used_bytes, id, false);
        remember_quickly(&quick, place, id);
        object_note_recent(quick.os, place);
    }
    probe_leave(quick.os);
    return done;
}

#endif
