/* SPDX-License-Identifier: Apache-2.0 */
/* The walk over pieces of eden: what is the bulk of its time. */
#ifndef AGENT_EVENTS_EDEN_LANES_H
#define AGENT_EVENTS_EDEN_LANES_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/events/last_arrays.h"
#include "agent/hotspot/eden_spaces.h"
#include "agent/hotspot/eden_threads.h"

/* Counts each object of the pieces, but not the rests of threads' buffers, in the row of its class
 * (eden_rows.h). Adds to `last` the arrays that end regions and may be fillers, and sets
 * `*has_older` if a piece is passed over because it has what was there before. Returns false if
 * what is there is no object, or one ends beyond its piece. */
bool eden_lanes_walk(const struct eden_threads *threads, const struct eden_piece *pieces,
                     size_t count, struct last_arrays *last, bool *has_older);

#endif
