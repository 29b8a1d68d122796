/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages of values, and the pool that streams share them through.
 *
 * An array that grows would have to be copied and would move, while callers write into it directly
 * (run.h).  Pages cost a copy only where a column of several pages is made one array for its block.
 */
#include "format/step/columns/value_pages.h"

#include <stdlib.h>
#include <string.h>

/* A column's first page is small, each further one four times as large: there may be 10^4 streams,
 * of which most have few records.  Pages of the largest size are the only ones that are kept, so
 * each fits any stream that needs one. */
enum { LEAST_VALUES = 32, MOST_VALUES = 2048 };

/* What a pool keeps: about one block of eight columns. */
#define KEPT_BYTES ((size_t) 16 << 20)

static size_t value_pages_bytes_of(size_t capacity, enum step_page_width width)
{
    return sizeof(struct step_page) + capacity * width;
}

static struct step_page **empty_pages(struct step_page_pool *pool, enum step_page_width width)
{
    return &pool->empty[width == STEP_PAGE_WIDE ? 0 : width == STEP_PAGE_HALF ? 1 : 2];
}

void step_page_pool_reset(struct step_page_pool *pool)
{
    for (size_t i = 0; i < STEP_PAGE_WIDTHS; i++) {
        while (pool->empty[i] != NULL) {
            struct step_page *page = pool->empty[i];
            pool->empty[i] = page->next;
            free(page);
        }
    }
    pool->bytes = 0;
}

/* A smaller page is never taken from the pool, which has large ones only: it would pin a large one
 * for a few values of a stream that may get no more. */
static struct step_page *take_page(struct step_page_share *share, size_t capacity,
                                   enum step_page_width width)
{
    struct step_page **empty = empty_pages(share->pool, width);
    size_t bytes = value_pages_bytes_of(capacity, width);
    struct step_page *page = *empty;
    if (capacity < MOST_VALUES || page == NULL) {
        page = malloc(bytes);
        if (page == NULL)
            return NULL;
    } else {
        *empty = page->next;
        share->pool->bytes -= bytes;
    }
    page->next = NULL;
    page->count = 0;
    page->capacity = capacity;
    page->width = width;
    share->bytes += bytes;
    share->saved += value_pages_bytes_of(capacity, STEP_PAGE_WIDE) - bytes;
    return page;
}

static void put_page(struct step_page_share *share, struct step_page *page)
{
    struct step_page_pool *pool = share->pool;
    size_t bytes = value_pages_bytes_of(page->capacity, page->width);
    share->bytes -= bytes;
    share->saved -= value_pages_bytes_of(page->capacity, STEP_PAGE_WIDE) - bytes;
    if (page->capacity < MOST_VALUES || pool->bytes >= KEPT_BYTES) {
        free(page);
        return;
    }
    struct step_page **empty = empty_pages(pool, page->width);
    page->next = *empty;
    *empty = page;
    pool->bytes += bytes;
}

/* Stores the distances of a full page's values from `base`.  Returns all their bits: the values are
 * lost if there are more than a distance has. */
static uint64_t put_quarters(const uint64_t *restrict values, uint64_t base, uint16_t *restrict out)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < MOST_VALUES; i++) {
        bits |= values[i] - base;
        out[i] = (uint16_t) (values[i] - base);
    }
    return bits;
}

static uint64_t put_halves(const uint64_t *restrict values, uint64_t base, uint32_t *restrict out)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < MOST_VALUES; i++) {
        bits |= values[i] - base;
        out[i] = (uint32_t) (values[i] - base);
    }
    return bits;
}

/* Returns a page of that width with the values of a full one, or NULL.  The base is half of what a
 * distance reaches below the first value, as values go both ways from there; all computes modulo
 * 2 ^ 64. */
static struct step_page *copy_narrow(const struct step_page *wide, enum step_page_width width,
                                     struct step_page_share *share)
{
    struct step_page *page = take_page(share, MOST_VALUES, width);
    if (page == NULL)
        return NULL;
    unsigned distance_bits = 8 * width;
    page->base = wide->values[0] - (UINT64_C(1) << (distance_bits - 1));
    page->count = MOST_VALUES;
    uint64_t bits = width == STEP_PAGE_HALF
                        ? put_halves(wide->values, page->base, (uint32_t *) page->values)
                        : put_quarters(wide->values, page->base, (uint16_t *) page->values);
    if (bits >> distance_bits == 0)
        return page;
    put_page(share, page);
    return NULL;
}

/* Returns a narrower page with the values of a full one, which is put back; or that page, if its
 * values are too far apart or memory is out. */
static struct step_page *narrow(struct step_page *wide, struct step_page_share *share)
{
    struct step_page *page = copy_narrow(wide, STEP_PAGE_QUARTER, share);
    if (page == NULL)
        page = copy_narrow(wide, STEP_PAGE_HALF, share);
    if (page == NULL)
        return wide;
    put_page(share, wide);
    return page;
}

/* Called only when the last page is full or there is none, so no page keeps room that nothing will
 * fill.  The new page is at least as large as the last, up to the largest size. */
static bool value_pages_add(struct step_pages *pages, struct step_page_share *share, size_t wanted)
{
    size_t capacity = pages->last != NULL ? 4 * pages->last->capacity : LEAST_VALUES;
    while (capacity < wanted && capacity < MOST_VALUES)
        capacity *= 4;
    capacity = capacity < MOST_VALUES ? capacity : MOST_VALUES;
    if (pages->last != NULL && pages->last->capacity == MOST_VALUES) {
        struct step_page *last = narrow(pages->last, share);
        if (pages->first == pages->last)
            pages->first = last;
        else
            pages->before_last->next = last;
        pages->last = last;
    }
    struct step_page *page = take_page(share, capacity, STEP_PAGE_WIDE);
    if (page == NULL)
        return false;
    if (pages->last != NULL)
        pages->last->next = page;
    else
        pages->first = page;
    pages->before_last = pages->last;
    pages->last = page;
    return true;
}

/* May return less room than wanted: a page is finished before the next one begins.  The caller asks
 * again, or makes its run shorter (step_writer_begin_run()). */
uint64_t *step_pages_room(struct step_pages *pages, struct step_page_share *share, size_t wanted,
                          size_t *room)
{
    struct step_page *last = pages->last;
    if ((last == NULL || last->count == last->capacity) && !value_pages_add(pages, share, wanted))
        return NULL;
    last = pages->last;
    size_t left = last->capacity - last->count;
    *room = left < wanted ? left : wanted;
    return last->values + last->count;
}

static void copy_page(const struct step_page *page, uint64_t *restrict out)
{
    size_t count = page->count;
    uint64_t base = page->base;
    if (page->width == STEP_PAGE_WIDE) {
        memcpy(out, page->values, count * sizeof *out);
    } else if (page->width == STEP_PAGE_HALF) {
        const uint32_t *restrict distances = (const uint32_t *) page->values;
        for (size_t i = 0; i < count; i++)
            out[i] = base + distances[i];
    } else {
        const uint16_t *restrict distances = (const uint16_t *) page->values;
        for (size_t i = 0; i < count; i++)
            out[i] = base + distances[i];
    }
}

void step_pages_copy(const struct step_pages *pages, uint64_t *out)
{
    for (const struct step_page *page = pages->first; page != NULL; page = page->next) {
        copy_page(page, out);
        out += page->count;
    }
}

void step_pages_clear(struct step_pages *pages, struct step_page_share *share)
{
    while (pages->first != NULL) {
        struct step_page *page = pages->first;
        pages->first = page->next;
        put_page(share, page);
    }
    *pages = (struct step_pages){0};
}
