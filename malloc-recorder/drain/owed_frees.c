/* SPDX-License-Identifier: Apache-2.0 */
/* Debts of streams, read while their owners may still run, and frees of them. */
#include "malloc-recorder/drain/owed_frees.h"

#include "capture/retained_chunks.h"

bool owed_frees_any(struct live_map *map)
{
    for (struct live_stream *stream = live_all_streams(map); stream != NULL;
         stream = stream->next_all)
        if (atomic_load(&stream->debt.stamp) != 0)
            return true;
    return false;
}

struct owed_free {
    uint64_t stamp, heap, address, record;
};

/* False: there is none, or its owner is at it. */
static bool read_debt(const struct live_debt *debt, struct owed_free *out)
{
    out->stamp = atomic_load_explicit(&debt->stamp, memory_order_acquire);
    out->heap = atomic_load_explicit(&debt->heap, memory_order_relaxed);
    out->address = atomic_load_explicit(&debt->address, memory_order_relaxed);
    out->record = atomic_load_explicit(&debt->record, memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    return out->stamp != 0 &&
           atomic_load_explicit(&debt->stamp, memory_order_relaxed) == out->stamp;
}

static enum step_status put_free(struct live_allocs_decoder *decoder, uint64_t stream,
                                 const struct owed_free *owed)
{
    const uint64_t words[] = {(uint64_t) STEP_LIVE_HEAP_IN | owed->heap << STEP_LIVE_KIND_BITS,
                              live_allocs_word(STEP_LIVE_HEAP_FREE, owed->stamp), owed->address};
    size_t consumed;
    return live_allocs_decoder_words(decoder, stream, words, sizeof words / sizeof words[0],
                                     &consumed, NULL);
}

enum step_status owed_frees_put(struct live_map *map, struct live_allocs_decoder *decoder)
{
    enum step_status status = STEP_STATUS_OK;
    struct owed_free owed;
    for (struct live_stream *stream = live_all_streams(map);
         stream != NULL && status == STEP_STATUS_OK; stream = stream->next_all)
        if (read_debt(&stream->debt, &owed) &&
            live_allocs_decoder_next_record(decoder, stream->number) == owed.record)
            status = put_free(decoder, stream->number, &owed);
    return status;
}
