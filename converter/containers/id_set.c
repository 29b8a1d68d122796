/* SPDX-License-Identifier: Apache-2.0 */
/* A hierarchy of bitmaps, with a page map per level. */
#include "converter/containers/id_set.h"

#include <stdlib.h>

#define PAGE_BITS ((uint64_t) 1 << ID_SET_PAGE_BITS)
#define PAGE_WORDS (PAGE_BITS / 64)

struct id_set_page {
    uint64_t number; /* common part of its numbers: id >> ID_SET_PAGE_BITS */
    uint32_t count;  /* number of set bits */
    uint64_t words[PAGE_WORDS];
};

void id_set_reset(struct id_set *set)
{
    for (unsigned level = 0; level < ID_SET_LEVELS; level++) {
        size_t slot = 0;
        for (void *page; (page = step_page_map_next(&set->pages[level], &slot)) != NULL;)
            free(page);
        step_page_map_reset(&set->pages[level]);
    }
    *set = (struct id_set){.last = NULL};
}

static bool has_bit(const struct id_set_page *page, uint64_t id)
{
    uint64_t bit = id & (PAGE_BITS - 1);
    return (page->words[bit / 64] >> bit % 64 & 1) != 0;
}

/* Returns true if the number is set at this level, or its page was full and is a set bit above. */
static bool has_from(const struct id_set *set, unsigned level, uint64_t id)
{
    for (; level < ID_SET_LEVELS; level++) {
        const struct id_set_page *page =
            step_page_map_find(&set->pages[level], id >> ID_SET_PAGE_BITS);
        if (page != NULL && has_bit(page, id))
            return true;
        id >>= ID_SET_PAGE_BITS;
    }
    return false;
}

bool id_set_has(const struct id_set *set, uint64_t id)
{
    if (set->last != NULL && set->last->number == id >> ID_SET_PAGE_BITS)
        return has_bit(set->last, id);
    return has_from(set, 0, id);
}

static struct id_set_page *id_set_make_page(struct id_set *set, unsigned level, uint64_t number)
{
    struct id_set_page *page = calloc(1, sizeof *page);
    if (page == NULL)
        return NULL;
    page->number = number;
    if (!step_page_map_add(&set->pages[level], number, page)) {
        free(page);
        return NULL;
    }
    return page;
}

/* Adds a missing number.  A full page becomes a bit of the next level. */
static bool add_from(struct id_set *set, unsigned level, uint64_t id)
{
    for (;; level++) {
        struct id_set_page *page = step_page_map_find(&set->pages[level], id >> ID_SET_PAGE_BITS);
        if (page == NULL)
            page = id_set_make_page(set, level, id >> ID_SET_PAGE_BITS);
        if (page == NULL)
            return false;
        uint64_t bit = id & (PAGE_BITS - 1);
        page->words[bit / 64] |= UINT64_C(1) << bit % 64;
        page->count++;
        if (level == 0)
            set->last = page;
        if (page->count < PAGE_BITS || level + 1 == ID_SET_LEVELS)
            return true;
        if (page == set->last)
            set->last = NULL;
        step_page_map_remove(&set->pages[level], page->number);
        free(page);
        id >>= ID_SET_PAGE_BITS;
    }
}

bool id_set_add(struct id_set *set, uint64_t id, bool *is_new)
{
    struct id_set_page *page = set->last;
    uint64_t bit = id & (PAGE_BITS - 1);
    *is_new = !id_set_has(set, id);
    if (!*is_new)
        return true;
    if (page != NULL && page->number == id >> ID_SET_PAGE_BITS && page->count + 1 < PAGE_BITS) {
        page->words[bit / 64] |= UINT64_C(1) << bit % 64;
        page->count++;
        return true;
    }
    return add_from(set, 0, id);
}
