/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectors that look at the whole heap at each collection: a semi-space collector, which copies
 * what lives into the other half, and mark-compact.  A collection happens when an object does not
 * fit any more.
 */
#ifndef CONVERTER_SIMULATE_ONE_SPACE_H
#define CONVERTER_SIMULATE_ONE_SPACE_H

#include <stdbool.h>
#include <stdint.h>

struct one_space {
    uint64_t heap;     /* bytes, as the user gave it */
    uint64_t capacity; /* bytes that can be occupied: the heap, or half of it */
    uint64_t full_at;  /* position in the order of births at which the space is full */
    uint64_t collections;
    uint64_t kept; /* bytes that lived at collections: copied, or marked */
    uint64_t peak; /* most bytes occupied */
    bool is_too_small;
    uint64_t failed_at; /* position at which an object did not fit after a collection */
};

void one_space_init(struct one_space *space, uint64_t heap, uint64_t capacity);
/* An object of `size` bytes does not fit.  `position` is the number of bytes born before it, of
 * which `living` bytes live. */
void one_space_collect(struct one_space *space, uint64_t position, uint64_t size, uint64_t living);
void one_space_finish(struct one_space *space, uint64_t position);

#endif
