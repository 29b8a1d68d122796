/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of the bytes that each thread of a Java program has allocated. */
#include "format/core/grow.h"
#include "format/live/live_records.h"

#define THREADS_COUNTED (UINT64_C(1) << 24)

void live_decoder_count_bytes(struct live_decoder *decoder)
{
    decoder->counts_bytes = true;
}

/* Threads beyond the limit, or without memory, count as ones that have allocated nothing. */
void live_add_bytes(struct live_decoder *decoder, uint64_t thread, uint64_t bytes)
{
    if (decoder->counts_bytes && thread < THREADS_COUNTED &&
        STEP_MAKE_ZEROED_ROOM(decoder->bytes, decoder->byte_capacity, (size_t) thread + 1))
        decoder->bytes[thread] += bytes;
}

uint64_t live_decoder_bytes_of(const struct live_decoder *decoder, uint64_t thread)
{
    if (thread != LIVE_ALL_THREADS)
        return thread < decoder->byte_capacity ? decoder->bytes[thread] : 0;
    uint64_t sum = 0;
    for (size_t i = 0; i < decoder->byte_capacity; i++)
        sum += decoder->bytes[i];
    return sum;
}
