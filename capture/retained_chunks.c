/* SPDX-License-Identifier: Apache-2.0 */
/* The drain thread's side of the live file: which chunks it keeps, and until when. */
#include "capture/retained_chunks.h"

#include <time.h>

#define TICK_NS 100000000L

size_t live_published_words(const struct step_live_chunk *chunk)
{
    return (size_t) (atomic_load_explicit(&chunk->used, memory_order_acquire) / sizeof(uint64_t));
}

struct live_stream *live_all_streams(struct live_map *map)
{
    pthread_mutex_lock(&map->lock);
    struct live_stream *first = map->all_streams;
    pthread_mutex_unlock(&map->lock);
    return first;
}

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
    return atomic_load(&map->backlog_bytes) >= map->limit_bytes / 2;
}

void live_wait_for_work(struct live_map *map)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += TICK_NS;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_nsec -= 1000000000L;
        until.tv_sec++;
    }
    if (sem_timedwait(&map->work, &until) == 0)
        while (sem_trywait(&map->work) == 0)
            ;
}
