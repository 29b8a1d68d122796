/* SPDX-License-Identifier: Apache-2.0 */
/* The drain thread: full chunks to records, records to the trace file, and the recording's end. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "capture/log.h"
#include "capture/retained_chunks.h"
#include "format/live/live_allocs.h"
#include "malloc-recorder/malloc_probes.h"

#define QUIESCE_NS 50000L

struct drain {
    struct recording *recording;
    bool failed; /* the trace file takes no more */
};

static void check(struct drain *drain, enum step_status status, const struct step_error *error)
{
    if (status == STEP_STATUS_OK || drain->failed)
        return;
    drain->failed = true;
    char text[900] = "";
    if (error != NULL)
        step_error_print(error, text, sizeof text);
    log_message("%s: the trace ends here: %s", drain->recording->options.file,
                text[0] != '\0' ? text : step_status_text(status));
}

static void parse(struct drain *drain, struct live_chunk_ref *ref)
{
    struct live_allocs_decoder *decoder = drain->recording->decoder;
    const struct step_live_chunk *chunk = ref->chunk;
    struct step_error error = {.status = STEP_STATUS_OK};
    size_t words = live_published_words(chunk), consumed = 0;
    if (drain->failed)
        return;
    if (ref->parsed_words == 0)
        check(drain,
              live_allocs_decoder_begin(decoder, chunk->stream, chunk->first_record, chunk->thread),
              NULL);
    check(drain,
          live_allocs_decoder_words(decoder, chunk->stream,
                                    live_chunk_words(ref->chunk) + ref->parsed_words,
                                    words - ref->parsed_words, &consumed, &error),
          &error);
    ref->parsed_words += consumed;
    ref->end_record = live_allocs_decoder_next_record(decoder, chunk->stream);
}

/* Chunks whose records are in the file go back to the pool. */
static void release_written(struct drain *drain, struct live_stream *stream)
{
    uint64_t written = step_writer_written_count(drain->recording->writer, stream->number);
    live_release_settled(drain->recording->map, stream, written);
}

static void take_full_chunk(struct drain *drain, struct live_chunk_ref *ref)
{
    struct live_stream *stream = ref->stream;
    ref->next = NULL;
    parse(drain, ref);
    live_retain(ref);
    release_written(drain, stream);
}

static bool take_full_chunks(struct drain *drain)
{
    struct live_chunk_ref *ref = live_map_take_full(drain->recording->map);
    bool any = ref != NULL;
    while (ref != NULL) {
        struct live_chunk_ref *next = ref->next;
        take_full_chunk(drain, ref);
        ref = next;
    }
    return any;
}

static void relieve(struct drain *drain)
{
    struct live_map *map = drain->recording->map;
    if (!live_needs_relief(map))
        return;
    for (struct live_stream *stream = live_all_streams(map); stream != NULL;
         stream = stream->next_all) {
        if (stream->retained_bytes == 0)
            continue;
        check(drain, step_writer_flush_stream(drain->recording->writer, stream->number), NULL);
        release_written(drain, stream);
    }
}

/* Reasons to end that the drain thread finds itself: what is left lies in the live file. */
static bool must_end(struct drain *drain)
{
    struct recording *recording = drain->recording;
    uint64_t limit = recording->options.limit_bytes;
    if (atomic_load(&recording->end_wanted))
        return true;
    if (atomic_load(&recording->map->failed) && !drain->failed)
        check(drain, STEP_STATUS_IO,
              &(struct step_error){.status = STEP_STATUS_IO,
                                   .offset = STEP_NO_OFFSET,
                                   .message = "there is no room for the live file"});
    bool is_long = limit != 0 && step_writer_size(recording->writer) >= limit;
    if (!drain->failed && !is_long)
        return false;
    recording->end = drain->failed ? "failed" : "limit";
    atomic_store(&recorder.recording, NULL);
    atomic_store(&recorder.state, STATE_OFF);
    record_order_probes();
    return true;
}

/* No probe runs any more after this; what they still write is drained meanwhile. */
static void end_probes(struct drain *drain)
{
    struct live_map *map = drain->recording->map;
    if (drain->failed)
        live_map_stop(map);
    while (!record_all_outside()) {
        take_full_chunks(drain);
        relieve(drain);
        if (drain->failed)
            live_map_stop(map);
        nanosleep(&(struct timespec){0, QUIESCE_NS}, NULL);
    }
}

static void put_number(struct drain *drain, const char *key, uint64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, value);
    check(drain, step_writer_property(drain->recording->writer, key, text), NULL);
}

static void close_trace(struct drain *drain)
{
    struct recording *recording = drain->recording;
    struct step_error error = {.status = STEP_STATUS_OK};
    recording->file->ending = true;
    while (take_full_chunks(drain))
        ;
    for (struct live_stream *stream = live_all_streams(recording->map); stream != NULL;
         stream = stream->next_all) {
        struct live_chunk_ref *ref = atomic_load_explicit(&stream->ref, memory_order_acquire);
        if (ref != NULL)
            parse(drain, ref);
    }
    check(drain, step_writer_property(recording->writer, "end", recording->end), NULL);
    put_number(drain, "dropped", atomic_load(&recording->map->header->dropped));
    put_number(drain, "missed", atomic_load(&recorder.missed));
    put_number(drain, "waited-ns", atomic_load(&recording->map->waited_ns));
    enum step_status status = step_writer_close(recording->writer, &error);
    check(drain, status, &error);
}

static void end_recording(struct drain *drain)
{
    struct recording *recording = drain->recording;
    end_probes(drain);
    close_trace(drain);
    trace_file_close(recording->file);
    step_writer_destroy(recording->writer);
    live_allocs_decoder_destroy(recording->decoder);
    /* What the file could not take can be recovered from the live file. */
    live_map_destroy(recording->map, drain->failed);
}

void *record_drain_run(void *data)
{
    struct drain drain = {.recording = data};
    recorder_local.mode = MODE_OWN;
    pthread_setname_np(pthread_self(), "StepTrace drain");
    while (!must_end(&drain)) {
        live_wait_for_work(drain.recording->map);
        take_full_chunks(&drain);
        relieve(&drain);
    }
    end_recording(&drain);
    return NULL;
}
