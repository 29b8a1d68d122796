/* SPDX-License-Identifier: Apache-2.0 */
/* The drain thread's side of the live file: which chunks it retains, and until when. */
#include "capture/retained_chunks.h"

#define TICK_NS INT64_C(100000000)

size_t live_published_words(const struct step_live_chunk *chunk)
{
    return (size_t) (atomic_load_explicit(&chunk->used, memory_order_acquire) / sizeof(uint64_t));
}

struct live_stream *live_all_streams(struct live_map *map)
{
    return atomic_load(&map->shared->all_streams);
}

/* A parsed chunk is kept until its records are in the trace file. Until then the live file is the
 * only place that survives a crash, since parsed records wait in the writer's memory for a block to
 * become full. The chunks of a stream are retained in their order, and each knows the number of the
 * first record after it (`end_record`), so one comparison with the number of written records
 * decides which can go. */
void live_retain(struct live_chunk_ref *ref)
{
    struct live_stream *stream = ref->stream;
    stream->expected_order++;
    if (stream->retained_tail != NULL)
        stream->retained_tail->next = ref;
    else
        stream->retained_head = ref;
    stream->retained_tail = ref;
    stream->retained_bytes += ref->chunk->size_bytes;
}

void live_release_settled(struct live_map *map, struct live_stream *stream, uint64_t settled)
{
    while (stream->retained_head != NULL && stream->retained_head->end_record <= settled) {
        struct live_chunk_ref *ref = stream->retained_head;
        stream->retained_head = ref->next;
        if (stream->retained_head == NULL)
            stream->retained_tail = NULL;
        stream->retained_bytes -= ref->chunk->size_bytes;
        live_map_release(map, ref);
    }
}

bool live_needs_relief(const struct live_map *map)
{
    return atomic_load(&map->shared->backlog_bytes) >= map->shared->limit_bytes / 2;
}

/* `work_seen` is read after the wait and before the caller looks for full chunks. A chunk that is
 * queued after that look has increased the count, so the next call returns at once. The limit is
 * for what opens no gate: active chunks of a trace that is watched, a batch of frees to be closed,
 * an end that another thread asked for. */
void live_wait_for_work(struct live_map *map)
{
    struct futex_gate *work = &map->shared->work;
    if (atomic_load(&work->count) == map->work_seen)
        futex_gate_wait(work, map->work_seen, TICK_NS);
    map->work_seen = atomic_load(&work->count);
}
