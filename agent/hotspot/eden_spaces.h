/* SPDX-License-Identifier: Apache-2.0 */
/* Where the objects are that the program has allocated since the last look: in eden, and those that
 * it allocated elsewhere. Called while the program stands still. */
#ifndef AGENT_HOTSPOT_EDEN_SPACES_H
#define AGENT_HOTSPOT_EDEN_SPACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/hotspot/eden_threads.h"

struct eden_piece {
    struct eden_span span;
    enum eden_piece_kind {
        EDEN_OBJECTS, /* from one end to the other */
        EDEN_OLD,     /* the same, in the old space of Serial and Parallel */
        EDEN_ONE,     /* one object at its beginning, as large as it is: a humongous one of G1 */
        EDEN_IF_ONE   /* the same, if it ends where the piece ends; else these objects are older */
    } kind;
    /* of G1, which may fill the rest of a region */
    size_t region;
    uintptr_t region_end; /* 0: it is in none */
};

/* Begins anew: all that there is counts as allocated since then, until eden_spaces_looked(). */
void eden_spaces_begin(void);
/* Returns false if out of memory. The list is valid until the next call. */
bool eden_spaces_list(const struct eden_piece **pieces, size_t *count);
/* Returns whether eden has, besides what was listed, what was known before. */
bool eden_spaces_have_older(void);
/* What was listed is known from now on; `threads` has the rests of buffers, where objects will
 * follow. Returns false if out of memory. */
bool eden_spaces_looked(const struct eden_threads *threads);
/* Call when a pause begins. Returns false if out of memory. */
bool eden_spaces_pause_begins(void);
/* The pause ends, and no thread of the program has run in it. `counted`: the JVM has counted it as
 * a collection. Returns true if it has emptied eden: what was there and is not known never will be.
 * `left_out`: the same of what is elsewhere. */
bool eden_spaces_pause_ends(bool counted, bool left_out);

#endif
