/* SPDX-License-Identifier: Apache-2.0 */
/* Ends a session at VM death, by a command or by a method of stop=; flush and status. */
#include "agent/session/session.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "agent/base/java_versions.h"
#include "agent/base/jvm_classes.h"
#include "agent/base/patience.h"
#include "agent/events/engine.h"
#include "agent/events/last_words.h"
#include "agent/hotspot/hash_state.h"
#include "agent/hotspot/headers.h"
#include "agent/records/threads.h"
#include "agent/references/heap_graph.h"
#include "capture/log.h"

#define FLUSH_SECONDS 60
#define ENDED_POLL_NS 100000L
/* Added to finish=, for a drain thread that does not return from a system call. */
#define DEATH_GRACE_NS SECOND_NS
/* Of a heap in use, garbage included. Serial compacted 5 million objects of 16 bytes that all lived
 * at 19 ns a byte, on two processors with seven times the work that they can do. */
#define COLLECTED_BYTE_NS 10u

const char *session_end_name(enum session_end end)
{
    static const char *const names[] = {
        [END_VM_DEATH] = "vm-death",   [END_STOPPED] = "stopped",    [END_LIMIT] = "limit",
        [END_DISK_FULL] = "disk-full", [END_FAILED] = "failed",      [END_MEMORY] = "memory",
        [END_MAX_CPU] = "max-cpu",     [END_MAX_PAUSE] = "max-pause"};
    return names[end];
}

/* Waits until the drain thread has closed the trace; the control lock keeps the session alive.
 * Returns false after `limit_ns`. */
static bool attend_end(struct session *session, uint64_t limit_ns)
{
    JNIEnv *jni = jvm_jni();
    for (uint64_t from = clock_monotonic_ns(); !session_has_ended(session);) {
        if (clock_monotonic_ns() - from >= limit_ns)
            return false;
        if (jni != NULL && session->names_objects)
            last_words_say(jni);
        nanosleep(&(struct timespec){0, ENDED_POLL_NS}, NULL);
    }
    return true;
}

static void session_end_join(struct session *session, uint64_t limit_ns)
{
    if (session->joined)
        return;
    if (attend_end(session, limit_ns)) {
        pthread_join(session->drain.thread, NULL);
        session->joined = true;
    } else {
        log_message("%s: no longer waiting for the end of the trace, which is still being written",
                    session->options.file);
    }
}

/* A JVM that ends has stopped the threads of collectors that work while the program runs: it would
 * wait for them for ever. Since JDK 26 it refuses collections. */
static bool may_collect(const struct session *session, JNIEnv *jni, bool jvm_ends)
{
    uint64_t longest_ns = heap_used_bytes(jni) * COLLECTED_BYTE_NS;
    if (jvm_ends && (!collector_works_in_pauses() || tracer.java_major >= JAVA_SILENT_AT_DEATH))
        log_message("%s: no collection at the end: this JVM makes none once it ends",
                    session->options.file);
    else if (longest_ns > session->options.finish_ns)
        log_message("%s: no collection at the end: it could take %.1f s; finish= sets the limit",
                    session->options.file, (double) longest_ns / 1e9);
    else
        return true;
    return false;
}

/* end=collect: the garbage of the end is found dead, so that what is left is reachable. A
 * collection cannot be ended, and the JVM's end waits for it: it is left out where it could take
 * long. */
static void collect_last(struct session *session, bool jvm_ends)
{
    JNIEnv *jni = session->options.end == END_COLLECTED && !session->is_followed ? jvm_jni() : NULL;
    if (jni == NULL || !may_collect(session, jni, jvm_ends))
        return;
    uint64_t took_ns;
    if (heap_collect(&took_ns))
        session->end_collection_ns = took_ns;
}

static void take_last_snapshot(const struct session *session)
{
    JNIEnv *jni = (session->options.snapshots & SNAPSHOT_END) != 0 ? jvm_jni() : NULL;
    if (jni != NULL)
        heap_graph_take(jni, STEP_LIVE_AT_END);
}

/* A JVM that ends does not wait for room: threads in probes fill one chunk each, beyond the limit,
 * and leave. */
static void lift_limit(struct session *session)
{
    pthread_mutex_lock(&session->state_lock);
    if (!session->ending)
        live_map_lift_limit(session->map);
    pthread_mutex_unlock(&session->state_lock);
}

static uint64_t at_most(uint64_t value, uint64_t most)
{
    return value < most ? value : most;
}

/* Ends the trace from a Java thread; the drain thread does the rest (end_session() in
 * session_drain.c).
 *
 * - A JVM that ends must not wait for room, so the limit is lifted first: a thread of the program
 *   that waits in a probe may be the one for which the JVM's end waits.
 * - `events_on` is exchanged, so exactly one thread disables the events, although a trace that
 *   ended by itself is cleaned up by the reaper or by the next probe (engine_switch_off()).
 * - The collection of end=collect comes while everything still is on: its announcement dates the
 *   deaths that it finds, and holds need it. The snapshot follows, so that it shows what is
 *   reachable. The engine's own last search for the dead is in engine_enable().
 * - The JVM's counters are read while probes still see the session: what they count is then also
 *   recorded.
 * - Only then is the end asked for. What the engine found last is in the streams by now, and the
 *   drain thread takes the session away from the probes.
 * - Classes are restored after the end, not before: the trace does not wait for that, and probes
 * without a session do nothing. A JVM that ends keeps its classes as they are.
 *
 * The time of the collection is taken from the time that is left for waiting, or both together
 * could take twice what finish= says. */
static void stop_last(struct session *session, enum session_end end, uint64_t limit_ns)
{
    if (end == END_VM_DEATH) {
        lift_limit(session);
        limit_ns = session->options.finish_ns + DEATH_GRACE_NS;
    }
    bool enabled = atomic_exchange(&tracer.events_on, false);
    if (enabled) {
        collect_last(session, end == END_VM_DEATH || tracer.dying);
        take_last_snapshot(session);
        missed_bytes_end(session);
        engine_enable(session, false);
    }
    session_want_end(session, end);
    session_end_join(session, limit_ns - at_most(session->end_collection_ns, limit_ns));
    if (!enabled)
        return;
    engine_restore(session);
    if (end != END_VM_DEATH)
        memory_trim();
}

bool session_stop(enum session_end end, uint64_t limit_ns)
{
    hash_state_enter();
    bool taken = control_take(end == END_VM_DEATH ? tracer.options.finish_ns : limit_ns);
    struct session *session = taken ? tracer.last : NULL;
    if (session != NULL && !atomic_load(&tracer.forked))
        stop_last(session, end, limit_ns);
    bool stopped = taken && (session == NULL || session->joined);
    if (taken)
        control_give_back();
    hash_state_leave();
    return stopped;
}

bool session_flush(void)
{
    bool done = false;
    if (!control_take(COMMAND_PATIENCE_NS))
        return false;
    struct session *session = tracer.last;
    if (session != NULL) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += FLUSH_SECONDS;
        pthread_mutex_lock(&session->state_lock);
        uint32_t wanted = atomic_fetch_add(&session->drain.flush_wanted, 1) + 1;
        int code = 0;
        while (!session->ended &&
               (int32_t) (atomic_load(&session->drain.flush_done) - wanted) < 0 && code == 0)
            code = pthread_cond_timedwait(&session->state_changed, &session->state_lock, &until);
        done = !session->ended && code == 0;
        pthread_mutex_unlock(&session->state_lock);
    }
    control_give_back();
    return done;
}

void session_log_status(void)
{
    if (!control_take(COMMAND_PATIENCE_NS)) {
        log_message("status: a trace is being started or stopped");
        return;
    }
    struct session *session = tracer.last;
    if (session == NULL) {
        log_message("status: no trace was started");
    } else {
        bool ended = session_has_ended(session);
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
    control_give_back();
}

/* ---- the call of a stop= method whose return ends the trace ---- */

/* The call that ends the trace: its session and thread (number in the trace, 0: none yet), and how
 * many such calls that thread has open. */
static struct {
    _Atomic uint64_t session, thread;
    uint64_t depth; /* used by that thread only */
} last_call;

void stop_call_expect(const struct session *session)
{
    bool has_methods = session->options.stop_at.count != 0; /* else those of a window that waits */
    atomic_store(&last_call.thread, 0);
    atomic_store(&last_call.session, has_methods ? session->number : 0);
}

/* Returns the calling thread's number in the session, or 0 if it has none. */
static uint64_t thread_number(struct session *session, struct os_thread *os)
{
    const struct java_thread *java = thread_current(session, os, NULL);
    return java != NULL ? java->id : 0;
}

void stop_call_enter(void)
{
    struct os_thread *os;
    struct session *session = probe_enter(&os);
    if (session == NULL)
        return;
    uint64_t thread = thread_number(session, os), none = 0;
    if (thread != 0 && atomic_load(&last_call.session) == session->number) {
        if (atomic_compare_exchange_strong(&last_call.thread, &none, thread))
            last_call.depth = 1;
        else if (none == thread)
            last_call.depth++;
    }
    probe_leave(os);
}

bool stop_call_leave(void)
{
    struct os_thread *os;
    struct session *session = probe_enter(&os);
    if (session == NULL)
        return false;
    uint64_t chosen = atomic_load(&last_call.thread);
    bool end = chosen != 0 && atomic_load(&last_call.session) == session->number &&
               thread_number(session, os) == chosen && --last_call.depth == 0;
    if (end)
        atomic_store(&last_call.session, 0);
    probe_leave(os);
    return end;
}
