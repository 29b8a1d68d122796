/* SPDX-License-Identifier: Apache-2.0 */
/* Copies a ring in memory to its live file, incrementally, while the program fills it. After each
 * pass the file is a live file (steptrace/live.h) as of the pass's start. An interrupted pass
 * leaves one that lacks the end of some streams. */
#ifndef CAPTURE_RING_COPY_H
#define CAPTURE_RING_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "steptrace/live.h"

/* State of a chunk's place: in the file, and in memory at the last look. */
struct ring_place {
    uint64_t offset;
    uint64_t stream, order, used;                /* in the file; `used` 0: nothing valid */
    uint64_t seen_stream, seen_order, seen_used; /* in memory */
    bool seen;
};

struct ring_copy {
    const uint8_t *ring;
    uint64_t ring_bytes;
    int file;
    uint64_t file_bytes; /* that were written; the file is shorter only if it was truncated */
    int code;            /* errno of the first failure in the last pass; 0: none */
    struct ring_place *places;
    size_t place_count, place_capacity;
    uint64_t scanned; /* offset up to which the places are known */
    uint64_t *orders; /* by stream: the highest order seen plus one; 0: none */
    size_t order_capacity;
    struct ring_place **sorted;
    size_t sorted_count, sorted_capacity;
    uint64_t recent[16]; /* words that the last passes copied */
    unsigned passes;
};

/* Makes one pass. To initialise, zero the structure and set `ring`, `ring_bytes` and `file`.
 * `last`: the program writes no more, so the file is complete afterwards and marked as such.
 * Returns false and sets `code` on failure. */
bool ring_copy_pass(struct ring_copy *copy, bool last);
/* Marks in the file that the program has ended and that a last pass follows. */
void ring_copy_announce_end(const struct ring_copy *copy);
void ring_copy_reset(struct ring_copy *copy);

#endif
