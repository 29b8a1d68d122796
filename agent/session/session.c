/* SPDX-License-Identifier: Apache-2.0 */
/* A trace's start: its files, its provenance, its first records; and the wait for its end. */
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
#include "agent/base/tracer.h"
#include "agent/bytecode/engine_bytecode.h"
#include "agent/deaths/reaper.h"
#include "agent/deaths/recycle.h"
#include "agent/events/events.h"
#include "agent/events/last_words.h"
#include "agent/hotspot/hash_state.h"
#include "agent/hotspot/headers.h"
#include "agent/hotspot/slots.h"
#include "agent/records/classes.h"
#include "agent/records/global_stream.h"
#include "agent/records/snapshot.h"
#include "agent/records/threads.h"
#include "agent/references/field_places.h"
#include "agent/references/heap_graph.h"
#include "agent/session/session_drain.h"
#include "agent/session/triggers.h"
#include "agent/stacks/stack_tree.h"
#include "agent/stacks/stacks.h"
#include "capture/apart.h"
#include "capture/log.h"
#include "capture/provenance.h"
#include "capture/trace_file.h"
#include "format/live/live_decoder.h"
#include "steptrace/java_trace.h"

#define FLUSH_SECONDS 60
#define LAST_WORDS_POLL_NS 100000
/* Of JVMs that have virtual threads: the longest tick that is waited out, and what longer ones
 * become.
 */
#define LONGEST_TICK_NS 2000u
#define VIRTUAL_TICK_NS 1000u
/* How long new objects are compared with the start snapshot of a JVM that ran: see new_objects.c.
 */
#define CHECK_NS UINT64_C(2000000000)

const char *session_end_name(enum session_end end)
{
    static const char *const names[] = {"vm-death", "stopped", "limit", "disk-full", "failed"};
    return names[end];
}

const struct engine *session_engine(const struct options *options)
{
    static const struct engine *const engines[] = {
        [ENGINE_JVMTI] = &engine_jvmti, [ENGINE_BYTECODE] = &engine_bytecode};
    return engines[options->engine];
}

static void log_error(const struct step_error *error)
{
    char text[900];
    step_error_print(error, text, sizeof text);
    log_message("%s", text);
}

static bool open_files(struct session *session)
{
    struct step_error error = {.status = STEP_STATUS_OK};
    char live_path[OPTION_TEXT + sizeof STEP_LIVE_SUFFIX];
    snprintf(live_path, sizeof live_path, "%s%s", session->options.file, STEP_LIVE_SUFFIX);
    if (trace_file_open(session->options.file, &session->file, &error) != STEP_STATUS_OK) {
        log_error(&error);
        return false;
    }
    session->map = live_map_create(live_path, session->options.buffer_bytes,
                                   session->options.overflow == OVERFLOW_DROP, &error);
    if (session->map == NULL) {
        log_error(&error);
        return false;
    }
    session->map->run_apart = session->keeps_apart ? apart_run : NULL;
    struct step_writer_options options;
    step_writer_options_init(&options);
    options.definition = &step_java_trace_definition;
    options.output = trace_file_output(session->file);
    options.level = (int) session->options.level;
    if (step_writer_create(&options, &session->writer, &error) != STEP_STATUS_OK) {
        log_error(&error);
        return false;
    }
    if (session->options.stack != 0 && (session->stacks = stack_tree_create()) == NULL) {
        log_message("%s: out of memory for call stacks", session->options.file);
        return false;
    }
    session->global = live_stream_create(session->map, true);
    session->frees = live_stream_create(session->map, true);
    return session->global != NULL && session->frees != NULL;
}

/* The drain thread takes no signals: they are the program's. */
static bool start_drain(struct session *session)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int code = pthread_create(&session->drain, NULL, session_drain_run, session);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (code != 0)
        log_message("the drain thread could not be started: %s", strerror(code));
    return code == 0;
}

/* Lets the drain thread do something, and waits; NULL: it drains from now on. */
static bool session_errand(struct session *session, bool (*errand)(struct session *session))
{
    session->errand = errand;
    sem_post(&session->errand_wanted);
    while (sem_wait(&session->errand_done) != 0)
        ;
    return errand == NULL || session->errand_succeeded;
}

static bool dismiss(struct session *session)
{
    step_writer_destroy(session->writer);
    live_decoder_destroy(session->decoder);
    live_map_destroy(session->map, false);
    stack_tree_destroy(session->stacks);
    trace_file_close(session->file);
    return session->dismissed = true;
}

static void destroy(struct session *session)
{
    if (session->drain_started) {
        session_errand(session, dismiss);
        pthread_join(session->drain, NULL);
    }
    free(session);
}

void session_discard(struct session *session)
{
    unlink(session->options.file);
    destroy(session);
}

struct session *session_prepare(const struct options *options)
{
    struct session *session = calloc(1, sizeof *session);
    if (session == NULL)
        return NULL;
    session->options = *options;
    session->engine = session_engine(options);
    session->options.events &= tracer.capable;
    session->names_objects = session->options.engine == ENGINE_BYTECODE &&
                             (~session->options.events & (EVENT_ALLOC | EVENT_METHOD)) == 0 &&
                             session->options.method != METHOD_COUNT;
    session->finds_objects =
        session->names_objects || (session->options.events & EVENT_REFERENCE) != 0;
    session->keeps_references =
        session->finds_objects ||
        (session->options.engine == ENGINE_BYTECODE && (session->options.events & EVENT_FREE) != 0);
    session->number = atomic_fetch_add(&tracer.session_count, 1) + 1;
    session->late = tracer.attached || session->number > 1 || session->options.start_at.count != 0;
    pthread_mutex_init(&session->global_lock, NULL);
    pthread_mutex_init(&session->state_lock, NULL);
    pthread_cond_init(&session->state_changed, NULL);
    sem_init(&session->errand_wanted, 0, 0);
    sem_init(&session->errand_done, 0, 0);
    session->drain_started = start_drain(session);
    if (!session->drain_started || !session_errand(session, open_files)) {
        destroy(session);
        return NULL;
    }
    return session;
}

static void put_property(struct session *session, const char *key, const char *value)
{
    step_writer_property(session->writer, key, value);
}

static void put_system_property(struct session *session, const char *key, const char *name)
{
    char *value = NULL;
    if ((*tracer.jvmti)->GetSystemProperty(tracer.jvmti, name, &value) != JVMTI_ERROR_NONE)
        return;
    put_property(session, key, value);
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *) value);
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
    put_property(session, "start-time", text);
    provenance_number(session->writer, "start-time-ns", tracer.start.wall_ns);
}

static void put_provenance(struct session *session)
{
    char events[64], command_line[16384];
    options_event_names(session->options.events, events, sizeof events);
    put_property(session, "producer", "StepTrace libtracer.so " STEPTRACE_VERSION);
    put_property(session, "engine", session->options.engine == ENGINE_JVMTI ? "jvmti" : "bytecode");
    put_property(session, "events", events);
    char internals[INTERNALS_TEXT];
    internals_describe(internals);
    put_property(session, "internals", internals);
    if (session->options.method == METHOD_COUNT)
        put_property(session, "method", "count");
    if (leaf_methods_have_one_time(&session->options))
        put_property(session, "leaf-methods", "one time");
    put_property(session, "options", session->options.text);
    if (stamps_are_times(session))
        provenance_number(session->writer, "resolution-ns", session->options.resolution_ns);
    put_property(session, "clock", stamps_are_times(session) ? clock_name() : STEP_LIVE_CLOCK_NONE);
    put_start_time(session);
    put_property(session, "attached", tracer.attached ? "yes" : "no");
    if (session->options.stack != 0)
        provenance_number(session->writer, "stack", session->options.stack);
    put_property(session, "existing", session->options.existing ? "yes" : "no");
    if ((session->options.events & EVENT_REFERENCE) != 0)
        put_property(session, "references", "yes");
    if (session->options.collects)
        provenance_number(session->writer, "collect", session->options.collect_every_bytes);
    provenance_host(session->writer);
    provenance_number(session->writer, "process-id", (uint64_t) getpid());
    provenance_command_line(session->writer, command_line, sizeof command_line);
    put_system_property(session, "java-version", "java.version");
    put_system_property(session, "java-vm-name", "java.vm.name");
    put_system_property(session, "java-vm-version", "java.vm.version");
    put_system_property(session, "java-vm-info", "java.vm.info");
    put_system_property(session, "java-vm-vendor", "java.vm.vendor");
    put_system_property(session, "java-command", "sun.java.command");
}

static bool write_first(struct session *session)
{
    enum step_status status = step_writer_flush(session->writer);
    session->decoder = live_decoder_create(session->map->header, session->writer);
    if (status == STEP_STATUS_OK && session->decoder != NULL)
        return true;
    log_message("%s: the trace cannot be started: %s", session->options.file,
                step_status_text(status));
    return false;
}

/* A virtual thread that changes its carrier waits a tick out, lest two streams have events of it at
 * one time: see thread_mounted(). */
static void limit_resolution(struct options *options)
{
    if (tracer.has_virtual_threads && options->resolution_ns > LONGEST_TICK_NS)
        options->resolution_ns = VIRTUAL_TICK_NS;
}

/* A new object needs no more than a record, and a reference to use again. */
static bool new_objects_are_plain(const struct session *session)
{
    const struct options *options = &session->options;
    return session->holds && header_layout.known && !probes_need_fence && clock_uses_counter &&
           (options->events & EVENT_ALLOC) != 0 && !session->finds_objects && !options->collects &&
           session->stacks == NULL;
}

bool session_begin(struct session *session, JNIEnv *jni)
{
    limit_resolution(&session->options);
    clock_calibrate(&tracer.start, &tracer.scale);
    stamps_describe(session, session->map->header);
    event_set_free_gap(session);
    internals_publish(session->map->header->internals);
    hash_state_report();
    recycle_begin();
    slots_prove(jni);
    session->holds = session->options.engine == ENGINE_BYTECODE && atomic_load(&slots_readable) &&
                     collector_announces_moves();
    if (session->options.engine == ENGINE_BYTECODE && (session->options.events & EVENT_ALLOC) != 0)
        headers_prove(jni, session->holds);
    if ((session->options.events & EVENT_REFERENCE) != 0)
        field_places_begin(session, jni);
    put_provenance(session);
    if (!session_errand(session, write_first)) {
        destroy(session);
        return false;
    }
    const uint64_t start[] = {live_word(STEP_LIVE_VM_START, 0)};
    global_write(session, start, 1, 1);
    stamps_freeze(session);
    global_event(session, STEP_LIVE_VM_INIT, 0, 1);
    session_errand(session, NULL);
    if (tracer.last != NULL)
        reaper_clear(
            jni); /* before probes find the session: the last one's objects are not this one's */
    free(tracer.last);
    tracer.last = session;
    class_is_of_application(jni, NULL);
    trigger_expect(session);
    stacks_begin(session, jni);
    atomic_store(&tracer.session, session);
    atomic_store(&session->published, true);
    atomic_store(&tracer.events_on, true);
    engine_enable(session, true);
    snapshot_take(session, jni);
    session->check_until = clock_raw() - tracer.scale.zero;
    if (session->late)
        session->check_until += tracer_stamps_of_ns(CHECK_NS);
    stamps_go_on(session);
    engine_enable_methods(session);
    atomic_store(&session->quick_objects, new_objects_are_plain(session));
    if ((session->options.snapshots & SNAPSHOT_START) != 0)
        heap_graph_take(jni, STEP_LIVE_AT_START);
    return true;
}

/* Until the drain thread has closed the trace, or nearly; the control lock keeps the session. */
static void attend_end(struct session *session)
{
    JNIEnv *jni = NULL;
    bool ended = false;
    if (!session->names_objects ||
        (*tracer.vm)->GetEnv(tracer.vm, (void **) &jni, JNI_VERSION_1_8) != JNI_OK)
        return;
    while (!ended && !atomic_load(&session->last_words_said)) {
        last_words_say(jni);
        nanosleep(&(struct timespec){0, LAST_WORDS_POLL_NS}, NULL);
        pthread_mutex_lock(&session->state_lock);
        ended = session->ended;
        pthread_mutex_unlock(&session->state_lock);
    }
}

static void take_last_snapshot(const struct session *session)
{
    JNIEnv *jni = NULL;
    if ((session->options.snapshots & SNAPSHOT_END) != 0 &&
        (*tracer.vm)->GetEnv(tracer.vm, (void **) &jni, JNI_VERSION_1_8) == JNI_OK)
        heap_graph_take(jni, STEP_LIVE_AT_END);
}

/* A JVM that ends waits for no room: threads in probes fill a chunk each, beyond the limit, and
 * leave.
 */
static void lift_limit(struct session *session)
{
    pthread_mutex_lock(&session->state_lock);
    if (!session->ending)
        live_map_lift_limit(session->map);
    pthread_mutex_unlock(&session->state_lock);
}

void session_stop(enum session_end end)
{
    hash_state_enter();
    pthread_mutex_lock(&tracer.control_lock);
    struct session *session = tracer.last;
    if (session != NULL && !atomic_load(&tracer.forked)) {
        if (end == END_VM_DEATH)
            lift_limit(session);
        if (atomic_exchange(&tracer.events_on, false)) {
            take_last_snapshot(session);
            engine_enable(session, false);
        }
        pthread_mutex_lock(&session->state_lock);
        if (!session->ending) {
            session->wanted_end = end;
            atomic_store(&session->wanted_ns, clock_monotonic_ns());
            atomic_store(&session->end_wanted, true);
            futex_gate_open(&session->map->shared->work);
        }
        pthread_mutex_unlock(&session->state_lock);
        if (!session->joined) {
            attend_end(session);
            pthread_join(session->drain, NULL);
        }
        session->joined = true;
    }
    pthread_mutex_unlock(&tracer.control_lock);
    hash_state_leave();
}

bool session_flush(void)
{
    pthread_mutex_lock(&tracer.control_lock);
    struct session *session = tracer.last;
    bool done = false;
    if (session != NULL) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += FLUSH_SECONDS;
        pthread_mutex_lock(&session->state_lock);
        uint32_t wanted = atomic_fetch_add(&session->flush_wanted, 1) + 1;
        int code = 0;
        while (!session->ended && (int32_t) (atomic_load(&session->flush_done) - wanted) < 0 &&
               code == 0)
            code = pthread_cond_timedwait(&session->state_changed, &session->state_lock, &until);
        done = !session->ended && code == 0;
        pthread_mutex_unlock(&session->state_lock);
    }
    pthread_mutex_unlock(&tracer.control_lock);
    return done;
}

void session_log_status(void)
{
    pthread_mutex_lock(&tracer.control_lock);
    struct session *session = tracer.last;
    if (session == NULL) {
        log_message("status: no trace was started");
    } else {
        pthread_mutex_lock(&session->state_lock);
        bool ended = session->ended;
        pthread_mutex_unlock(&session->state_lock);
        char events[64];
        options_event_names(session->options.events, events, sizeof events);
        if (ended)
            log_message("status: %s: ended (%s)", session->options.file,
                        session_end_name(session->end));
        else
            log_message("status: %s: recording %s; classes=%" PRIu64 " threads=%" PRIu64
                        " methods=%" PRIu64,
                        session->options.file, events, atomic_load(&session->class_count),
                        atomic_load(&session->thread_count), atomic_load(&session->method_count));
    }
    pthread_mutex_unlock(&tracer.control_lock);
}
