/* SPDX-License-Identifier: Apache-2.0 */
/* Begins a prepared session: the order of what happens from the end of the last trace to the first
 * event of this one. */
#include "agent/session/session.h"

#include <stdlib.h>

#include "agent/base/internals.h"
#include "agent/base/jvm_classes.h"
#include "agent/base/patience.h"
#include "agent/base/tracer.h"
#include "agent/bytecode/engine_bytecode.h"
#include "agent/deaths/reaper.h"
#include "agent/deaths/recycle.h"
#include "agent/events/collections.h"
#include "agent/events/engine.h"
#include "agent/events/events.h"
#include "agent/hotspot/hash_state.h"
#include "agent/hotspot/headers.h"
#include "agent/hotspot/slots.h"
#include "agent/hotspot/thread_counters.h"
#include "agent/records/classes.h"
#include "agent/records/global_stream.h"
#include "agent/records/layouts.h"
#include "agent/records/methods.h"
#include "agent/records/pulse.h"
#include "agent/records/snapshot.h"
#include "agent/records/threads.h"
#include "agent/references/fields.h"
#include "agent/references/heap_graph.h"
#include "agent/stacks/stacks.h"
#include "capture/log.h"
#include "format/live/live_decoder.h"

/* For JVMs with virtual threads: the longest tick that a thread waits for, and the replacement of
 * longer ones. */
#define LONGEST_TICK_NS 2000u
#define VIRTUAL_TICK_NS 1000u
/* How long new objects are compared with the start snapshot of a JVM that was running: see
 * new_objects.c. */
#define CHECK_NS UINT64_C(2000000000)

static bool write_first(struct session *session)
{
    enum step_status status = step_writer_flush(session->drain.writer);
    session->drain.decoder = live_decoder_create(session->map->header, session->drain.writer);
    if (session->drain.decoder != NULL && missed_bytes_are_wanted(session))
        live_decoder_count_bytes(session->drain.decoder);
    if (status == STEP_STATUS_OK && session->drain.decoder != NULL)
        return true;
    log_message("%s: the trace cannot be started: %s", session->options.file,
                step_status_text(status));
    return false;
}

/* A virtual thread that changes its carrier waits for the next tick, so that no two streams have
 * events of it at the same time: see thread_mounted(). */
static void limit_resolution(struct options *options)
{
    if (tracer.has_virtual_threads && options->resolution_ns > LONGEST_TICK_NS)
        options->resolution_ns = VIRTUAL_TICK_NS;
}

/* Returns true if a new object needs only a record and a recycled reference. Each condition
 * excludes something that made_quickly() of quick_events.h cannot do: read an object without holds
 * and a known header; order its mark of the probe without membarrier(); stamp without the
 * processor's counter; look an object up by its hash; start a collection; find a call stack. */
static bool new_objects_are_plain(const struct session *session)
{
    const struct options *options = &session->options;
    return session->places && header_layout.known && !probes_need_fence && clock_uses_counter &&
           (options->events & TRACED_ALLOC) != 0 && !session->finds_objects && !options->collects &&
           options->stack == 0;
}

/* Before probes find the new session: drops the objects of the last one. Returns false while a
 * thread is in a probe of the last one. */
static bool last_is_over(JNIEnv *jni)
{
    if (tracer.last == NULL)
        return true;
    if (!tracer.last->joined)
        log_message("%s is still being written: no trace is started", tracer.last->options.file);
    else if (!reaper_clear(jni, PATIENCE_NS))
        log_message("a thread is still in the agent, since %s ended: no trace is started",
                    tracer.last->options.file);
    else
        return true;
    return false;
}

/* Drops data of the last session that cannot serve this one. */
static void forget_unloaded(JNIEnv *jni)
{
    if (tracer.last == NULL)
        return;
    classes_forget_unloaded(jni, tracer.last->number);
    methods_forget();
}

/* Discards a session that was not begun. */
static bool session_fail(struct session *session)
{
    internals_publish(NULL);
    if (session->gentle)
        engine_restore(session);
    if (session->options.start_at.count != 0)
        engine_disarm(session);
    session_discard(session);
    return false;
}

/* A trace that begins while the program runs has its zero there: what the JVM did before, and the
 * time that it took to rewrite its classes, are no part of the recording. Files of one set have the
 * zero of the first, so that the times of an object's birth and of its death in a later file can be
 * compared. No thread reads the scale meanwhile: the last session is over. */
static void set_zero(struct session *session)
{
    if (session->late && session->ring_number == session->number) {
        tracer.start = clock_moment_now();
        tracer.scale.zero = tracer.start.raw;
    }
    stamps_describe(session, session->map->header);
}

/* Begins a trace. The order is nearly everything here; each step needs those above it.
 *
 * 1. The last session must be over: last_is_over() waits until no thread is in a probe of it and
 *    deletes its weak references. Only then may its tables be emptied (threads read them without a
 *    lock) and the clock's scale be changed.
 * 2. Options that depend on the JVM and the scale come next, since the gap between batches of frees
 *    is stored in ticks of that scale.
 * 3. slots_prove() precedes everything that reads slots: `holds` and headers_prove() below, and
 *    sights_possible(), which engine_choice_settle() calls when it defines the class of the probes.
 *    That class is defined once per process. If slots were proven later, it would lack, for good,
 *    the probes that show objects to leaf calls.
 * 4. The engine is settled before `holds`, because a fallback to engine=jvmti changes it. A gentle
 *    session changes the loaded classes here: no probe finds a session yet, so the probes do
 *    nothing, and the program runs while some classes have them and others do not.
 * 5. The other self-tests create objects, load classes and may run Java code. All of that must
 *    happen while no probe sees the session, or it would be in the trace as the program's.
 * 6. Time zero of a trace that begins late is after all this work, which is no part of the
 *    recording. The header gets the scale before the decoder is created, as the decoder copies it.
 * 7. The properties are written last of all, since most of them state how the steps above ended,
 *    and before the first block, so that a trace that is cut early has them. From here on the
 *    drain thread alone uses the writer: write_first() runs there.
 * 8. VM start has stamp 0 and VM init the stamp at which the clock now stands still. Both are in
 *    the global stream before the session is published, so nothing can precede them.
 * 9. The drain thread starts to drain before the snapshot: that may fill the ring, and would wait
 *    for room for ever. It does not end the trace before `published` is set, because
 *    `tracer.session` must be set and taken back in that order.
 * 10. Nothing fails any more, so the last session is freed, and this one takes its place. What must
 *     be done before probes find the session (Java code that is called once, tags of an old session
 *     of the same number, state of stop= and of call stacks) is done now.
 * 11. The session is published first and the JVM's events are enabled afterwards: an event without
 *     a session would be taken for a leftover of a trace that has ended, and would switch itself
 *     off. Then the snapshot is taken. So an object that is allocated meanwhile may be reported
 *     twice, by its event and by the snapshot, which tags resolve. With the reverse order an object
 *     between snapshot and events would be in neither.
 * 12. The clock goes on when everything that existed has the time of VM init. Method events begin
 *     later still: they name their objects by id, and existing objects have had none until now. The
 *     fast path for objects is last, because it does not read tags. */
bool session_begin(struct session *session, JNIEnv *jni)
{
    if (!last_is_over(jni))
        return session_fail(session);
    forget_unloaded(jni);
    limit_resolution(&session->options);
    clock_calibrate(&tracer.start, &tracer.scale);
    event_set_free_gap(session);
    slots_prove(jni);
    char gentle[ENGINE_GENTLE_TEXT];
    if (!engine_choice_settle(session, jni))
        return session_fail(session);
    engine_bytecode_settle(jni, session);
    if (!engine_instrument(session, jni, gentle))
        return session_fail(session);
    internals_publish(session->map->header->internals);
    hash_state_report();
    recycle_begin();
    session->places = session->options.engine == ENGINE_BYTECODE && atomic_load(&slots_readable) &&
                      collector_works_in_pauses() && internals_writes_fault() == NULL &&
                      collections_are_counted();
    session->holds = session->places && !collections_may_be_silent();
    if (session->options.engine == ENGINE_BYTECODE && (session->options.events & TRACED_ALLOC) != 0)
        headers_prove(jni, session->places);
    session->makes_plain = new_objects_are_plain(session);
    session->places = session->holds || session->makes_plain; /* else leaf calls use none */
    thread_counters_prove(jni); /* its array is no object of the trace */
    layouts_begin(session, jni);
    if ((session->options.events & TRACED_REFERENCE) != 0)
        field_places_begin(jni);
    set_zero(session);
    pulse_begin(session);
    session_put_provenance(session);
    if (gentle[0] != '\0')
        session_put_property(session, "gentle", gentle);
    if (!session_errand(session, write_first))
        return session_fail(session);
    const uint64_t start[] = {live_word(STEP_LIVE_VM_START, 0)};
    global_write(session, start, 1, 1);
    stamps_freeze(session);
    global_event(session, STEP_LIVE_VM_INIT, 0, 1);
    session_errand(session, NULL);
    if (tracer.last != NULL && !tracer.last->abandoned) {
        missed_bytes_free(tracer.last);
        free(tracer.last);
    }
    tracer.last = session;
    class_is_of_application(jni, NULL);
    tags_forget(session);
    stop_call_expect(session);
    stacks_begin(session, jni);
    atomic_store(&tracer.session, session);
    atomic_store(&session->published, true);
    atomic_store(&tracer.events_on, true);
    engine_enable(session, true);
    snapshot_take(session, jni);
    missed_bytes_begin(session, jni);
    session->bytecode.check_until = clock_raw() - tracer.scale.zero;
    if (session->late)
        session->bytecode.check_until += tracer_stamps_of_ns(CHECK_NS);
    stamps_go_on(session);
    guards_begin(session);
    if ((session->options.events & TRACED_METHOD) != 0)
        session->engine->enable_methods(session, true);
    atomic_store(&session->quick_objects, session->makes_plain);
    if ((session->options.snapshots & SNAPSHOT_START) != 0)
        heap_graph_take(jni, STEP_LIVE_AT_START);
    return true;
}
