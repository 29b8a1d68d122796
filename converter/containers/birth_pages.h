/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Birth pages: the class, size, thread, site and time of each live object's allocation, by object
 * number.  Numbers rise in the order of allocations, and objects die near those that were allocated
 * with them.  A page therefore stores 32 consecutive numbers as columns, those that are wanted, and
 * is released when none of its objects is alive.
 */
#ifndef CONVERTER_CONTAINERS_BIRTH_PAGES_H
#define CONVERTER_CONTAINERS_BIRTH_PAGES_H

#include <stddef.h>
#include <stdint.h>

#include "format/core/page_map.h"

#define BIRTH_PAGE_BITS 5u
#define BIRTH_PAGE_SIZE ((size_t) 1 << BIRTH_PAGE_BITS)

/* Columns, a bit each. */
enum birth_column {
    BIRTH_TIME = 1,
    BIRTH_SIZE = 2,
    BIRTH_THREAD = 4,
    BIRTH_SITE = 8,
    BIRTH_CLASS = 16,
    BIRTH_ALL = 31
};

struct birth_slab;

struct birth_page {
    uint64_t number;   /* the object numbers without their lowest BIRTH_PAGE_BITS bits */
    uint32_t living;   /* bitmap: objects that are alive */
    uint32_t existing; /* bitmap: objects that existed before the trace started */
    struct birth_page *next_free;
    /* Columns, indexed by birth_place(); NULL: not wanted.  The caller sets them. */
    uint64_t *born_ns;
    uint64_t *size;
    uint32_t *thread;
    uint32_t *site;
    uint32_t *class_id;
};

/* Zero-initialise, but for `columns`, for an empty set of pages. */
struct birth_pages {
    unsigned columns;           /* that pages have: enum birth_column */
    struct step_page_map pages; /* by number */
    struct birth_page *last;    /* most recently used page, or NULL */
    struct birth_page *free;    /* released pages, to be reused */
    struct birth_slab *slabs;   /* the memory of all pages */
};

void birth_pages_reset(struct birth_pages *pages);

static inline unsigned birth_place(uint64_t object)
{
    return (unsigned) (object & (BIRTH_PAGE_SIZE - 1));
}

/* Returns the bitmap of `count` objects (1 or more) of a page, starting at `place`. */
static inline uint32_t birth_bits(unsigned place, unsigned count)
{
    return UINT32_MAX >> (BIRTH_PAGE_SIZE - count) << place;
}

/* Returns how many of the first `count` numbers are consecutive and in the same page. */
static inline unsigned birth_run(const uint64_t *objects, size_t count)
{
    uint64_t first = objects[0];
    size_t room = BIRTH_PAGE_SIZE - birth_place(first);
    size_t most = count < room ? count : room;
    unsigned length = 1;
    while (length < most && objects[length] == first + length)
        length++;
    return length;
}

/* Marks `count` objects from `object` on as alive, all in one page, and returns that page; the
 * caller fills in their columns.  Returns NULL if out of memory. */
struct birth_page *birth_pages_put(struct birth_pages *pages, uint64_t object, unsigned count);
/* Returns a page that has no number, for the caller's own use until the reset; NULL: out of memory.
 */
struct birth_page *birth_pages_lend(struct birth_pages *pages);
/* Removes `count` objects from `object` on, all in one page.  Sets `*bits` to those that were
 * alive.  Returns their page, which stays readable until the next birth_pages_put(), or NULL if
 * none was alive. */
const struct birth_page *birth_pages_take(struct birth_pages *pages, uint64_t object,
                                          unsigned count, uint32_t *bits);
/* Prefetches the map entry of an object that will be looked up soon. */
void birth_pages_expect(const struct birth_pages *pages, uint64_t object);
/* Iterates over the pages that have live objects; start with `*slot` 0.  Returns NULL at the
 * end.  Do not add or remove objects during the iteration. */
const struct birth_page *birth_pages_next(const struct birth_pages *pages, size_t *slot);

#endif
