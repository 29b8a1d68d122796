/* SPDX-License-Identifier: Apache-2.0 */
/* The table of streams of a live file. */
#include "format/live/live_streams.h"

#include <stdlib.h>
#include <string.h>

#include "format/core/grow.h"

#define STREAM_LIMIT (UINT64_C(1) << 24)
#define PAGE_STREAMS 64u

struct stream_state *live_streams_find(const struct live_streams *streams, uint64_t stream)
{
    uint64_t page = stream / PAGE_STREAMS;
    return page < streams->page_count && streams->pages[page] != NULL
               ? &streams->pages[page][stream % PAGE_STREAMS]
               : NULL;
}

uint64_t live_streams_end(const struct live_streams *streams)
{
    return (uint64_t) streams->page_count * PAGE_STREAMS;
}

void live_streams_reset(struct live_streams *streams)
{
    for (uint64_t i = 0; i < live_streams_end(streams); i++) {
        struct stream_state *state = live_streams_find(streams, i);
        if (state != NULL)
            window_destroy(state->window);
    }
    for (size_t i = 0; i < streams->page_count; i++)
        free(streams->pages[i]);
    free(streams->pages);
    *streams = (struct live_streams){0};
}

/* Grows the table of pages to contain the page. */
static bool reach(struct live_streams *streams, size_t page)
{
    if (page < streams->page_count)
        return true;
    struct stream_state **grown =
        step_grown_zeroed(streams->pages, &streams->page_count, page + 1, sizeof *streams->pages);
    if (grown == NULL)
        return false;
    streams->pages = grown;
    return true;
}

struct stream_state *live_streams_at(struct live_streams *streams, const struct step_writer *writer,
                                     uint64_t stream)
{
    struct stream_state *found = live_streams_find(streams, stream);
    size_t page = (size_t) (stream / PAGE_STREAMS);
    if (found != NULL)
        return found;
    if (stream >= STREAM_LIMIT || !reach(streams, page))
        return NULL;
    struct stream_state *states = calloc(PAGE_STREAMS, sizeof *states);
    if (states == NULL)
        return NULL;
    for (size_t i = 0; i < PAGE_STREAMS; i++)
        states[i].resumed = step_writer_put_count(writer, (uint64_t) page * PAGE_STREAMS + i);
    streams->pages[page] = states;
    return &states[stream % PAGE_STREAMS];
}

uint64_t live_streams_next_record(const struct live_streams *streams, uint64_t stream)
{
    const struct stream_state *state = live_streams_find(streams, stream);
    return state != NULL ? state->next_record : 0;
}

uint64_t live_streams_latest(const struct live_streams *streams)
{
    uint64_t latest = 0;
    for (uint64_t i = 0; i < live_streams_end(streams); i++) {
        const struct stream_state *state = live_streams_find(streams, i);
        if (state != NULL && state->last_ticks > latest)
            latest = state->last_ticks;
    }
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
