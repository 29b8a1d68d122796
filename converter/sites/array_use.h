/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far an array of references is used: 1 + the highest index that a store or a copy ever gave a
 * reference.  `most` differs from `least` where a store's target, or a copy's source, is null or
 * unknown.
 */
#ifndef CONVERTER_SITES_ARRAY_USE_H
#define CONVERTER_SITES_ARRAY_USE_H

#include <stdbool.h>
#include <stdint.h>

/* Zero-initialise for an array that was just made. */
struct array_use {
    uint32_t least, most; /* the caller limits them to the array's length */
};

/* An array that existed before the trace. */
#define ARRAY_USE_UNKNOWN ((struct array_use){0, UINT32_MAX})

/* A store into an element.  `is_reference`: not of null, nor of an unknown object. */
void array_use_store(struct array_use *use, uint64_t index, bool is_reference);
/* A copy of `length` elements from `from` on to `to`.  `source` NULL: an unknown array. */
void array_use_copy(struct array_use *use, uint64_t to, const struct array_use *source,
                    uint64_t from, uint64_t length);

#endif
