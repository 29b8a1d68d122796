/* SPDX-License-Identifier: Apache-2.0 */
/* Where the objects are that a young collection has moved: into the survivor space, or into the old
 * one. Called while the program stands still, at the beginning and at the end of each pause. */
#ifndef AGENT_HOTSPOT_EDEN_SURVIVORS_H
#define AGENT_HOTSPOT_EDEN_SURVIVORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/hotspot/eden_threads.h"
#include "agent/hotspot/object_ages.h"

struct survivor_piece {
    struct eden_span span;
    bool is_old; /* in the old space, where objects keep the age that they had before */
};

struct eden_survivors {
    const struct survivor_piece *pieces;
    size_t count;
    bool is_mixed; /* pieces of the old space may have what was old before */
};

/* Returns why they cannot be found in this JVM, or NULL. Call when eden_layout is known. */
const char *eden_survivors_find(void);
/* Sets where the JVM counts its young and its full collections, which that has found. */
void eden_survivors_use(const volatile int64_t *young, const volatile int64_t *full);
/* Begins anew. */
void eden_survivors_begin(void);
/* Returns false if out of memory. */
bool eden_survivors_pause_begins(void);
/* Returns whether all that is young and has the age 0 is in eden, or was allocated since the last
 * collection: not at first, and not after some full collections. */
bool eden_survivors_are_dated(void);
/* Returns true if this pause was one young collection, and no object stayed where it was. */
bool eden_survivors_pause_ends(struct eden_survivors *out);
/* Sets the pieces that the last collection has listed; none, if it was not such a one. */
void eden_survivors_last(struct eden_survivors *out);
/* Returns false if the collector itself has counted other bytes of survivors of an age. */
bool eden_survivors_agree(const uint64_t bytes[OBJECT_AGES]);

#endif
