/* SPDX-License-Identifier: Apache-2.0 */
/* Drains chunks: parses and retains them, and releases them when their records are written. */
#include "capture/drain.h"

#include <time.h>

#include "capture/log.h"
#include "capture/provenance.h"
#include "capture/retained_chunks.h"

#define QUIESCE_NS 50000L

void drain_check(struct drain *drain, enum step_status status, const struct step_error *error)
{
    if (status == STEP_STATUS_OK || drain->failed)
        return;
    drain->failed = true;
    char text[900] = "";
    if (error != NULL)
        step_error_print(error, text, sizeof text);
    log_message("%s: the trace ends here: %s", drain->path,
                text[0] != '\0' ? text : step_status_text(status));
}

/* Called before each chunk and each block. Once true, it stays true. */
static bool is_left(struct drain *drain)
{
    const struct drain_operations *operations = drain->operations;
    if (!drain->left && !drain->failed && operations->is_late != NULL)
        drain->left = operations->is_late(drain);
    return drain->left;
}

void drain_parse(struct drain *drain, struct live_chunk_ref *ref, size_t words)
{
    const struct drain_operations *operations = drain->operations;
    const struct step_live_chunk *chunk = ref->chunk;
    struct step_error error = {.status = STEP_STATUS_OK};
    ref->end_record = UINT64_MAX;
    if (drain->failed || is_left(drain))
        return;
    if (ref->parsed_words == 0)
        drain_check(
            drain,
            operations->begin(drain->decoder, chunk->stream, chunk->first_record, chunk->thread),
            NULL);
    size_t consumed = 0;
    enum step_status status = operations->words(drain->decoder, chunk->stream,
                                                live_chunk_words(ref->chunk) + ref->parsed_words,
                                                words - ref->parsed_words, &consumed, &error);
    ref->parsed_words += consumed;
    if (status == STEP_STATUS_OK)
        ref->end_record = operations->next_record(drain->decoder, chunk->stream);
    drain_check(drain, status, &error);
}

void drain_release_written(struct drain *drain, struct live_stream *stream)
{
    const struct drain_operations *operations = drain->operations;
    uint64_t settled = step_writer_written_count(drain->writer, stream->number);
    if (operations->settled != NULL)
        settled = operations->settled(drain->decoder, stream->number, settled);
    live_release_settled(drain->map, stream, settled);
}

void drain_flush_stream(struct drain *drain, const struct live_stream *stream)
{
    drain_check(drain, step_writer_flush_stream(drain->writer, stream->number), NULL);
}

void drain_parse_full(struct drain *drain, struct live_chunk_ref *ref)
{
    ref->next = NULL;
    drain_parse(drain, ref, live_published_words(ref->chunk));
    live_retain(ref);
}

void drain_take_full(struct drain *drain, struct live_chunk_ref *ref)
{
    struct live_stream *stream = ref->stream;
    drain_parse_full(drain, ref);
    drain_release_written(drain, stream);
}

/* The acquire load pairs with the release store at the end of begin_chunk(), so the header of the
 * chunk is valid. The comparison guards the stream's order: live_reserve_chunk() installs the next
 * chunk before it queues the full one. If that one has not arrived yet, the records of the new
 * chunk must wait for it; the decoder takes a stream's records in order only. */
void drain_take_active(struct drain *drain, struct live_stream *stream)
{
    struct live_chunk_ref *ref = atomic_load_explicit(&stream->ref, memory_order_acquire);
    if (ref != NULL && ref->chunk->order == stream->expected_order)
        drain_parse(drain, ref, live_published_words(ref->chunk));
}

/* First the full chunks, until there are none, then the active ones. Each stream is complete up to
 * some moment of its own then. The streams need no common moment: readers merge them by time. The
 * global stream was created first and is the last one in the list. A definition is committed before
 * a record that names it, so the global stream has, when it is taken, the definitions of everything
 * that was taken before it; or a chunk of it has become full meanwhile, and comes with the next
 * pass. */
void drain_take_everything(struct drain *drain)
{
    while (drain->operations->take_all_full(drain))
        ;
    for (struct live_stream *stream = live_all_streams(drain->map); stream != NULL;
         stream = stream->next_all)
        drain_take_active(drain, stream);
}

/* A block is normally written when it is full, which makes it small on disk. But a chunk is
 * released only when all its records are written, and a stream with few records keeps its chunk
 * meanwhile. With many such streams the ring would fill with chunks that hold little, and threads
 * would wait although the drain has nothing to do. So from half of the limit on, blocks are written
 * as they are. */
void drain_relieve(struct drain *drain)
{
    if (is_left(drain) || !live_needs_relief(drain->map))
        return;
    for (struct live_stream *stream = live_all_streams(drain->map); stream != NULL;
         stream = stream->next_all) {
        if (stream->retained_bytes == 0)
            continue;
        drain_flush_stream(drain, stream);
        drain_release_written(drain, stream);
    }
}

/* The chunks are taken in the loop, not after it: a thread that is still in its probe may wait for
 * room, and only a drained chunk lets it leave. If the file takes no more data, nothing will ever
 * be released; then the waits are ended (live_map_stop()), or this would wait for a thread that
 * waits for this one. */
void drain_until_quiet(struct drain *drain)
{
    const struct drain_operations *operations = drain->operations;
    while (!operations->is_quiet(drain)) {
        drain->abandoned = operations->gives_up != NULL && operations->gives_up(drain);
        if (drain->abandoned)
            return;
        operations->take_all_full(drain);
        drain_relieve(drain);
        if (drain->failed)
            live_map_stop(drain->map);
        nanosleep(&(struct timespec){0, QUIESCE_NS}, NULL);
    }
}

void drain_put_text(struct drain *drain, const char *key, const char *value)
{
    drain_check(drain, step_writer_property(drain->writer, key, value), NULL);
}

void drain_put_number(struct drain *drain, const char *key, uint64_t value)
{
    drain_check(drain, provenance_number(drain->writer, key, value), NULL);
}

void drain_put_waits(struct drain *drain)
{
    const struct waits *waits = &drain->map->shared->waits;
    char text[WAITS_TEXT];
    waits_print(waits, text, sizeof text);
    drain_put_number(drain, "waited-ns", waits->sum_ns);
    drain_put_number(drain, "longest-wait-ns", waits->longest_ns);
    if (text[0] != '\0')
        drain_put_text(drain, "waits", text);
}

/* Flushes stream by stream, so that it can stop in between. */
static void flush_in_time(struct drain *drain)
{
    if (drain->operations->is_late == NULL)
        return;
    for (uint64_t number = 0; number < drain->map->stream_count && !is_left(drain); number++)
        drain_check(drain, step_writer_flush_stream(drain->writer, number), NULL);
}

void drain_close(struct drain *drain)
{
    struct step_error error = {.status = STEP_STATUS_OK};
    flush_in_time(drain);
    if (!drain->left)
        drain_check(drain, step_writer_close(drain->writer, &error), &error);
}
