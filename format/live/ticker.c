/* SPDX-License-Identifier: Apache-2.0 */
/* The exact part of converting stamps to ticks. */
#include "format/live/ticker.h"

/* A stamp must be less than a tick, and a tick in the clock's units one word. */
uint64_t ticker_rate(const struct step_live_header *clock)
{
    unsigned __int128 tick = (unsigned __int128) clock->resolution_ns << clock->clock_shift;
    unsigned __int128 rate =
        ((unsigned __int128) clock->clock_multiplier << TICKER_PLACE_BITS) / tick;
    return tick <= UINT64_MAX && rate >> TICKER_PLACE_BITS == 0 ? (uint64_t) rate : 0;
}

struct ticker ticker_begin(const struct step_live_header *clock, uint64_t rate,
                           const struct stream_state *state)
{
    return (struct ticker){.clock = {.clock_multiplier = clock->clock_multiplier,
                                     .clock_shift = clock->clock_shift,
                                     .resolution_ns = clock->resolution_ns},
                           .state = *state,
                           .rate = rate};
}

/* Stamps of a damaged file may be so late that their nanoseconds are no longer a word: all are
 * then converted one by one, with the same overflow. */
void ticker_rebase(struct ticker *ticker, uint64_t stamp)
{
    const struct step_live_header *clock = &ticker->clock;
    unsigned __int128 units = (unsigned __int128) stamp * clock->clock_multiplier;
    ticker->base = stamp;
    ticker->ticks = live_later_ticks(clock, &ticker->state, stamp);
    ticker->from = 0;
    ticker->reach = 0;
    if (ticker->rate == 0 || units >> 63 >> clock->clock_shift != 0)
        return;
    uint64_t tick = (uint64_t) clock->resolution_ns << clock->clock_shift;
    ticker->ticks = (uint64_t) (units / tick);
    ticker->from = (uint64_t) ((units % tick << TICKER_PLACE_BITS) / tick);
    ticker->reach = (UINT64_C(1) << TICKER_REACH_BITS) - 1;
}
