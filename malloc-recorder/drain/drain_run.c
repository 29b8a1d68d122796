/* SPDX-License-Identifier: Apache-2.0 */
/* The drain's loop: writes chunks to the trace until a reason to end, then what is left. */
#include "malloc-recorder/drain/drain_run.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "capture/clock.h"
#include "capture/detached.h"
#include "capture/live_map.h"
#include "capture/log.h"
#include "capture/retained_chunks.h"
#include "format/live/live_allocs.h"
#include "format/live/live_streams.h"
#include "malloc-recorder/drain/symbols.h"

/* ---- pending frees of the chunks in use, read while their owners may still run ---- */

static struct step_live_chunk *chunk_of(const struct live_stream *stream)
{
    const struct live_chunk_ref *ref = atomic_load(&stream->ref);
    return ref != NULL ? ref->chunk : NULL;
}

static bool owed_frees_any(struct live_map *map)
{
    for (struct live_stream *stream = live_all_streams(map); stream != NULL;
         stream = stream->next_all) {
        const struct step_live_chunk *chunk = chunk_of(stream);
        if (chunk != NULL && atomic_load(&chunk->owed_at) != 0)
            return true;
    }
    return false;
}

/* Returns false if there is no pending free, or its owner is changing it. */
static bool read_owed(struct step_live_chunk *chunk, uint64_t *words, uint64_t *record)
{
    uint32_t at = atomic_load_explicit(&chunk->owed_at, memory_order_acquire);
    if (!live_allocs_has_owed(at, chunk->size_bytes))
        return false;
    memcpy(words, live_chunk_words(chunk) + at, STEP_LIVE_OWED_WORDS * sizeof *words);
    *record = chunk->owed_record;
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&chunk->owed_at, memory_order_relaxed) == at &&
           live_chunk_words(chunk)[at + 1] == words[1];
}

/* Writes the pending frees of records that were not written, each at its time.  These streams are
 * not read afterwards. */
static enum step_status owed_frees_put(struct live_map *map, struct live_allocs_decoder *decoder)
{
    enum step_status status = STEP_STATUS_OK;
    uint64_t words[STEP_LIVE_OWED_WORDS], record;
    for (struct live_stream *stream = live_all_streams(map);
         stream != NULL && status == STEP_STATUS_OK; stream = stream->next_all) {
        struct step_live_chunk *chunk = chunk_of(stream);
        if (chunk != NULL && read_owed(chunk, words, &record))
            status = live_allocs_decoder_owed(decoder, stream->number, record, words, NULL);
    }
    return status;
}

/* Upper limit for the bytes in the file of a record that waits for its block, and for the end of
 * the trace. */
#define WAITING_BYTES 8u
#define END_BYTES UINT64_C(12288)
#define LINGER_MS 500
#define CHUNK_RECORDS (65536u / 16)
#define CHUNK_WORDS (65536u / sizeof(uint64_t))
#define RECORD_WORDS 2u /* minimum size of a record */
#define COMMIT_NS 20000000L
#define COMMIT_ROUNDS 100
#define CHUNK_ROOM (END_BYTES + CHUNK_RECORDS * WAITING_BYTES)

volatile sig_atomic_t drain_successor_is_there;

static struct native_trace *trace_of(const struct drain *drain)
{
    return drain->owner;
}

/* ---- the limit ---- */

static uint64_t waiting_records(const struct drain *drain)
{
    uint64_t count = 0;
    for (struct live_stream *stream = live_all_streams(drain->map); stream != NULL;
         stream = stream->next_all)
        count += step_writer_put_count(drain->writer, stream->number) -
                 step_writer_written_count(drain->writer, stream->number);
    return count;
}

/* Returns an upper limit for the other streams' records that are older than the end of a full chunk
 * of this one: those in their last chunks, because all earlier chunks were full, and queued,
 * before. */
static uint64_t pending_records(const struct drain *drain, const struct live_stream *of)
{
    uint64_t words = 0;
    for (struct live_stream *stream = live_all_streams(drain->map); stream != NULL;
         stream = stream->next_all) {
        const struct live_chunk_ref *active = atomic_load(&stream->ref);
        if (active == NULL || of == NULL || stream == of)
            continue;
        size_t published = live_published_words(active->chunk);
        words += active->chunk->order > stream->expected_order ? CHUNK_WORDS
                 : published > active->parsed_words            ? published - active->parsed_words
                                                               : 0;
    }
    return words / RECORD_WORDS;
}

/* Returns an upper limit for the size of the file if another chunk (of that stream; NULL: of any)
 * is taken and the trace ends with it. */
static uint64_t room_wanted(const struct drain *drain, const struct live_stream *stream)
{
    return (waiting_records(drain) + pending_records(drain, stream)) * WAITING_BYTES + CHUNK_ROOM;
}

static void write_all_waiting(struct drain *drain)
{
    for (struct live_stream *stream = live_all_streams(drain->map); stream != NULL;
         stream = stream->next_all) {
        drain_flush_stream(drain, stream);
        drain_release_written(drain, stream);
    }
}

/* Returns true if another chunk could make the file exceed its limit. */
static bool is_at_limit(struct drain *drain, const struct live_stream *stream)
{
    uint64_t limit = trace_of(drain)->numbers.limit_bytes;
    if (limit == 0 || step_writer_size(drain->writer) + room_wanted(drain, stream) < limit)
        return false;
    write_all_waiting(drain);
    return step_writer_size(drain->writer) + room_wanted(drain, stream) >= limit;
}

/* Returns true if the disk lacks space for another chunk and for the pending records. */
static bool is_disk_full(struct drain *drain, const struct live_stream *stream)
{
    return !trace_file_reserve(trace_of(drain)->file, room_wanted(drain, stream));
}

/* Returns false if the chunk, and all later ones, must be cut off; records as old as those already
 * taken are still accepted. */
static bool may_take(struct drain *drain, const struct live_stream *stream)
{
    struct native_trace *trace = trace_of(drain);
    if (trace->is_evened)
        return !drain->failed;
    if (atomic_load(&trace->control->shared.failed) && !trace->file->ending)
        return false;
    if (trace->cut == NULL && is_at_limit(drain, stream))
        trace->cut = "limit";
    else if (trace->cut == NULL && is_disk_full(drain, stream))
        trace->cut = "disk-full";
    return trace->cut == NULL && !drain->failed;
}

/* ---- chunks ---- */

static void drain_run_append(struct live_chunk_ref **list, struct live_chunk_ref *more)
{
    while (*list != NULL)
        list = &(*list)->next;
    *list = more;
}

static struct live_stream *global_stream(const struct drain *drain)
{
    struct native_trace *trace = trace_of(drain);
    for (struct live_stream *stream = live_all_streams(drain->map);
         trace->global == NULL && stream != NULL; stream = stream->next_all)
        if (stream->number == STEP_LIVE_STREAM_GLOBAL)
            trace->global = stream;
    return trace->global;
}

/* Takes the definitions of the list; their chunks remain for recovery. */
static void take_definitions(struct drain *drain, struct live_chunk_ref **list)
{
    while (*list != NULL) {
        struct live_chunk_ref *ref = *list;
        if (ref->stream->number != STEP_LIVE_STREAM_GLOBAL) {
            list = &ref->next;
            continue;
        }
        *list = ref->next;
        drain_parse_full(drain, ref);
    }
}

static bool is_in(const struct live_chunk_ref *list, const struct live_chunk_ref *ref)
{
    while (list != NULL && list != ref)
        list = list->next;
    return list != NULL;
}

/* Takes the chunk of a thread that died while it handed the chunk over: it is neither in use nor
 * deferred, and not queued: what is queued is taken first, since a chunk that is taken twice counts
 * twice, and the one after it is waited for in vain. */
static bool take_lost(struct drain *drain, struct live_stream *stream)
{
    struct native_trace *trace = trace_of(drain);
    drain_run_append(&trace->later, live_map_take_full(drain->map));
    for (struct live_chunk_ref *ref = atomic_load(&drain->map->shared->made); ref != NULL;
         ref = ref->next_made) {
        const struct step_live_chunk *chunk = ref->chunk;
        if (atomic_load(&chunk->state) == STEP_LIVE_FREE || ref->stream != stream ||
            chunk->order != stream->expected_order || ref == atomic_load(&stream->ref) ||
            is_in(trace->later, ref))
            continue;
        drain_take_full(drain, ref);
        return true;
    }
    return false;
}

/* Waits for the thread that hands a chunk of definitions over. Returns false at the limit, and if
 * that thread is gone. */
static bool await_definitions(struct drain *drain, int *rounds)
{
    struct native_trace *trace = trace_of(drain);
    if (++*rounds > COMMIT_ROUNDS ||
        process_is_gone(trace->process_file, (pid_t) trace->process, 0))
        return false;
    nanosleep(&(struct timespec){0, COMMIT_NS}, NULL);
    atomic_fetch_add(&trace->control->beat, 1);
    return true;
}

/* Takes all frames in chunks that are full by now; a frame is defined before it is used. Returns
 * false while a thread hands a chunk of them over; the last pass waits for it, and takes the chunk
 * if it does not come. */
static bool take_frames(struct drain *drain)
{
    struct native_trace *trace = trace_of(drain);
    struct live_stream *global = global_stream(drain);
    if (trace->numbers.stack == 0 || global == NULL)
        return true;
    for (int rounds = 0;;) {
        take_definitions(drain, &trace->later);
        struct live_chunk_ref *active = atomic_load(&global->ref);
        if (active == NULL || drain->failed)
            return true;
        if (active->chunk->order <= global->expected_order) {
            drain_take_active(drain, global);
            return true;
        }
        struct live_chunk_ref *more = live_map_take_full(drain->map);
        drain_run_append(&trace->later, more);
        if (more != NULL)
            continue;
        if (!trace->file->ending)
            return false;
        if (!await_definitions(drain, &rounds) && !take_lost(drain, global))
            return true;
    }
}

static bool take_all_full(struct drain *drain)
{
    struct native_trace *trace = trace_of(drain);
    drain_run_append(&trace->later, live_map_take_full(drain->map));
    bool any = trace->later != NULL;
    if (!take_frames(drain))
        return false;
    struct live_chunk_ref *ref = trace->later;
    trace->later = NULL;
    while (ref != NULL) {
        struct live_chunk_ref *next = ref->next;
        ref->next = NULL;
        if (may_take(drain, ref->stream))
            drain_take_full(drain, ref);
        else
            drain_run_append(&trace->later, ref);
        ref = next;
        native_trace_grow(trace);
        atomic_fetch_add(&trace->control->beat, 1);
    }
    return any;
}

static void take_stream(struct drain *drain, struct live_stream *stream)
{
    struct live_chunk_ref *active = atomic_load(&stream->ref);
    while (active != NULL && active->chunk->order > stream->expected_order &&
           take_lost(drain, stream))
        ;
    if (active != NULL && may_take(drain, stream))
        drain_take_active(drain, stream);
}

static void take_the_rest(struct drain *drain)
{
    const struct native_trace *trace = trace_of(drain);
    while (take_all_full(drain) && !drain->failed && (trace->cut == NULL || trace->is_evened))
        ;
    for (struct live_stream *stream = live_all_streams(drain->map); stream != NULL;
         stream = stream->next_all)
        take_stream(drain, stream);
}

/* ---- the end ---- */

/* Waits that long for the program to end. */
static bool is_gone(const struct native_trace *trace, int wait_ms)
{
    return process_is_gone(trace->process_file, (pid_t) trace->process, wait_ms);
}

/* Returns the reason why the trace ends before its program, or NULL. */
static const char *cut_of(struct drain *drain)
{
    struct native_trace *trace = trace_of(drain);
    bool is_stuck = atomic_load(&trace->control->shared.failed);
    if (is_stuck)
        log_message("%s: the trace ends here: %s: %s", trace->path, trace->live_path,
                    strerror(trace->control->shared.code));
    if (drain->failed || is_stuck)
        return trace->file->full || trace_file_is_full(trace->control->shared.code) ? "disk-full"
                                                                                    : "failed";
    uint64_t lost_stamp = atomic_load(&trace->header->lost_stamp);
    if (lost_stamp != 0) {
        log_message("%s: the trace ends here: the program stopped waiting for room", trace->path);
        live_allocs_decoder_end_before(trace->decoder, lost_stamp);
        trace->is_evened = true;
        drain_put_number(drain, STEP_LIVE_MISSING_AFTER, live_stamp_ns(trace->header, lost_stamp));
        return "failed";
    }
    may_take(drain, NULL);
    if (trace->cut != NULL)
        log_message("%s: the trace ends here: %s", trace->path,
                    trace->file->code != 0 ? strerror(trace->file->code) : "limit reached");
    return trace->cut;
}

/* Returns the reason to end, or NULL. */
static const char *drain_run_end_of(struct drain *drain)
{
    struct native_trace *trace = trace_of(drain);
    if ((trace->cut = cut_of(drain)) != NULL)
        return trace->cut;
    if (atomic_load(&trace->control->end_wanted))
        return trace->control->end;
    if (drain_successor_is_there)
        return "exec";
    return is_gone(trace, 0) ? "killed" : NULL;
}

/* What the program's memory may grow by with so few records, without an allocator of its own. */
#define GROWN_LEAST (UINT64_C(4) << 20)
#define RECORDS_FEW 100u

/* An allocator that is part of the program, and has no names, is recognised by what is missing. */
static void put_unseen(struct drain *drain)
{
    uint64_t grown = trace_of(drain)->control->grown_bytes, records = 0;
    char text[256];
    for (struct live_stream *stream = live_all_streams(drain->map); stream != NULL;
         stream = stream->next_all)
        records += step_writer_put_count(drain->writer, stream->number);
    uint64_t asked = live_allocs_decoder_asked_bytes(trace_of(drain)->decoder);
    if (grown < asked || grown - asked < GROWN_LEAST || records >= RECORDS_FEW ||
        trace_of(drain)->cut != NULL)
        return; /* a few large blocks explain it */
    snprintf(
        text, sizeof text,
        "hardly any allocation was recorded, but the program's memory grew by %.1f MiB: it has "
        "an allocator of its own, or maps its memory itself",
        (double) grown / (1 << 20));
    drain_put_text(drain, "incomplete", text);
}

static void put_end(struct drain *drain, const char *end)
{
    struct native_trace *trace = trace_of(drain);
    drain_put_text(drain, "end", end);
    trace->control->bypassed[sizeof trace->control->bypassed - 1] = '\0';
    if (trace->control->bypassed[0] != '\0')
        drain_put_text(drain, "bypassed-by", trace->control->bypassed);
    drain_put_number(drain, "dropped", atomic_load(&trace->header->dropped));
    drain_put_number(drain, "missed", atomic_load(&trace->control->missed));
    put_unseen(drain);
    drain_put_waits(drain);
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0)
        return;
    uint64_t cpu_us = (uint64_t) (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000u +
                      (uint64_t) (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    drain_put_number(drain, "drain-cpu-us", cpu_us);
    drain_put_number(drain, "drain-peak-kib", (uint64_t) usage.ru_maxrss);
}

/* If a trace ends before its program, it ends for all threads at the time of its latest record.
 * Threads get time to publish older records: without the record of a realloc, its old address would
 * appear to be allocated twice. */
static void take_until_cut(struct drain *drain)
{
    struct native_trace *trace = trace_of(drain);
    int rounds = 0;
    if (!trace->is_evened)
        live_allocs_decoder_end_at(trace->decoder, live_allocs_decoder_latest(trace->decoder));
    do {
        nanosleep(&(struct timespec){0, COMMIT_NS}, NULL);
        atomic_fetch_add(&trace->control->beat, 1);
    } while (owed_frees_any(drain->map) && ++rounds < COMMIT_ROUNDS && !is_gone(trace, 0));
    trace->is_evened = true;
    take_the_rest(drain);
}

static void close_trace(struct drain *drain, const char *end)
{
    struct native_trace *trace = trace_of(drain);
    live_map_stop(drain->map);
    trace->file->ending = true;
    if (trace->cut == NULL)
        take_the_rest(drain);
    if (trace->cut != NULL && !drain->failed)
        take_until_cut(drain);
    if (!drain->failed)
        drain_check(drain, owed_frees_put(drain->map, trace->decoder), NULL);
    if (trace->symbols != NULL && symbols_modules(trace->symbols) != NULL)
        drain_put_text(drain, "modules", symbols_modules(trace->symbols));
    put_end(drain, trace->cut != NULL ? trace->cut : end);
    drain_close(drain);
    native_trace_close(trace);
    atomic_store(&trace->control->is_closed, 1);
    futex_gate_open(&trace->control->closed);
}

static void calibrate(struct native_trace *trace)
{
    const struct clock_moment start = {trace->numbers.start_raw, trace->numbers.start_monotonic_ns,
                                       trace->numbers.start_wall_ns};
    struct clock_scale scale;
    clock_calibrate(&start, &scale);
    trace->header->clock_multiplier = scale.multiplier;
    trace->header->clock_shift = scale.shift;
}

static const struct drain_operations operations = {.begin = live_streams_begin,
                                                   .words = live_allocs_decoder_words,
                                                   .next_record = live_streams_next_record,
                                                   .take_all_full = take_all_full};

void drain_run(struct native_trace *trace)
{
    calibrate(trace);
    native_trace_describe_clock(trace);
    trace->decoder = live_allocs_decoder_create(trace->header, trace->writer);
    struct drain drain = {.operations = &operations,
                          .owner = trace,
                          .path = trace->path,
                          .map = &trace->map,
                          .writer = trace->writer,
                          .decoder = trace->decoder,
                          .failed = trace->decoder == NULL};
    if (trace->numbers.stack != 0 && trace->decoder != NULL &&
        (trace->symbols = symbols_create(trace->process)) != NULL)
        live_allocs_decoder_set_describe(trace->decoder, symbols_describe, trace->symbols);
    const char *end;
    while ((end = drain_run_end_of(&drain)) == NULL) {
        live_wait_for_work(drain.map);
        atomic_fetch_add(&trace->control->beat, 1);
        native_trace_grow(trace);
        take_all_full(&drain);
        drain_relieve(&drain);
    }
    close_trace(&drain, end);
    /* The lock shows later programs of the process that the name is in use. */
    while (!atomic_load(&trace->control->end_wanted) && !is_gone(trace, LINGER_MS))
        ;
    trace_file_close(trace->file);
}
