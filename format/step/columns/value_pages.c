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
enum { LEAST_VALUES = 32, MOST_VALUES = 8192 };

/* What a pool keeps: about one block of eight columns. */
#define KEPT_BYTES ((size_t) 16 << 20)

static size_t value_pages_bytes_of(size_t capacity)
{
    return sizeof(struct step_page) + capacity * sizeof(uint64_t);
}

void step_page_pool_reset(struct step_page_pool *pool)
{
    while (pool->empty != NULL) {
        struct step_page *page = pool->empty;
        pool->empty = page->next;
        free(page);
    }
    pool->bytes = 0;
}

/* A smaller page is never taken from the pool, which has large ones only: it would pin 64 KiB for a
 * few values of a stream that may get no more. */
static struct step_page *take_page(struct step_page_pool *pool, size_t capacity)
{
    struct step_page *page = pool->empty;
    if (capacity < MOST_VALUES || page == NULL)
        return malloc(value_pages_bytes_of(capacity));
    pool->empty = page->next;
    pool->bytes -= value_pages_bytes_of(capacity);
    return page;
}

static void put_page(struct step_page_pool *pool, struct step_page *page)
{
    if (page->capacity < MOST_VALUES || pool->bytes >= KEPT_BYTES) {
        free(page);
        return;
    }
    page->next = pool->empty;
    pool->empty = page;
    pool->bytes += value_pages_bytes_of(page->capacity);
}

/* Called only when the last page is full or there is none, so no page keeps room that nothing will
 * fill.  The new page is at least as large as the last, up to the largest size. */
static bool value_pages_add(struct step_pages *pages, struct step_page_share *share, size_t wanted)
{
    size_t capacity = pages->last != NULL ? 4 * pages->last->capacity : LEAST_VALUES;
    while (capacity < wanted && capacity < MOST_VALUES)
        capacity *= 4;
    capacity = capacity < MOST_VALUES ? capacity : MOST_VALUES;
    struct step_page *page = take_page(share->pool, capacity);
    if (page == NULL)
        return false;
    page->next = NULL;
    page->count = 0;
    page->capacity = capacity;
    if (pages->last != NULL)
        pages->last->next = page;
    else
        pages->first = page;
    pages->last = page;
    share->bytes += value_pages_bytes_of(capacity);
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

void step_pages_copy(const struct step_pages *pages, uint64_t *out)
{
    for (const struct step_page *page = pages->first; page != NULL; page = page->next) {
        memcpy(out, page->values, page->count * sizeof *out);
        out += page->count;
    }
}

void step_pages_clear(struct step_pages *pages, struct step_page_share *share)
{
    while (pages->first != NULL) {
        struct step_page *page = pages->first;
        pages->first = page->next;
        share->bytes -= value_pages_bytes_of(page->capacity);
        put_page(share->pool, page);
    }
    *pages = (struct step_pages){0};
}
