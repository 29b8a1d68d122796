/* SPDX-License-Identifier: Apache-2.0 */
/* Times of method events without a stamp: in equal steps between the stamps around them, where the
 * thread has not waited between. */
#ifndef FORMAT_LIVE_LIVE_BETWEEN_H
#define FORMAT_LIVE_LIVE_BETWEEN_H

#include "format/live/live_streams.h"

/* Looks for the next stamp after `stamp`.  `words` begin with an event without one. */
void live_between_plan(struct live_between *between, const struct step_live_header *clock,
                       uint64_t stamp, const uint64_t *words, size_t count);

/* Returns the time, as a stamp, of the event at `words`; the last stamp in the chunk was `stamp`.
 */
static inline uint64_t live_between_next(struct live_between *between,
                                         const struct step_live_header *clock, uint64_t stamp,
                                         const uint64_t *words, size_t count)
{
    if (between->left == 0)
        live_between_plan(between, clock, stamp, words, count);
    between->left--;
    return between->stamp += between->step;
}

#endif
