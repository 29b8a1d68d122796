/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values that wait for their block, in a list of pages: none moves when more arrive.  The streams
 * of a writer take pages from one pool and put them back with each block, so that memory which a
 * block has left serves the next one, whichever stream that belongs to.
 */
#ifndef FORMAT_STEP_COLUMNS_VALUE_PAGES_H
#define FORMAT_STEP_COLUMNS_VALUE_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct step_page {
    struct step_page *next;
    size_t count;
    size_t capacity;
    uint64_t values[];
};

/* Empty pages of the largest size.  Zero-initialise. */
struct step_page_pool {
    struct step_page *empty;
    size_t bytes;
};

/* What a stream has of a pool. */
struct step_page_share {
    struct step_page_pool *pool; /* borrowed */
    size_t bytes;
};

/* Pages in the order of their values; all but the last are full.  Zero-initialise. */
struct step_pages {
    struct step_page *first;
    struct step_page *last;
};

void step_page_pool_reset(struct step_page_pool *pool);

/* Returns a place for further values, NULL if out of memory.  `*room`: how many, from 1 to
 * `wanted`. */
uint64_t *step_pages_room(struct step_pages *pages, struct step_page_share *share, size_t wanted,
                          size_t *room);
/* Takes `count` values that were written to that place. */
static inline void step_pages_take(struct step_pages *pages, size_t count)
{
    pages->last->count += count;
}

/* Copies all values. */
void step_pages_copy(const struct step_pages *pages, uint64_t *out);
/* Puts the pages back. */
void step_pages_clear(struct step_pages *pages, struct step_page_share *share);

#endif
