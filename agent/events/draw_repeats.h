/* SPDX-License-Identifier: Apache-2.0 */
/* engine=sampled: how often HotSpot draws the same distance to the next sample again. */
#ifndef AGENT_EVENTS_DRAW_REPEATS_H
#define AGENT_EVENTS_DRAW_REPEATS_H

#include <stdbool.h>
#include <stdint.h>

/* What is counted: samples of the session, and of all files of its rotate= so far. */
enum draws_of { DRAWS_OF_FILE, DRAWS_OF_RING };

/* Before a session's events are enabled: nothing was counted, but of the files before it if the
 * ring goes on. */
void draw_repeats_begin(bool ring_goes_on);
/* A platform thread has begun, of which `place` is the JNIEnv. Returns the number of its first
 * draw. */
uint64_t draw_repeats_thread(const void *place);
/* Returns the number of the draw that was made now. Draws of one number gave one distance. 0: it is
 * of no thread that began meanwhile, so no other has its number. */
uint64_t draw_repeats_next(void);
/* Counts a sample, by the number of the draw that led to it. */
void draw_repeats_count(uint64_t draw, bool thread_began);
/* Returns the variance that repeated draws add to a sum, as a share of the sum's square, in 1e-9.
 */
uint64_t draw_repeats_share(enum draws_of which);

#endif
