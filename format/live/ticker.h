/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts the stamps of a stream to ticks, with the same result as live_later_ticks().
 *
 * That is a multiplication of 128 bits and a division.  A test whether they are needed is guessed
 * wrongly at each new tick, and a busy thread has one every few events.  So the ticks are computed
 * from the distance to a stamp that was converted exactly, the base, in units of 2 ^
 * -TICKER_PLACE_BITS ticks: `from` is where the base is within its tick, and `rate` how long a
 * stamp is, both rounded down.  A stamp is then less than its distance and 1 further than computed.
 * If that might be in the next tick, or the distance is more than `reach`, the stamp is converted
 * exactly and becomes the base.
 */
#ifndef FORMAT_LIVE_TICKER_H
#define FORMAT_LIVE_TICKER_H

#include "format/live/live_streams.h"

enum { TICKER_PLACE_BITS = 40, TICKER_REACH_BITS = 63 - TICKER_PLACE_BITS };

struct ticker {
    struct step_live_header clock;
    struct stream_state state;
    uint64_t rate;
    uint64_t base, ticks, from; /* of the base; the stream may be further than `ticks`, as its
                                   ticks never decrease */
    uint64_t reach;
};

/* Returns how long a stamp is; 0: each is converted exactly. */
uint64_t ticker_rate(const struct step_live_header *clock);
struct ticker ticker_begin(const struct step_live_header *clock, uint64_t rate,
                           const struct stream_state *state);
/* Makes `stamp` the base, and passes it in the stream's state. */
void ticker_rebase(struct ticker *ticker, uint64_t stamp);

/* A copy of what a loop needs of a ticker, which its stores cannot change. */
struct quick_ticker {
    uint64_t rate, base, base_ticks, from, reach;
    uint64_t ticks; /* of the last stamp */
};

static inline struct quick_ticker quick_ticker_begin(const struct ticker *ticker)
{
    return (struct quick_ticker){ticker->rate, ticker->base,  ticker->ticks,
                                 ticker->from, ticker->reach, ticker->state.last_ticks};
}

/* Puts the last stamp's ticks into the stream's state. */
static inline void quick_ticker_end(const struct quick_ticker *quick, struct ticker *ticker)
{
    ticker->state.last_ticks = quick->ticks;
    ticker->state.last_ns = quick->ticks * ticker->clock.resolution_ns;
}

/* Returns the ticks of the next stamp. */
static inline __attribute__((always_inline)) uint64_t quick_ticker_at(struct quick_ticker *quick,
                                                                      struct ticker *ticker,
                                                                      uint64_t stamp)
{
    uint64_t distance = stamp - quick->base;
    uint64_t place = quick->from + distance * quick->rate;
    uint64_t further = place + distance + 1;
    if (__builtin_expect(distance > quick->reach || (place ^ further) >> TICKER_PLACE_BITS != 0,
                         0)) {
        quick_ticker_end(quick, ticker);
        ticker_rebase(ticker, stamp);
        *quick = quick_ticker_begin(ticker);
        return quick->ticks;
    }
    uint64_t ticks = quick->base_ticks + (place >> TICKER_PLACE_BITS);
    return quick->ticks = ticks > quick->ticks ? ticks : quick->ticks;
}

#endif
