/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's drain: the order in which chunks are drained, and the end of a session. */

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "agent/base/internals.h"
#include "agent/base/own_share.h"
#include "agent/base/patience.h"
#include "agent/base/tracer.h"
#include "agent/bytecode/class_hook.h"
#include "agent/events/draw_repeats.h"
#include "agent/events/events.h"
#include "agent/events/last_words.h"
#include "agent/records/method_counts.h"
#include "agent/records/pulse.h"
#include "agent/records/redaction.h"
#include "agent/records/threads.h"
#include "agent/session/session.h"
#include "agent/stacks/stacks.h"
#include "capture/apart.h"
#include "capture/drain.h"
#include "capture/log.h"
#include "capture/retained_chunks.h"
#include "capture/trace_store.h"
#include "format/live/live_decoder.h"
#include "format/live/live_streams.h"

/* Ratio of raw bytes to bytes in the file: the worst one, and a likely one. */
#define WORST_RATIO 4u
#define LIKELY_RATIO 24u
/* How long a call of the writer process may take, whatever finish= says. */
#define LEAST_ANSWER_NS (2 * SECOND_NS)
/* The same once the trace is to end while the program goes on: half of what a command waits. */
#define STOP_ANSWER_NS (COMMAND_PATIENCE_NS / 2)

/* Definitions are not counted as records: their chunk is released only after they are written. */
static void take_full_global(struct drain *drain, struct live_chunk_ref *ref)
{
    struct live_stream *stream = ref->stream;
    drain_parse_full(drain, ref);
    drain_flush_stream(drain, stream);
    drain_release_written(drain, stream);
}

/* Takes all full chunks. Everything that they name was defined before they became full. Therefore
 * the global stream, as it is after they were taken from the queue, is drained first: its full
 * chunks, then what is published of its active one, then the others.
 *
 * The lock keeps the active chunk of the global stream in place between the two loads. Without it,
 * that chunk could become full after the queue was taken and before `ref` was loaded. It would then
 * be in neither: not among the chunks taken, and no longer the active one, and the definitions in
 * it would come after the records that name them. No order is needed for the words themselves: a
 * definition is committed before the record that names it, that record before its chunk was queued,
 * and the exchange in live_map_take_full() acquires all of it. */
static bool take_all_full(struct drain *drain)
{
    struct session *session = drain->owner;
    struct live_chunk_ref *others = NULL, **last = &others;
    pthread_mutex_lock(&session->global_lock);
    struct live_chunk_ref *ref = live_map_take_full(session->map);
    struct live_chunk_ref *active = atomic_load(&session->global->ref);
    size_t active_words = active != NULL ? live_published_words(active->chunk) : 0;
    pthread_mutex_unlock(&session->global_lock);
    bool any = ref != NULL;
    while (ref != NULL) {
        struct live_chunk_ref *next = ref->next;
        if (ref->stream == session->global) {
            take_full_global(drain, ref);
        } else {
            *last = ref;
            last = &ref->next;
        }
        ref = next;
    }
    *last = NULL;
    if (active != NULL)
        drain_parse(drain, active, active_words);
    for (ref = others; ref != NULL;) {
        struct live_chunk_ref *next = ref->next;
        drain_take_full(drain, ref);
        ref = next;
    }
    return any;
}

static void release_all_written(struct drain *drain)
{
    for (struct live_stream *stream = live_all_streams(drain->map); stream != NULL;
         stream = stream->next_all)
        drain_release_written(drain, stream);
}

/* Writes all records that wait, and gives their chunks back. */
static void session_drain_write_all(struct drain *drain)
{
    drain_take_everything(drain);
    drain_check(drain, step_writer_flush(drain->writer), NULL);
    release_all_written(drain);
}

static void answer_flush(struct drain *drain)
{
    struct session *session = drain->owner;
    uint32_t wanted = atomic_load(&session->drain.flush_wanted);
    if (wanted == atomic_load(&session->drain.flush_done))
        return;
    event_close_free_batch(session, true);
    session_drain_write_all(drain);
    pthread_mutex_lock(&session->state_lock);
    atomic_store(&session->drain.flush_done, wanted);
    pthread_cond_broadcast(&session->state_changed);
    pthread_mutex_unlock(&session->state_lock);
}

/* Ends the trace because a file cannot grow, for the reason `code`, an errno. */
static void end_for_file(struct session *session, int code)
{
    session->end = trace_file_is_full(code) ? END_DISK_FULL : END_FAILED;
    log_message("%s: the trace ends here: %s", session->options.file,
                code == ENOSPC ? "the disk is full" : strerror(code));
}

/* Returns true if no probe uses the session and the engine has said its last words. The words come
 * second: a Java thread of the agent writes them outside of probes, for threads that have all left
 * theirs. */
static bool is_quiet(const struct drain *drain)
{
    struct session *session = drain->owner;
    return threads_have_left(atomic_load(&session->ended_probes)) &&
           (drain->failed || last_words_are_said(session));
}

/* A JVM that ends uses half of its time to wait for probes, and the rest to write. */
static bool gives_up(const struct drain *drain)
{
    const struct session *session = drain->owner;
    uint64_t limit_ns = PATIENCE_NS, half_ns = session->options.finish_ns / 2;
    if (atomic_load(&tracer.death_ns) != 0 && half_ns < limit_ns)
        limit_ns = half_ns;
    return clock_monotonic_ns() - session->drain.quiet_from_ns >= limit_ns;
}

/* Returns true if the JVM has waited for the end of its trace for as long as finish= says. */
static bool has_waited(const struct session *session)
{
    uint64_t death = atomic_load(&tracer.death_ns), wanted = atomic_load(&session->wanted_ns);
    uint64_t from = death > wanted ? death : wanted;
    bool waits = death != 0 && (atomic_load(&session->end_wanted) || session->ending);
    return waits && clock_monotonic_ns() - from >= session->options.finish_ns;
}

static bool session_drain_is_late(const struct drain *drain)
{
    return has_waited(drain->owner);
}

bool session_drain_gives_up(void *data, uint64_t waited_ns)
{
    const struct session *session = data;
    bool is_stopped = atomic_load(&session->end_wanted) || session->ending;
    if (has_waited(session))
        return waited_ns >= LEAST_ANSWER_NS;
    return is_stopped && waited_ns >= STOP_ANSWER_NS && waited_ns >= session->options.finish_ns;
}

/* Returns true if the session must end, and sets the reason. */
static bool must_end(struct drain *drain)
{
    struct session *session = drain->owner;
    if (!atomic_load(&session->published))
        return false;
    uint64_t backlog = atomic_load(&session->map->shared->backlog_bytes);
    uint64_t likely = step_writer_size(session->drain.writer) + backlog / LIKELY_RATIO;
    if (drain->failed) {
        session->end = session->drain.store->full ? END_DISK_FULL : END_FAILED;
    } else if (session->options.limit_bytes != 0 && likely >= session->options.limit_bytes) {
        session->end = END_LIMIT;
        log_message("%s: the trace ends here: limit reached", session->options.file);
    } else if (atomic_load(&session->map->shared->failed)) {
        end_for_file(session, session->map->shared->code);
    } else if (!trace_store_reserve(session->drain.store, backlog / WORST_RATIO)) {
        end_for_file(session, session->drain.store->code);
    } else if (!memory_account_keep(session, session_drain_write_all, drain)) {
        session->end = END_MEMORY;
    } else if (!guards_keep(session)) {
        return true;
    } else if (atomic_load(&session->end_wanted)) {
        session->end = session->wanted_end;
    } else {
        return false;
    }
    return true;
}

/* No probe runs after this. What probes still write meanwhile is drained.
 *
 * The probe marks its thread, then loads `tracer.session`; here the session is taken away, then the
 * marks are read. Between the two lines is a barrier for all processors (threads_order_probes()).
 * So either the probe sees NULL and leaves, or its mark is seen and waited for: this is the
 * argument of Dekker's algorithm, with the barrier on the rare side only. last_words_expect() is
 * first, because a thread that ends after the session is gone must know that its state is still
 * needed. Writers of frees use no mark but a flag of their own, which event_wait_for_frees() takes
 * once: a writer that found the session has left after that. A map that failed is stopped before
 * the wait, since threads may wait in it for room that never comes. */
static void end_probes(struct drain *drain)
{
    struct session *session = drain->owner;
    last_words_expect(session);
    atomic_store(&tracer.session, NULL);
    atomic_store(&session->ended_probes, threads_order_probes());
    session->drain.quiet_from_ns = clock_monotonic_ns();
    event_wait_for_frees();
    if (drain->failed || atomic_load(&session->map->shared->failed))
        live_map_stop(session->map);
    drain_until_quiet(drain);
    last_words_end(session);
}

/* Returns its stamp: nothing may be later. */
static uint64_t write_vm_death(struct session *session)
{
    pthread_mutex_lock(&session->global_lock);
    uint64_t stamp = thread_stamp(session, session->global);
    uint64_t *room = live_reserve(session->map, session->global, 1);
    if (room != NULL) {
        room[0] = live_word(STEP_LIVE_VM_DEATH, stamp);
        live_commit(session->global, 1, 1);
    }
    pthread_mutex_unlock(&session->global_lock);
    return stamp;
}

/* The properties are in the trace file nevertheless. */
static void report_rest(struct drain *drain)
{
    const struct session *session = drain->owner;
    drain_put_text(drain, STEP_LIVE_REST, "yes");
    drain_flush_stream(drain, session->global);
    log_message("%s: the JVM stopped waiting for the trace (option finish); the rest is in "
                "%s" STEP_LIVE_SUFFIX
                ": commands read both together, and `steptrace recover` merges them",
                drain->path, drain->path);
}

/* Threads that are still in a probe may record one more event each, which is not drained. */
static void report_threads(struct drain *drain)
{
    struct session *session = drain->owner;
    uint64_t count = threads_not_left(atomic_load(&session->ended_probes));
    drain_put_number(drain, "threads-in-probes", count);
    log_message("%s: %" PRIu64 " threads are still inside the agent (are they suspended?): the "
                "last event of each is missing; %s" STEP_LIVE_SUFFIX " stays",
                drain->path, count, drain->path);
}

/* A trace has one reason to be incomplete: the one that was known first. */
static void put_unsearched(struct drain *drain)
{
    static const char *const reason = "the last search for dead objects was left out (an earlier "
                                      "one had not ended, or memory ran out): the latest deaths "
                                      "are missing";
    struct session *session = drain->owner;
    if (session->incomplete != NULL || !session->keeps_references ||
        !atomic_load(&session->deaths.unsearched))
        return;
    session->incomplete = reason;
    drain_put_text(drain, "incomplete", reason);
    log_message("%s: the trace is incomplete: %s", session->options.file, reason);
}

/* The end of the file. An open batch of frees is closed and method counts are written before VM
 * death, which must be the last event: its stamp is taken under the lock of the global stream after
 * all probes have left, so no other stamp is later. The decoder is finished after the last chunk.
 * Properties may come at any time before drain_close(), which writes them with the index; those
 * here state what is only known at the end. */
static void close_trace(struct drain *drain)
{
    struct session *session = drain->owner;
    session->drain.store->ending = true;
    event_close_free_batch(session, true);
    method_counts_finish(session, !drain->abandoned);
    uint64_t end_stamp = write_vm_death(session);
    drain_take_everything(drain);
    if (!drain->left)
        drain_check(drain, live_decoder_finish(session->drain.decoder, end_stamp), NULL);
    put_unsearched(drain);
    missed_bytes_put(session, drain);
    char internals[INTERNALS_TEXT];
    internals_publish(NULL);
    internals_describe(internals);
    drain_put_text(drain, "internals", internals);
    char huge[HUGE_METHODS_TEXT];
    if (!redaction_of_names(session) && huge_methods_describe(huge))
        drain_put_text(drain, "not-compiled", huge);
    const char *fault = internals_writes_fault();
    if (fault != NULL || session->stacks_fault != NULL)
        drain_put_text(drain, "internals-fault", fault != NULL ? fault : session->stacks_fault);
    drain_put_text(drain, "end", session_end_name(session->end));
    if (session->references.snapshot_count > 0)
        drain_put_number(drain, "snapshots", session->references.snapshot_count);
    if (session->references.snapshot_ns > 0)
        drain_put_number(drain, "snapshot-ns", session->references.snapshot_ns);
    uint64_t joined = atomic_load(&session->deaths.joined);
    if (joined != 0)
        drain_put_number(drain, "joined-collections", joined);
    if (session->end_collection_ns != 0)
        drain_put_number(drain, "end-collection-ns", session->end_collection_ns);
    memory_account_put(session, drain);
    guards_put(session, drain);
    session->next_object = atomic_load(&session->map->next_object);
    if (session->options.engine == ENGINE_SAMPLED)
        drain_put_number(drain, "sample-repeats", draw_repeats_share(DRAWS_OF_FILE));
    if (options_are_of_set(&session->options)) {
        drain_put_number(drain, "next-object", session->next_object);
        drain_put_number(drain, "file-set-repeats", draw_repeats_share(DRAWS_OF_RING));
    }
    uint64_t start_wait_ns = atomic_load(&session->start_wait_ns);
    if (start_wait_ns != 0)
        drain_put_number(drain, "start-wait-ns", start_wait_ns);
    drain_put_number(drain, "dropped", atomic_load(&session->map->header->dropped));
    drain_put_waits(drain);
    if (drain->abandoned)
        report_threads(drain);
    drain_close(drain);
    if (drain->left)
        report_rest(drain);
}

/* Frees what probes use. */
static void give_back(struct drain *drain)
{
    struct session *session = drain->owner;
    trace_store_destroy(session->drain.store);
    stack_tree_destroy(session->stacks);
    session->stacks = NULL;
    session->drain.store = NULL;
    session->map = NULL;
}

/* `ending` is set first, under the lock: from then on session_want_end() and lift_limit() leave the
 * map alone, which give_back() frees. `ended` is set last, under the same lock, and is the only
 * thing by which other threads know that nothing here is used any more. If a thread did not leave
 * its probe, the map is not freed but kept for good, with the live file: that thread may still
 * write into it, and a page that is gone would kill the JVM. */
static void end_session(struct drain *drain)
{
    struct session *session = drain->owner;
    pthread_mutex_lock(&session->state_lock);
    session->ending = true;
    pthread_mutex_unlock(&session->state_lock);
    end_probes(drain);
    pulse_end(session);
    close_trace(drain);
    step_writer_destroy(session->drain.writer);
    live_decoder_destroy(session->drain.decoder);
    /* the live file keeps the rest of the trace, for recovery */
    trace_store_end(session->drain.store, drain->failed || drain->left || drain->abandoned);
    session->drain.writer = NULL;
    session->drain.decoder = NULL;
    stacks_report(session);
    if (drain->abandoned)
        atomic_store(&session->abandoned, true);
    if (!drain->abandoned)
        give_back(drain);
    /* each session's drain is another thread and so has another of malloc's arenas (up to eight per
     * processor), which would keep the session's peak */
    if (session->end != END_VM_DEATH)
        memory_trim();
    pthread_mutex_lock(&session->state_lock);
    session->ended = true;
    pthread_cond_broadcast(&session->state_changed);
    pthread_mutex_unlock(&session->state_lock);
}

/* Runs errands of other threads in the thread that has the descriptors. The last one begins the
 * drain or dismisses the thread. */
static void run_errands(struct session *session)
{
    bool (*errand)(struct session *) = NULL;
    do {
        while (sem_wait(&session->drain.errand_wanted) != 0)
            ;
        errand = session->drain.errand;
        if (errand != NULL)
            session->drain.errand_succeeded = errand(session);
        sem_post(&session->drain.errand_done);
    } while (errand != NULL && !session->drain.dismissed);
}

static const struct drain_operations operations = {.begin = live_streams_begin,
                                                   .words = live_decoder_words,
                                                   .next_record = live_streams_next_record,
                                                   .settled = live_decoder_settled,
                                                   .take_all_full = take_all_full,
                                                   .is_quiet = is_quiet,
                                                   .gives_up = gives_up,
                                                   .is_late = session_drain_is_late};

static void drain_session(struct session *session)
{
    struct drain drain = {.operations = &operations,
                          .owner = session,
                          .path = session->options.file,
                          .map = session->map,
                          .writer = session->drain.writer,
                          .decoder = session->drain.decoder};
    while (!must_end(&drain)) {
        live_wait_for_work(session->map);
        take_all_full(&drain);
        drain_relieve(&drain);
        if (event_close_free_batch(session, false))
            drain_take_active(&drain, session->frees);
        answer_flush(&drain);
    }
    end_session(&drain);
}

void *session_drain_run(void *data)
{
    struct session *session = data;
    pthread_setname_np(pthread_self(), "StepTrace drain");
    own_share_thread_begins();
    session->drain.keeps_apart = apart_begin();
    run_errands(session);
    if (!session->drain.dismissed)
        drain_session(session);
    own_share_thread_ends();
    return NULL;
}
