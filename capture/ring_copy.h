/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies a ring in memory to its live file, piece by piece, while the program fills it.  After each
 * pass the file is a live file (steptrace/live.h) as of the pass's start; a pass that is cut short
 * leaves it one that lacks the end of some streams.
 */
#ifndef CAPTURE_RING_COPY_H
#define CAPTURE_RING_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "steptrace/live.h"

/* What the file has of a chunk's place, and what the memory had when it was looked at last. */
struct ring_place {
    uint64_t offset;
    uint64_t stream, order, used;                /* in the file; `used` 0: nothing of value */
    uint64_t seen_stream, seen_order, seen_used; /* in memory */
    bool seen;
};

struct ring_copy {
    const uint8_t *ring;
    uint64_t ring_bytes;
    int file;
    uint64_t file_bytes; /* that were written, so it is as long unless somebody cuts it */
    int code;            /* errno of what failed first in the last pass; 0: it is all there */
    struct ring_place *places;
    size_t place_count, place_capacity;
    uint64_t scanned; /* the offset up to which the places are known */
    uint64_t *orders; /* by stream: one more than the highest order seen; 0: none */
    size_t order_capacity;
    struct ring_place **sorted;
    size_t sorted_count, sorted_capacity;
    uint64_t recent[16]; /* words that the last passes brought */
    unsigned passes;
};

/* To initialise, zero the structure and set `ring`, `ring_bytes` and `file`.  One pass; `last`: the
 * program fills nothing any more, so the file has all afterwards and says so.  False: `code`. */
bool ring_copy_pass(struct ring_copy *copy, bool last);
/* Says in the file that the program has ended and that a last pass follows. */
void ring_copy_announce_end(const struct ring_copy *copy);
void ring_copy_reset(struct ring_copy *copy);

#endif
