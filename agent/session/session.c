/* SPDX-License-Identifier: Apache-2.0 */
/* Starts a trace: its files, its provenance, its first records. */
#include "agent/session/session.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/base/internals.h"
#include "agent/base/jvm_classes.h"
#include "agent/base/patience.h"
#include "agent/base/tracer.h"
#include "agent/bytecode/engine_bytecode.h"
#include "agent/deaths/reaper.h"
#include "agent/deaths/recycle.h"
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
#include "agent/records/snapshot.h"
#include "agent/records/threads.h"
#include "agent/references/fields.h"
#include "agent/references/heap_graph.h"
#include "agent/stacks/stacks.h"
#include "capture/apart.h"
#include "capture/log.h"
#include "capture/provenance.h"
#include "capture/trace_store.h"
#include "format/live/live_decoder.h"
#include "steptrace/java_trace.h"

/* ---- the note on a collector that tracing slows down: logged once, and stored in each such trace
 * ---- */

#define NOTE "young collections of generational ZGC free no object whose death is traced: "
#define NOTE_OF_ALL                                                                                \
    NOTE "the heap fills and collections take longer; events=class+alloc+thread avoids this, "     \
         "without "                                                                                \
         "deaths"
#define NOTE_OF_SAMPLE                                                                             \
    NOTE "the sampled ones, and what they refer to, stay until a collection of the old generation"

/* Sets the property `collector-note` if the session traces deaths under a collector whose young
 * collections free no traced object. Call before the session's first block. */
static void collector_note(const struct session *session)
{
    static _Atomic bool said;
    if ((session->options.events & (TRACED_FREE | TRACED_REFERENCE)) == 0 ||
        !collector_keeps_weakly_held())
        return;
    const char *note = session->options.engine == ENGINE_SAMPLED ? NOTE_OF_SAMPLE : NOTE_OF_ALL;
    step_writer_property(session->drain.writer, "collector-note", note);
    if (!atomic_exchange(&said, true))
        log_message("%s", note);
}

#define FILES_PATIENCE_NS (30 * SECOND_NS)
/* For JVMs with virtual threads: the longest tick that a thread waits for, and the replacement of
 * longer ones. */
#define LONGEST_TICK_NS 2000u
#define VIRTUAL_TICK_NS 1000u
/* How long new objects are compared with the start snapshot of a JVM that was running: see
 * new_objects.c. */
#define CHECK_NS UINT64_C(2000000000)

void session_numbered_name(const struct options *options, char *out, size_t size)
{
    const char *slash = strrchr(options->file, '/');
    const char *dot = strrchr(slash != NULL ? slash : options->file, '.');
    size_t length = dot != NULL ? (size_t) (dot - options->file) : strlen(options->file);
    snprintf(out, size, "%.*s.%06" PRIu64 "%s", (int) length, options->file, options->file_number,
             options->file + length);
}

/* Without rotate=, the first file has no number until another one follows. */
static void file_name(const struct options *options, char *out, size_t size)
{
    if (options->rotate_ns == 0 && options->file_number == 1)
        snprintf(out, size, "%s", options->file);
    else
        session_numbered_name(options, out, size);
}

const char *session_consequence(void)
{
    bool is_first = !tracer.attached && tracer.last == NULL;
    return is_first && !tracer.options.required ? "; the program runs untraced" : "";
}

static bool say_why_not(const struct step_error *error)
{
    char text[900];
    step_error_print(error, text, sizeof text);
    log_message("%s%s", text, session_consequence());
    return false;
}

/* Sets options.file to the trace's name. */
static bool session_open_files(struct session *session)
{
    struct step_error error = {.status = STEP_STATUS_OK};
    struct step_writer_options writing;
    step_writer_options_init(&writing);
    memory_account_limit(&session->options, &writing);
    const struct options *options = &session->options;
    char name[OPTION_TEXT];
    file_name(options, name, sizeof name);
    const struct trace_store_wanted wanted = {.path = name,
                                              .rules = {options->overwrite, options->mode},
                                              .ring = options->ring,
                                              .buffer_bytes = options->buffer_bytes,
                                              .drop = options->overflow == OVERFLOW_DROP,
                                              .gives_up = session_drain_gives_up,
                                              .owner = session};
    if (trace_store_open(&wanted, &session->drain.store, &error) != STEP_STATUS_OK)
        return say_why_not(&error);
    snprintf(session->options.file, sizeof session->options.file, "%s", session->drain.store->path);
    session->drain.identity = session->drain.store->identity;
    session->map = session->drain.store->map;
    session->map->run_apart = session->drain.keeps_apart ? apart_run : NULL;
    atomic_store(&session->map->next_object, session->first_object);
    writing.definition = &step_java_trace_definition;
    writing.output = trace_store_output(session->drain.store);
    writing.level = (int) options->level;
    if (step_writer_create(&writing, &session->drain.writer, &error) != STEP_STATUS_OK)
        return say_why_not(&error);
    if (session->options.stack != 0 && (session->stacks = stack_tree_create()) == NULL) {
        log_message("%s: out of memory for call stacks", session->options.file);
        return false;
    }
    session->global = live_stream_create(session->map, true);
    session->frees = live_stream_create(session->map, true);
    return session->global != NULL && session->frees != NULL;
}

/* The drain thread blocks all signals: they belong to the program. */
static bool start_drain(struct session *session)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int code = pthread_create(&session->drain.thread, NULL, session_drain_run, session);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (code != 0)
        log_message("the drain thread could not be started: %s", strerror(code));
    return code == 0;
}

/* Runs `errand` in the drain thread and waits for it. NULL: the thread drains from now on. Returns
 * false if it failed, or did not return because a disk does not answer.
 *
 * The drain thread may have a descriptor table of its own (capture/apart.h), in which only it can
 * open and write the trace. Two semaphores hand the work over and back; they order all memory
 * between the two threads, so the session's members need no other protection until the thread
 * drains. A thread that the kernel holds in a write cannot be ended or joined: the session is
 * abandoned then, that is, never freed. */
static bool session_errand(struct session *session, bool (*errand)(struct session *session))
{
    session->drain.errand = errand;
    sem_post(&session->drain.errand_wanted);
    if (semaphore_within(&session->drain.errand_done, FILES_PATIENCE_NS))
        return errand == NULL || session->drain.errand_succeeded;
    log_message("%s: the disk does not respond", session->options.file);
    session->abandoned = true;
    return false;
}

static bool dismiss(struct session *session)
{
    step_writer_destroy(session->drain.writer);
    live_decoder_destroy(session->drain.decoder);
    stack_tree_destroy(session->stacks);
    trace_store_discard(session->drain.store);
    return session->drain.dismissed = true;
}

/* A session whose drain thread does not return is kept; that thread is dismissed when it does. */
void session_discard(struct session *session)
{
    if (session->abandoned) {
        session->drain.errand = dismiss;
        sem_post(&session->drain.errand_wanted);
        return;
    }
    if (session->drain.started) {
        if (!session_errand(session, dismiss))
            return;
        pthread_join(session->drain.thread, NULL);
    }
    free(session);
}

struct session *session_prepare(const struct options *options)
{
    struct session *session = calloc(1, sizeof *session);
    if (session == NULL)
        return NULL;
    session->options = *options;
    session->options.events &= tracer.capable;
    engine_choice_apply(session);
    session->number = atomic_fetch_add(&tracer.session_count, 1) + 1;
    bool follows = options->file_number > 1 && tracer.last != NULL;
    session->ring_number = follows ? tracer.last->ring_number : session->number;
    session->first_object = follows ? tracer.last->next_object : 1;
    session->late = tracer.attached || session->number > 1 || session->options.start_at.count != 0;
    pthread_mutex_init(&session->global_lock, NULL);
    pthread_mutex_init(&session->state_lock, NULL);
    pthread_cond_init(&session->state_changed, NULL);
    sem_init(&session->drain.errand_wanted, 0, 0);
    sem_init(&session->drain.errand_done, 0, 0);
    session->drain.started = start_drain(session);
    if (!session->drain.started || !session_errand(session, session_open_files)) {
        session_discard(session);
        return NULL;
    }
    return session;
}

static void session_put_property(struct session *session, const char *key, const char *value)
{
    step_writer_property(session->drain.writer, key, value);
}

static void put_system_property(struct session *session, const char *key, const char *name)
{
    char *value = jvm_property(name);
    if (value != NULL)
        session_put_property(session, key, value);
    jvm_free(value);
}

static void put_start_time(struct session *session)
{
    char text[64], zone[16];
    time_t seconds = (time_t) (tracer.start.wall_ns / 1000000000u);
    struct tm broken_down;
    gmtime_r(&seconds, &broken_down);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &broken_down);
    snprintf(zone, sizeof zone, ".%09uZ", (unsigned) (tracer.start.wall_ns % 1000000000u));
    strncat(text, zone, sizeof text - strlen(text) - 1);
    session_put_property(session, "start-time", text);
    provenance_number(session->drain.writer, "start-time-ns", tracer.start.wall_ns);
}

/* The files of one recording have the same property file-set. */
static void put_file_set(struct session *session)
{
    const struct options *options = &session->options;
    char text[64];
    if (options->rotate_ns != 0) {
        provenance_number(session->drain.writer, "rotate-ns", options->rotate_ns);
        provenance_number(session->drain.writer, "keep", options->keep);
    }
    provenance_number(session->drain.writer, "file-number", options->file_number);
    provenance_number(session->drain.writer, "first-object", session->first_object);
    if (options->window_ns != 0)
        session_put_property(session, "window", "exact");
    snprintf(text, sizeof text, "%d-%" PRIu64 "-%" PRIu64, (int) getpid(), tracer.start.wall_ns,
             session->ring_number);
    session_put_property(session, "file-set", text);
}

static void put_sampled(struct session *session)
{
    const struct options *options = &session->options;
    provenance_number(session->drain.writer, "sample", options->sample_bytes);
    if (options->rate != 0)
        provenance_number(session->drain.writer, "rate", options->rate);
    if ((options->events & TRACED_FREE) != 0)
        provenance_number(session->drain.writer, "live", options->live);
}

static void put_engine(struct session *session)
{
    static const char *const names[] = {
        [ENGINE_JVMTI] = "jvmti", [ENGINE_BYTECODE] = "bytecode", [ENGINE_SAMPLED] = "sampled"};
    session_put_property(session, "engine", names[session->options.engine]);
    if (session->options.engine == ENGINE_SAMPLED)
        put_sampled(session);
    if (options_are_of_set(&session->options))
        put_file_set(session);
}

static void put_provenance(struct session *session)
{
    char events[64], command_line[16384];
    options_event_names(session->options.events, events, sizeof events);
    session_put_property(session, "producer", "StepTrace libtracer.so " STEPTRACE_VERSION);
    put_engine(session);
    if (session->fallback != NULL)
        session_put_property(session, "engine-reason", session->fallback);
    if (session->incomplete != NULL)
        session_put_property(session, "incomplete", session->incomplete);
    session_put_property(session, "events", events);
    char internals[INTERNALS_TEXT];
    internals_describe(internals);
    session_put_property(session, "internals", internals);
    collector_note(session);
    if (session->options.method == METHOD_COUNT)
        session_put_property(session, "method", "count");
    if (leaf_methods_have_one_time(&session->options))
        session_put_property(session, "leaf-methods", "one time");
    session_put_property(session, "options", session->options.text);
    if (stamps_are_times(session))
        provenance_number(session->drain.writer, "resolution-ns", session->options.resolution_ns);
    session_put_property(session, "clock",
                         stamps_are_times(session) ? clock_name() : STEP_LIVE_CLOCK_NONE);
    put_start_time(session);
    session_put_property(session, "ring", session->drain.store->writer != NULL ? "memory" : "file");
    session_put_property(session, "attached", tracer.attached ? "yes" : "no");
    if (session->options.stack != 0)
        provenance_number(session->drain.writer, "stack", session->options.stack);
    session_put_property(session, "existing", session->options.existing ? "yes" : "no");
    if (session->padding_mask != 0) {
        char layout[LAYOUT_TEXT];
        layouts_describe(layout);
        session_put_property(session, "layout", layout);
    }
    if ((session->options.events & TRACED_REFERENCE) != 0)
        session_put_property(session, "references", "yes");
    if (session->options.collects)
        provenance_number(session->drain.writer, "collect", session->options.collect_every_bytes);
    provenance_host(session->drain.writer);
    provenance_number(session->drain.writer, "process-id", (uint64_t) getpid());
    provenance_command_line(session->drain.writer, (uint64_t) getpid(), command_line,
                            sizeof command_line);
    put_system_property(session, "java-version", "java.version");
    put_system_property(session, "java-vm-name", "java.vm.name");
    put_system_property(session, "java-vm-version", "java.vm.version");
    put_system_property(session, "java-vm-info", "java.vm.info");
    put_system_property(session, "java-vm-vendor", "java.vm.vendor");
    put_system_property(session, "java-command", "sun.java.command");
}

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
    return session->holds && header_layout.known && !probes_need_fence && clock_uses_counter &&
           (options->events & TRACED_ALLOC) != 0 && !session->finds_objects && !options->collects &&
           session->stacks == NULL;
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
 *    That class is defined once per process. If slots were proven later, it would lack the probes
 * that show objects to leaf calls, for good.
 * 4. The engine is settled before `holds`, because a fallback to engine=jvmti changes it. A gentle
 *    session changes the loaded classes here: no probe finds a session yet, so the probes do
 *    nothing, and the program runs while some classes have them and others do not.
 * 5. The other self-tests create objects, load classes and may run Java code. All of that must
 *    happen while no probe sees the session, or it would be in the trace as the program's.
 * 6. Time zero of a trace that begins late is after all this work, which is no part of the
 *    recording. The header gets the scale before the decoder is created, as the decoder copies it.
 * 7. The properties are written last of all, since most of them state how the steps above ended,
 *    and before the first block, so that a trace that is cut early has them. From here on the drain
 * thread alone uses the writer: write_first() runs there.
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
    if (!engine_choice_settle(session, jni) || !engine_instrument(session, jni, gentle))
        return session_fail(session);
    internals_publish(session->map->header->internals);
    hash_state_report();
    recycle_begin();
    session->holds = session->options.engine == ENGINE_BYTECODE && atomic_load(&slots_readable) &&
                     collector_announces_moves() && internals_writes_fault() == NULL;
    if (session->options.engine == ENGINE_BYTECODE && (session->options.events & TRACED_ALLOC) != 0)
        headers_prove(jni, session->holds);
    thread_counters_prove(jni); /* its array is no object of the trace */
    layouts_begin(session, jni);
    if ((session->options.events & TRACED_REFERENCE) != 0)
        field_places_begin(jni);
    set_zero(session);
    put_provenance(session);
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
    if ((session->options.events & TRACED_METHOD) != 0)
        session->engine->enable_methods(session, true);
    atomic_store(&session->quick_objects, new_objects_are_plain(session));
    if ((session->options.snapshots & SNAPSHOT_START) != 0)
        heap_graph_take(jni, STEP_LIVE_AT_START);
    return true;
}
