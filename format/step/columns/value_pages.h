/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values that wait for their block, in a list of pages: none moves while it is written.  The
 * streams of a writer take pages from one pool and put them back with each block, so that memory
 * which a block has left serves the next one, whichever stream that belongs to.
 *
 * A page that is full is kept in a half or a quarter of its bytes, if its values are near each
 * other, as times, classes, sizes and numbers of objects mostly are.
 */
#ifndef FORMAT_STEP_COLUMNS_VALUE_PAGES_H
#define FORMAT_STEP_COLUMNS_VALUE_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a value in a page: the value itself, or its distance to the page's base. */
enum step_page_width { STEP_PAGE_WIDE = 8, STEP_PAGE_HALF = 4, STEP_PAGE_QUARTER = 2 };

struct step_page {
    struct step_page *next;
    size_t count;
    size_t capacity; /* in values */
    uint64_t base;
    enum step_page_width width;
    uint64_t values[]; /* of a wide page; else distances */
};

/* Empty pages of the largest size, by width: wide, half, quarter.  Zero-initialise. */
enum { STEP_PAGE_WIDTHS = 3 };
struct step_page_pool {
    struct step_page *empty[STEP_PAGE_WIDTHS];
    size_t bytes;
};

/* What a stream has of a pool. */
struct step_page_share {
    struct step_page_pool *pool; /* borrowed */
    size_t bytes;
    size_t saved; /* bytes that wide pages would have more */
};

/* Pages in the order of their values; all but the last are full.  Zero-initialise. */
struct step_pages {
    struct step_page *first;
    struct step_page *before_last;
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

/* Returns a value of a page. */
static inline uint64_t step_page_value(const struct step_page *page, size_t i)
{
    if (page->width == STEP_PAGE_WIDE)
        return page->values[i];
    return page->base + (page->width == STEP_PAGE_HALF ? ((const uint32_t *) page->values)[i]
                                                       : ((const uint16_t *) page->values)[i]);
}

/* Copies all values. */
void step_pages_copy(const struct step_pages *pages, uint64_t *out);
/* Puts the pages back. */
void step_pages_clear(struct step_pages *pages, struct step_page_share *share);

#endif
