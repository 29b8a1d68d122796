/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing over pages, with backward-shift deletion; pages are used again. */
#include "converter/base/birth_pages.h"

#include <stdlib.h>

#include "converter/base/fresh_memory.h"

enum { LEAST_SLOTS = 1024, SLOTS_PER_PAGE = 4 };

/* Pages that follow each other lie in one line of the cache: what is looked up next is near. */
#define NEIGHBOUR_BITS 3u
#define NEIGHBOURS ((UINT64_C(1) << NEIGHBOUR_BITS) - 1)

/* Pages are made many at a time, first few, then more. */
enum { SLAB_PAGES_FIRST = 16, SLAB_PAGES_MOST = 2048, FRESH_PAGES = 128 };

struct birth_slab {
    struct birth_slab *next;
    size_t page_count, used;
    struct birth_page pages[];
};

static size_t home_of(const struct birth_pages *pages, uint64_t number)
{
    uint64_t mixed = (number >> NEIGHBOUR_BITS) * UINT64_C(0x9e3779b97f4a7c15) >> 20;
    return (size_t) (mixed << NEIGHBOUR_BITS | (number & NEIGHBOURS)) & pages->mask;
}

void birth_pages_reset(struct birth_pages *pages)
{
    while (pages->slabs != NULL) {
        struct birth_slab *next = pages->slabs->next;
        free(pages->slabs);
        pages->slabs = next;
    }
    free(pages->slots);
    *pages = (struct birth_pages){0};
}

/* The slot of the page, or the empty one where it would go. */
static size_t slot_of(const struct birth_pages *pages, uint64_t number)
{
    size_t at = home_of(pages, number);
    while (pages->slots[at] != NULL && pages->slots[at]->number != number)
        at = (at + 1) & pages->mask;
    return at;
}

static bool resize(struct birth_pages *pages, size_t count)
{
    struct birth_page **old = pages->slots;
    size_t old_count = old != NULL ? pages->mask + 1 : 0;
    struct birth_page **slots = calloc(count, sizeof(struct birth_page *));
    if (slots == NULL)
        return false;
    pages->slots = slots;
    pages->mask = count - 1;
    for (size_t i = 0; i < old_count; i++)
        if (old[i] != NULL)
            slots[slot_of(pages, old[i]->number)] = old[i];
    free(old);
    return true;
}

/* A page that was in use before, or a new one. */
static struct birth_page *make_page(struct birth_pages *pages)
{
    struct birth_page *page = pages->free;
    struct birth_slab *slab = pages->slabs;
    if (page != NULL) {
        pages->free = page->next_free;
        __builtin_prefetch(pages->free, 1);
        return page;
    }
    if (slab == NULL || slab->used == slab->page_count) {
        size_t count = slab == NULL ? (size_t) SLAB_PAGES_FIRST : slab->page_count * 2;
        count = count < SLAB_PAGES_MOST ? count : (size_t) SLAB_PAGES_MOST;
        slab = malloc(sizeof *slab + count * sizeof slab->pages[0]);
        if (slab == NULL)
            return NULL;
        slab->next = pages->slabs;
        slab->page_count = count;
        slab->used = 0;
        pages->slabs = slab;
    }
    if (slab->used % FRESH_PAGES == 0 && slab->page_count >= FRESH_PAGES)
        fresh_memory_ask(&slab->pages[slab->used], FRESH_PAGES * sizeof slab->pages[0]);
    return &slab->pages[slab->used++];
}

static struct birth_page *add_page(struct birth_pages *pages, uint64_t number)
{
    if ((pages->slots == NULL || pages->count > pages->mask / SLOTS_PER_PAGE) &&
        !resize(pages, pages->slots == NULL ? LEAST_SLOTS : (pages->mask + 1) * 2))
        return NULL;
    struct birth_page *page = make_page(pages);
    if (page == NULL)
        return NULL;
    page->number = number;
    page->living = page->existing = 0;
    pages->slots[slot_of(pages, number)] = page;
    pages->count++;
    return page;
}

static struct birth_page *find_page(struct birth_pages *pages, uint64_t number)
{
    if (pages->last != NULL && pages->last->number == number)
        return pages->last;
    struct birth_page *page = pages->slots != NULL ? pages->slots[slot_of(pages, number)] : NULL;
    if (page != NULL)
        pages->last = page;
    return page;
}

/* Closes the gap: what lies behind it and may lie nearer to its home moves up. */
static void remove_page(struct birth_pages *pages, struct birth_page *page)
{
    size_t at = slot_of(pages, page->number);
    for (size_t next = (at + 1) & pages->mask; pages->slots[next] != NULL;
         next = (next + 1) & pages->mask) {
        size_t home = home_of(pages, pages->slots[next]->number);
        if (((next - home) & pages->mask) < ((next - at) & pages->mask))
            continue;
        pages->slots[at] = pages->slots[next];
        at = next;
    }
    pages->slots[at] = NULL;
    pages->count--;
    page->next_free = pages->free;
    pages->free = page;
    pages->last = NULL;
}

/* The page of that number, which is there from now on; NULL: out of memory. */
static struct birth_page *take_page(struct birth_pages *pages, uint64_t number)
{
    struct birth_page *page = find_page(pages, number);
    if (page == NULL && (page = add_page(pages, number)) == NULL)
        return NULL;
    pages->last = page;
    return page;
}

struct birth_page *birth_pages_put(struct birth_pages *pages, uint64_t object, unsigned count)
{
    struct birth_page *page = take_page(pages, object >> BIRTH_PAGE_BITS);
    if (page == NULL)
        return NULL;
    page->living |= birth_bits(birth_place(object), count);
    return page;
}

const struct birth_page *birth_pages_take(struct birth_pages *pages, uint64_t object,
                                          unsigned count, uint32_t *bits)
{
    struct birth_page *page = find_page(pages, object >> BIRTH_PAGE_BITS);
    *bits = page != NULL ? page->living & birth_bits(birth_place(object), count) : 0;
    if (*bits == 0)
        return NULL;
    page->living &= ~*bits;
    if (page->living == 0)
        remove_page(pages, page);
    return page;
}

void birth_pages_expect(const struct birth_pages *pages, uint64_t object)
{
    if (pages->slots != NULL)
        __builtin_prefetch(&pages->slots[home_of(pages, object >> BIRTH_PAGE_BITS)]);
}

const struct birth_page *birth_pages_next(const struct birth_pages *pages, size_t *slot)
{
    while (pages->slots != NULL && *slot <= pages->mask) {
        const struct birth_page *page = pages->slots[(*slot)++];
        if (page != NULL)
            return page;
    }
    return NULL;
}
