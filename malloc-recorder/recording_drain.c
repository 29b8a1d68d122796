/* SPDX-License-Identifier: Apache-2.0 */
/* What the malloc recorder drains, and the recording's end. */
#include "capture/drain.h"
#include "capture/retained_chunks.h"
#include "format/live/live_allocs.h"
#include "malloc-recorder/malloc_probes.h"

static struct recording *recording_of(const struct drain *drain)
{
    return drain->owner;
}

static enum step_status begin_chunk(void *decoder, const struct step_live_chunk *chunk)
{
    return live_allocs_decoder_begin(decoder, chunk->stream, chunk->first_record, chunk->thread);
}

static enum step_status decode_words(void *decoder, uint64_t stream, const uint64_t *words,
                                     size_t count, size_t *consumed, struct step_error *error)
{
    return live_allocs_decoder_words(decoder, stream, words, count, consumed, error);
}

static uint64_t next_record(void *decoder, uint64_t stream)
{
    return live_allocs_decoder_next_record(decoder, stream);
}

static bool take_all_full(struct drain *drain)
{
    struct live_chunk_ref *ref = live_map_take_full(drain->map);
    bool any = ref != NULL;
    while (ref != NULL) {
        struct live_chunk_ref *next = ref->next;
        drain_take_full(drain, ref);
        ref = next;
    }
    return any;
}

/* Reasons to end that the drain thread finds itself: what is left lies in the live file. */
static bool must_end(struct drain *drain)
{
    struct recording *recording = recording_of(drain);
    uint64_t limit = recording->options.limit_bytes;
    if (atomic_load(&recording->end_wanted))
        return true;
    if (atomic_load(&recording->map->failed) && !drain->failed)
        drain_check(drain, STEP_STATUS_IO,
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

static void close_trace(struct drain *drain)
{
    struct recording *recording = recording_of(drain);
    recording->file->ending = true;
    drain_take_everything(drain);
    drain_put_text(drain, "end", recording->end);
    drain_put_number(drain, "dropped", atomic_load(&recording->map->header->dropped));
    drain_put_number(drain, "missed", atomic_load(&recorder.missed));
    drain_put_number(drain, "waited-ns", atomic_load(&recording->map->waited_ns));
    drain_close(drain);
}

/* No probe runs any more after this; what they still write is drained meanwhile. */
static void end_recording(struct drain *drain)
{
    struct recording *recording = recording_of(drain);
    if (drain->failed)
        live_map_stop(recording->map);
    drain_until_quiet(drain);
    close_trace(drain);
    trace_file_close(recording->file);
    step_writer_destroy(recording->writer);
    live_allocs_decoder_destroy(recording->decoder);
    /* What the file could not take can be recovered from the live file. */
    live_map_destroy(recording->map, drain->failed);
}

static bool is_quiet(const struct drain *drain)
{
    (void) drain;
    return record_all_outside();
}

static const struct drain_operations operations = {.begin = begin_chunk,
                                                   .words = decode_words,
                                                   .next_record = next_record,
                                                   .take_all_full = take_all_full,
                                                   .is_quiet = is_quiet};

void *record_drain_run(void *data)
{
    struct recording *recording = data;
    struct drain drain = {.operations = &operations,
                          .owner = recording,
                          .path = recording->options.file,
                          .map = recording->map,
                          .writer = recording->writer,
                          .decoder = recording->decoder};
    recorder_local.mode = MODE_OWN;
    pthread_setname_np(pthread_self(), "StepTrace drain");
    while (!must_end(&drain)) {
        live_wait_for_work(recording->map);
        take_all_full(&drain);
        drain_relieve(&drain);
    }
    end_recording(&drain);
    return NULL;
}
