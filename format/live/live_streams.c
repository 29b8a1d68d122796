/* SPDX-License-Identifier: Apache-2.0 */
/* The table of streams. */
#include "live_streams.h"

#include <stdlib.h>
#include <string.h>

#define STREAM_LIMIT (UINT64_C(1) << 24)

void live_streams_reset(struct live_streams *streams)
{
    for (size_t i = 0; i < streams->count; i++)
        window_destroy(streams->states[i].window);
    free(streams->states);
    *streams = (struct live_streams){0};
}

struct stream_state *live_streams_at(struct live_streams *streams, const struct step_writer *writer,
                                     uint64_t stream)
{
    if (stream >= STREAM_LIMIT)
        return NULL;
    if (stream >= streams->count) {
        size_t wanted = (size_t) stream + 1 + streams->count / 2 + 16;
        struct stream_state *grown = realloc(streams->states, wanted * sizeof *grown);
        if (grown == NULL)
            return NULL;
        memset(grown + streams->count, 0, (wanted - streams->count) * sizeof *grown);
        for (size_t i = streams->count; i < wanted; i++)
            grown[i].resumed = step_writer_put_count(writer, i);
        streams->states = grown;
        streams->count = wanted;
    }
    return &streams->states[stream];
}

uint64_t live_streams_next_record(const struct live_streams *streams, uint64_t stream)
{
    return stream < streams->count ? streams->states[stream].next_record : 0;
}

uint64_t live_streams_latest(const struct live_streams *streams)
{
    uint64_t latest = 0;
    for (size_t i = 0; i < streams->count; i++)
        if (streams->states[i].last_ticks > latest)
            latest = streams->states[i].last_ticks;
    return latest;
}

struct step_live_header live_clock(const struct step_live_header *header)
{
    struct step_live_header clock;
    memcpy(&clock, header, sizeof clock);
    if (clock.resolution_ns == 0)
        clock.resolution_ns = 1;
    clock.clock_shift &= 63;
    return clock;
}
