/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the stamp after events without one.
 *
 * It is looked for in the words at hand, which end with the chunk at the latest.  A switch of
 * threads ends the search: it stands between different threads' stamps, and where a thread has left
 * the stream.  Where nothing is found, or so late that the thread has waited meanwhile, the events
 * have the stamp before them: they are no earlier. */
#include "format/live/live_between.h"

/* Returns the length of a record that the search passes over; 0: it ends there.  Then *stamp is the
 * record's, if it has one.  Adds one to *events if it has none, but a time. */
static size_t passed_words(uint64_t word, uint64_t *stamp, uint64_t *events)
{
    uint64_t payload = word >> STEP_LIVE_KIND_BITS, past = payload >> STEP_LIVE_METHOD_BITS;
    switch (live_kind(word)) {
    case STEP_LIVE_ENTRY_SHORT:
    case STEP_LIVE_EXIT_SHORT:
    case STEP_LIVE_FRAME_POP_SHORT:
    case STEP_LIVE_ENTRY_NEW_SHORT:
        *events += past == STEP_LIVE_PAST_SPARED;
        if (past == STEP_LIVE_PAST_SPARED || past == 0) /* 0: the time of the event before */
            return 1;
        *stamp += past;
        return 0;
    case STEP_LIVE_STACK:
    case STEP_LIVE_UNWAITED:
        return 1;
    case STEP_LIVE_CONSTRUCTED:
        return 2;
    case STEP_LIVE_NONE:
    case STEP_LIVE_THREAD_SWITCH:
    case STEP_LIVE_DEFINE_CLASS:
    case STEP_LIVE_DEFINE_METHOD:
    case STEP_LIVE_DEFINE_THREAD:
    case STEP_LIVE_DEFINE_FRAME:
    case STEP_LIVE_FREE_OBJECT:
        return 0;
    default:
        *stamp = payload;
        return 0;
    }
}

void live_between_plan(struct live_between *between, const struct step_live_header *clock,
                       uint64_t stamp, const uint64_t *words, size_t count)
{
    uint64_t events = 0, next = stamp;
    for (size_t at = 0, passed = 1; at < count && passed != 0; at += passed)
        passed = passed_words(words[at], &next, &events);
    uint64_t span = next > stamp ? next - stamp : 0;
    if (live_stamp_ns(clock, span) > STEP_LIVE_SPARED_NS)
        span = 0;
    *between = (struct live_between){events, stamp, span / (events + 1)};
}
