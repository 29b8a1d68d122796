/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The living objects by when they were born.  A segment is a part of the order of births, and knows
 * how many of its bytes live.  All models share the segments: each collection of any model begins a
 * segment, so that what a model allocated between two of its collections is whole segments.
 */
#ifndef CONVERTER_SIMULATE_SEGMENTS_H
#define CONVERTER_SIMULATE_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "converter/base/object_table.h"

struct segment {
    uint64_t living; /* bytes */
    uint64_t large;  /* size of the only object, if it may be too large for some eden; else 0 */
};

struct segments {
    struct segment *items;
    uint32_t count; /* births go to the last; the first has what existed before the trace */
    size_t capacity;
    bool is_last_used;
    struct object_table births; /* object -> segment, size */
    uint64_t living;            /* bytes of all segments */
};

bool segments_init(struct segments *segments);
void segments_reset(struct segments *segments);

/* Begins a segment, unless the last one is empty: the last one is then empty.  Returns false if out
 * of memory. */
bool segments_begin(struct segments *segments);
/* Returns false if out of memory. */
bool segments_put(struct segments *segments, uint64_t object, uint64_t size);
/* The object existed before the trace.  Its segment is in no range of segments_living(). */
bool segments_put_existing(struct segments *segments, uint64_t object, uint64_t size);
/* The object is put alone into a segment. */
bool segments_put_large(struct segments *segments, uint64_t object, uint64_t size);
/* The object died.  Returns false if it is unknown. */
bool segments_take(struct segments *segments, uint64_t object);
/* Returns the living bytes of the segments from `first` up to, not including, `end`, without those
 * of objects larger than `largest`. */
uint64_t segments_living(const struct segments *segments, uint32_t first, uint32_t end,
                         uint64_t largest);

#endif
