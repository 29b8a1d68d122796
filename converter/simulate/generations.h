/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two generations, the young one with an eden and two survivor spaces, as Serial of HotSpot has
 * them, or of regions, as G1 with a young generation of fixed size: what the survivors do not take
 * of it is eden.  Eden is empty after each collection.  What was born between two collections is
 * therefore a cohort of one age; a cohort is a range of segments (segments.h).
 */
#ifndef CONVERTER_SIMULATE_GENERATIONS_H
#define CONVERTER_SIMULATE_GENERATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "converter/base/object_table.h"

/*
 * The living objects by when they were born.  A segment is a part of the order of births, and knows
 * how many of its bytes live.  All models share the segments: each collection of any model begins a
 * segment, so that what a model allocated between two of its collections is whole segments.
 */

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

#define AGE_MOST 15u
/* HotSpot rounds the sizes of spaces to this. */
#define SPACE_ALIGNMENT UINT64_C(65536)
#define YOUNG_LEAST (3 * SPACE_ALIGNMENT)

/* Parameters of the same names as those of HotSpot. */
struct generation_options {
    uint64_t survivor_ratio;
    uint64_t max_tenuring;    /* MaxTenuringThreshold: AGE_MOST or less */
    uint64_t target_survivor; /* TargetSurvivorRatio: per cent */
    uint64_t region;          /* G1HeapRegionSize: bytes */
};

/* Bytes of the spaces of a young generation. */
struct young_spaces {
    uint64_t eden, survivor; /* there are two survivor spaces */
};
struct young_spaces young_spaces_of(uint64_t young, const struct generation_options *options);

struct cohort {
    uint32_t first, end; /* segments */
    double share;        /* the part of its bytes that is not in the old generation */
};

struct generations {
    const struct generation_options *options;
    uint64_t young, eden, survivor;   /* bytes of each space; of `survivor`, the most */
    uint64_t region;                  /* bytes of a region; 0: spaces, not regions */
    uint64_t largest;                 /* size of an object in eden: larger ones are born old */
    uint64_t full_at;                 /* position in the order of births at which eden is full */
    struct cohort ages[AGE_MOST + 1]; /* [0] is in eden; [n] survived n collections */
    unsigned threshold;               /* of ages that are not promoted */
    uint64_t in_from;                 /* bytes in the occupied survivor space */
    uint64_t old;                     /* bytes in the old generation, dead ones included */
    uint64_t heap;                    /* bytes of both generations; 0: no limit */
    bool is_crowded;                  /* the last full collection left something in eden */
    uint64_t expectations;            /* number of promotions that these come from: */
    double promoted_mean, promoted_deviation; /* as the JVM expects of the next collection */
    /* results */
    uint64_t collections;
    uint64_t overflows; /* collections at which survivors did not fit */
    uint64_t copied;    /* bytes, to a survivor space */
    uint64_t promoted;  /* bytes, to the old generation */
    uint64_t survived;  /* bytes that lived at the first collection after their birth */
    uint64_t peak;      /* most bytes occupied */
    uint64_t dead_old;  /* bytes of the old generation that were dead at the end */
    uint64_t full;      /* collections of the whole heap */
    uint64_t marked;    /* bytes that lived at them */
    bool is_too_small;  /* the heap */
    uint64_t failed_at; /* position at which an object did not fit after a full collection */
};

void generations_init(struct generations *model, uint64_t young,
                      const struct generation_options *options);
/* Limits the heap, which is larger than the young generation. */
void generations_limit(struct generations *model, uint64_t heap);
/* `young` is at least 2 regions. */
void generations_init_regions(struct generations *model, uint64_t young,
                              const struct generation_options *options);
/* An object of `size` bytes does not fit into eden.  `position` is the number of bytes born before
 * it; the last segment is empty. */
void generations_collect(struct generations *model, const struct segments *segments,
                         uint64_t position, uint64_t size);
/* Returns whether the old generation has no room for an object of that size, so that it is to be
 * collected first. */
bool generations_is_old_full(const struct generations *model, uint64_t size);
/* Collects the whole heap for an object of the old generation.  The last segment is empty. */
void generations_collect_old(struct generations *model, const struct segments *segments,
                             uint64_t position, uint64_t size);
/* Bytes that are not born in eden. */
void generations_put_old(struct generations *model, uint64_t size);
void generations_finish(struct generations *model, const struct segments *segments,
                        uint64_t position);

#endif
