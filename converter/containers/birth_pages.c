/* SPDX-License-Identifier: Apache-2.0 */
/* A page map of births, with a free list of pages. */
#include "converter/containers/birth_pages.h"

#include <stdlib.h>

#include "converter/containers/fresh_memory.h"

/* Pages are allocated in slabs of growing size. */
enum { SLAB_PAGES_FIRST = 16, SLAB_PAGES_MOST = 2048, FRESH_PAGES = 128 };

struct birth_slab {
    struct birth_slab *next;
    size_t page_count, used;
    uint64_t memory[]; /* of pages, each followed by its columns */
};

void birth_pages_reset(struct birth_pages *pages)
{
    while (pages->slabs != NULL) {
        struct birth_slab *next = pages->slabs->next;
        free(pages->slabs);
        pages->slabs = next;
    }
    step_page_map_reset(&pages->pages);
    *pages = (struct birth_pages){.columns = pages->columns};
}

static size_t column_words(unsigned columns, unsigned column, size_t value_bytes)
{
    return (columns & column) != 0 ? BIRTH_PAGE_SIZE * value_bytes / sizeof(uint64_t) : 0;
}

/* Returns the words of a page with its columns. */
static size_t birth_pages_words(unsigned columns)
{
    return sizeof(struct birth_page) / sizeof(uint64_t) +
           column_words(columns, BIRTH_TIME, sizeof(uint64_t)) +
           column_words(columns, BIRTH_SIZE, sizeof(uint64_t)) +
           column_words(columns, BIRTH_THREAD, sizeof(uint32_t)) +
           column_words(columns, BIRTH_SITE, sizeof(uint32_t)) +
           column_words(columns, BIRTH_CLASS, sizeof(uint32_t));
}

/* Returns where a column is, or NULL, and advances `*at` behind it. */
static void *place_column(uint64_t **at, unsigned columns, unsigned column, size_t value_bytes)
{
    size_t words = column_words(columns, column, value_bytes);
    void *place = words > 0 ? *at : NULL;
    *at += words;
    return place;
}

static struct birth_page *place_page(uint64_t *at, unsigned columns)
{
    struct birth_page *page = (struct birth_page *) (void *) at;
    at += sizeof *page / sizeof *at;
    page->born_ns = place_column(&at, columns, BIRTH_TIME, sizeof *page->born_ns);
    page->size = place_column(&at, columns, BIRTH_SIZE, sizeof *page->size);
    page->thread = place_column(&at, columns, BIRTH_THREAD, sizeof *page->thread);
    page->site = place_column(&at, columns, BIRTH_SITE, sizeof *page->site);
    page->class_id = place_column(&at, columns, BIRTH_CLASS, sizeof *page->class_id);
    return page;
}

/* Returns a released page, or a new one. */
static struct birth_page *birth_pages_make(struct birth_pages *pages)
{
    struct birth_page *page = pages->free;
    struct birth_slab *slab = pages->slabs;
    size_t words = birth_pages_words(pages->columns);
    if (page != NULL) {
        pages->free = page->next_free;
        __builtin_prefetch(pages->free, 1);
        return page;
    }
    if (slab == NULL || slab->used == slab->page_count) {
        size_t count = slab == NULL ? (size_t) SLAB_PAGES_FIRST : slab->page_count * 2;
        count = count < SLAB_PAGES_MOST ? count : (size_t) SLAB_PAGES_MOST;
        slab = malloc(sizeof *slab + count * words * sizeof slab->memory[0]);
        if (slab == NULL)
            return NULL;
        slab->next = pages->slabs;
        slab->page_count = count;
        slab->used = 0;
        pages->slabs = slab;
    }
    if (slab->used % FRESH_PAGES == 0 && slab->page_count >= FRESH_PAGES)
        fresh_memory_ask(&slab->memory[slab->used * words],
                         FRESH_PAGES * words * sizeof slab->memory[0]);
    return place_page(&slab->memory[slab->used++ * words], pages->columns);
}

struct birth_page *birth_pages_lend(struct birth_pages *pages)
{
    struct birth_page *page = birth_pages_make(pages);
    if (page != NULL)
        page->number = page->living = page->existing = 0;
    return page;
}

static void give_page(struct birth_pages *pages, struct birth_page *page)
{
    page->next_free = pages->free;
    pages->free = page;
}

static struct birth_page *birth_pages_add(struct birth_pages *pages, uint64_t number)
{
    struct birth_page *page = birth_pages_make(pages);
    if (page == NULL)
        return NULL;
    page->number = number;
    page->living = page->existing = 0;
    if (step_page_map_add(&pages->pages, number, page))
        return page;
    give_page(pages, page);
    return NULL;
}

static struct birth_page *find_page(struct birth_pages *pages, uint64_t number)
{
    if (pages->last != NULL && pages->last->number == number)
        return pages->last;
    struct birth_page *page = step_page_map_find(&pages->pages, number);
    if (page != NULL)
        pages->last = page;
    return page;
}

/* Returns the page with that number, creating it if necessary; NULL if out of memory. */
static struct birth_page *take_page(struct birth_pages *pages, uint64_t number)
{
    struct birth_page *page = find_page(pages, number);
    if (page == NULL && (page = birth_pages_add(pages, number)) == NULL)
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
    if (page->living == 0) {
        step_page_map_remove(&pages->pages, page->number);
        give_page(pages, page);
        pages->last = NULL;
    }
    return page;
}

void birth_pages_expect(const struct birth_pages *pages, uint64_t object)
{
    const struct step_page_map *map = &pages->pages;
    if (map->slots != NULL)
        __builtin_prefetch(&map->slots[step_page_map_home(map, object >> BIRTH_PAGE_BITS)]);
}

const struct birth_page *birth_pages_next(const struct birth_pages *pages, size_t *slot)
{
    return step_page_map_next(&pages->pages, slot);
}
