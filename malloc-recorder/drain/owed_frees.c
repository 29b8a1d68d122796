/* SPDX-License-Identifier: Apache-2.0 */
/* What the chunks in use owe, read while their owners may still run. */
#include "malloc-recorder/drain/owed_frees.h"

#include <string.h>

#include "capture/retained_chunks.h"

static struct step_live_chunk *chunk_of(const struct live_stream *stream)
{
    const struct live_chunk_ref *ref = atomic_load(&stream->ref);
    return ref != NULL ? ref->chunk : NULL;
}

bool owed_frees_any(struct live_map *map)
{
    for (struct live_stream *stream = live_all_streams(map); stream != NULL;
         stream = stream->next_all) {
        const struct step_live_chunk *chunk = chunk_of(stream);
        if (chunk != NULL && atomic_load(&chunk->owed_at) != 0)
            return true;
    }
    return false;
}

/* False: nothing, or the owner is at it. */
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

enum step_status owed_frees_put(struct live_map *map, struct live_allocs_decoder *decoder)
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
