/* SPDX-License-Identifier: Apache-2.0 */
/* The drain thread: full chunks to records, records to the trace file, and the end of a session. */
#include "agent/session/session_drain.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/base/internals.h"
#include "agent/base/tracer.h"
#include "agent/events/events.h"
#include "agent/records/method_counts.h"
#include "agent/records/threads.h"
#include "agent/session/session.h"
#include "agent/stacks/stack_tree.h"
#include "agent/stacks/stacks.h"
#include "capture/apart.h"
#include "capture/log.h"
#include "capture/retained_chunks.h"
#include "capture/trace_file.h"
#include "format/live/live_decoder.h"

#define QUIESCE_NS 50000L
/* What raw bytes may become in the file, at worst and at a guess. */
#define WORST_RATIO 4u
#define LIKELY_RATIO 24u

struct drain {
    struct session *session;
    bool failed; /* the trace file takes no more */
};

static void fail(struct drain *drain, enum step_status status, const struct step_error *error)
{
    if (drain->failed)
        return;
    drain->failed = true;
    char text[900] = "";
    if (error != NULL)
        step_error_print(error, text, sizeof text);
    log_message("%s: the trace ends here: %s", drain->session->options.file,
                text[0] != '\0' ? text : step_status_text(status));
}

static void check(struct drain *drain, enum step_status status)
{
    if (status != STEP_STATUS_OK)
        fail(drain, status, NULL);
}

static void parse(struct drain *drain, struct live_chunk_ref *ref, size_t words)
{
    struct session *session = drain->session;
    const struct step_live_chunk *chunk = ref->chunk;
    struct step_error error = {.status = STEP_STATUS_OK};
    if (drain->failed)
        return;
    if (ref->parsed_words == 0)
        check(drain, live_decoder_begin(session->decoder, chunk->stream, chunk->first_record,
                                        chunk->thread));
    size_t consumed = 0;
    enum step_status status = live_decoder_words(session->decoder, chunk->stream,
                                                 live_chunk_words(ref->chunk) + ref->parsed_words,
                                                 words - ref->parsed_words, &consumed, &error);
    ref->parsed_words += consumed;
    ref->end_record = live_decoder_next_record(session->decoder, chunk->stream);
    if (status != STEP_STATUS_OK)
        fail(drain, status, &error);
}

/* Chunks whose records are in the file go back to the pool. */
static void release_written(struct drain *drain, struct live_stream *stream)
{
    uint64_t written = step_writer_written_count(drain->session->writer, stream->number);
    uint64_t settled = live_decoder_settled(drain->session->decoder, stream->number, written);
    live_release_settled(drain->session->map, stream, settled);
}

static void take_full_chunk(struct drain *drain, struct live_chunk_ref *ref)
{
    struct live_stream *stream = ref->stream;
    ref->next = NULL;
    parse(drain, ref, live_published_words(ref->chunk));
    live_retain(ref);
    /* Definitions are not counted as records: only when they are written may their chunk go. */
    if (stream->number == STEP_LIVE_STREAM_GLOBAL)
        check(drain, step_writer_flush_stream(drain->session->writer, stream->number));
    release_written(drain, stream);
}

/* The chunk that the stream's owner still fills, as far as it is published, unless an earlier one
 * is on its way here. */
static void take_active_chunk(struct drain *drain, struct live_stream *stream)
{
    struct live_chunk_ref *ref = atomic_load_explicit(&stream->ref, memory_order_acquire);
    if (ref != NULL && ref->chunk->order == stream->expected_order)
        parse(drain, ref, live_published_words(ref->chunk));
}

/* All full chunks.  What they name was defined before they became full, so the global stream, as
 * it stands after they were taken from the queue, goes first. */
static bool take_full_chunks(struct drain *drain)
{
    struct session *session = drain->session;
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
            take_full_chunk(drain, ref);
        } else {
            *last = ref;
            last = &ref->next;
        }
        ref = next;
    }
    *last = NULL;
    if (active != NULL)
        parse(drain, active, active_words);
    for (ref = others; ref != NULL;) {
        struct live_chunk_ref *next = ref->next;
        take_full_chunk(drain, ref);
        ref = next;
    }
    return any;
}

/* Everything that is published anywhere. */
static void take_everything(struct drain *drain)
{
    while (take_full_chunks(drain))
        ;
    for (struct live_stream *stream = live_all_streams(drain->session->map); stream != NULL;
         stream = stream->next_all)
        take_active_chunk(drain, stream);
}

static void relieve(struct drain *drain)
{
    struct live_map *map = drain->session->map;
    if (!live_needs_relief(map))
        return;
    for (struct live_stream *stream = live_all_streams(map); stream != NULL;
         stream = stream->next_all) {
        if (stream->retained_bytes == 0)
            continue;
        check(drain, step_writer_flush_stream(drain->session->writer, stream->number));
        release_written(drain, stream);
    }
}

static void release_all_written(struct drain *drain)
{
    for (struct live_stream *stream = live_all_streams(drain->session->map); stream != NULL;
         stream = stream->next_all)
        release_written(drain, stream);
}

static void answer_flush(struct drain *drain)
{
    struct session *session = drain->session;
    uint32_t wanted = atomic_load(&session->flush_wanted);
    if (wanted == atomic_load(&session->flush_done))
        return;
    event_close_free_batch(session, true);
    take_everything(drain);
    check(drain, step_writer_flush(session->writer));
    release_all_written(drain);
    pthread_mutex_lock(&session->state_lock);
    atomic_store(&session->flush_done, wanted);
    pthread_cond_broadcast(&session->state_changed);
    pthread_mutex_unlock(&session->state_lock);
}

/* A file takes no more, for the reason that this errno tells. */
static void end_for_file(struct session *session, int code)
{
    session->end = trace_file_is_full(code) ? END_DISK_FULL : END_FAILED;
    log_message("%s: the trace ends here: %s", session->options.file,
                code == ENOSPC ? "the disk is full" : strerror(code));
}

/* Reasons to end that the drain thread finds itself. */
static bool must_end(struct drain *drain)
{
    struct session *session = drain->session;
    if (!atomic_load(&session->published))
        return false;
    uint64_t backlog = atomic_load(&session->map->backlog_bytes);
    uint64_t likely = step_writer_size(session->writer) + backlog / LIKELY_RATIO;
    if (drain->failed) {
        session->end = session->file->full ? END_DISK_FULL : END_FAILED;
    } else if (session->options.limit_bytes != 0 && likely >= session->options.limit_bytes) {
        session->end = END_LIMIT;
        log_message("%s: the trace ends here: limit reached", session->options.file);
    } else if (atomic_load(&session->map->failed)) {
        end_for_file(session, session->map->code);
    } else if (!trace_file_reserve(session->file, backlog / WORST_RATIO)) {
        end_for_file(session, session->file->code);
    } else if (atomic_load(&session->end_wanted)) {
        session->end = session->wanted_end;
    } else {
        return false;
    }
    return true;
}

/* No probe runs any more after this; what they still write is drained meanwhile. */
static void end_probes(struct drain *drain)
{
    struct session *session = drain->session;
    atomic_store(&tracer.session, NULL);
    threads_order_probes();
    event_wait_for_frees();
    if (drain->failed || atomic_load(&session->map->failed))
        live_map_stop(session->map);
    while (!threads_all_outside_probes()) {
        take_full_chunks(drain);
        relieve(drain);
        if (drain->failed)
            live_map_stop(session->map);
        nanosleep(&(struct timespec){0, QUIESCE_NS}, NULL);
    }
}

static void write_vm_death(struct session *session)
{
    pthread_mutex_lock(&session->global_lock);
    uint64_t *room = live_reserve(session->map, session->global, 1);
    if (room != NULL) {
        room[0] = live_word(STEP_LIVE_VM_DEATH,
                            stream_stamp(session->global, clock_raw() - tracer.scale.zero));
        live_commit(session->global, 1, 1);
    }
    pthread_mutex_unlock(&session->global_lock);
}

static void write_number(struct drain *drain, const char *key, uint64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long) value);
    check(drain, step_writer_property(drain->session->writer, key, text));
}

static void close_trace(struct drain *drain)
{
    struct session *session = drain->session;
    session->file->ending = true;
    event_close_free_batch(session, true);
    method_counts_finish(session);
    write_vm_death(session);
    take_everything(drain);
    check(drain, live_decoder_finish(session->decoder, clock_raw() - tracer.scale.zero));
    char internals[INTERNALS_TEXT];
    internals_publish(NULL);
    internals_describe(internals);
    check(drain, step_writer_property(session->writer, "internals", internals));
    check(drain, step_writer_property(session->writer, "end", session_end_name(session->end)));
    write_number(drain, "dropped", atomic_load(&session->map->header->dropped));
    write_number(drain, "waited-ns", atomic_load(&session->map->waited_ns));
    struct step_error error = {.status = STEP_STATUS_OK};
    enum step_status status = step_writer_close(session->writer, &error);
    if (status != STEP_STATUS_OK)
        fail(drain, status, &error);
}

static void end_session(struct drain *drain)
{
    struct session *session = drain->session;
    pthread_mutex_lock(&session->state_lock);
    session->ending = true;
    pthread_mutex_unlock(&session->state_lock);
    end_probes(drain);
    close_trace(drain);
    trace_file_close(session->file);
    step_writer_destroy(session->writer);
    live_decoder_destroy(session->decoder);
    /* What the file could not take can be recovered from the live file. */
    live_map_destroy(session->map, drain->failed);
    stacks_report(session);
    stack_tree_destroy(session->stacks);
    session->stacks = NULL;
    session->file = NULL;
    session->writer = NULL;
    session->decoder = NULL;
    session->map = NULL;
    pthread_mutex_lock(&session->state_lock);
    session->ended = true;
    pthread_cond_broadcast(&session->state_changed);
    pthread_mutex_unlock(&session->state_lock);
}

/* What others want done where the descriptors are; ends with what begins the drain, or the thread.
 */
static void run_errands(struct session *session)
{
    bool (*errand)(struct session *) = NULL;
    do {
        while (sem_wait(&session->errand_wanted) != 0)
            ;
        errand = session->errand;
        if (errand != NULL)
            session->errand_succeeded = errand(session);
        sem_post(&session->errand_done);
    } while (errand != NULL && !session->dismissed);
}

void *session_drain_run(void *data)
{
    struct drain drain = {.session = data};
    struct session *session = data;
    pthread_setname_np(pthread_self(), "StepTrace drain");
    session->keeps_apart = apart_begin();
    run_errands(session);
    if (session->dismissed)
        return NULL;
    while (!must_end(&drain)) {
        live_wait_for_work(session->map);
        take_full_chunks(&drain);
        relieve(&drain);
        if (event_close_free_batch(session, false))
            take_active_chunk(&drain, session->frees);
        answer_flush(&drain);
    }
    end_session(&drain);
    return NULL;
}
