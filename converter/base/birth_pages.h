/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lives, by number, with what is known of its birth.  Numbers rise in the order of allocations
 * and objects die near those that were made with them, so a page has those of 32 numbers that
 * follow each other, column by column, and goes when none of them lives.
 */
#ifndef CONVERTER_BASE_BIRTH_PAGES_H
#define CONVERTER_BASE_BIRTH_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/core/page_map.h"

#define BIRTH_PAGE_BITS 5u
#define BIRTH_PAGE_SIZE ((size_t) 1 << BIRTH_PAGE_BITS)

struct birth_slab;

struct birth_page {
    uint64_t number;   /* of its objects, without the lowest bits */
    uint32_t living;   /* a bit for each, */
    uint32_t existing; /* and one for those that were there before the trace */
    struct birth_page *next_free;
    /* of each, by the lowest bits of its number; what nobody asks for is not set */
    uint64_t born_ns[BIRTH_PAGE_SIZE];
    uint64_t size[BIRTH_PAGE_SIZE];
    uint32_t thread[BIRTH_PAGE_SIZE];
    uint32_t site[BIRTH_PAGE_SIZE];
    uint32_t class_id[BIRTH_PAGE_SIZE];
};

/* Zero-initialised is empty. */
struct birth_pages {
    struct step_page_map pages; /* by number */
    struct birth_page *last;    /* asked for */
    struct birth_page *free;    /* pages that wait for their next use */
    struct birth_slab *slabs;   /* where pages lie */
};

void birth_pages_reset(struct birth_pages *pages);

static inline unsigned birth_place(uint64_t object)
{
    return (unsigned) (object & (BIRTH_PAGE_SIZE - 1));
}

/* The bits of `count` objects of a page, 1 or more, from a place on. */
static inline uint32_t birth_bits(unsigned place, unsigned count)
{
    return UINT32_MAX >> (BIRTH_PAGE_SIZE - count) << place;
}

/* How many of `count` numbers, the first ones, follow each other and are of one page. */
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

/* The page where the births of `count` objects from that number on are to be written, which are all
 * of that page; they live from now on.  NULL: out of memory. */
struct birth_page *birth_pages_put(struct birth_pages *pages, uint64_t object, unsigned count);
/* `count` objects from that number on die, all of one page, which stays readable until the next
 * birth; `*bits` are those that lived.  NULL: none did. */
const struct birth_page *birth_pages_take(struct birth_pages *pages, uint64_t object,
                                          unsigned count, uint32_t *bits);
/* Objects near that number are asked for soon. */
void birth_pages_expect(const struct birth_pages *pages, uint64_t object);
/* Goes over all pages in which something lives, from `*slot` 0 on; NULL: there is no more.  Nothing
 * may be put or taken meanwhile. */
const struct birth_page *birth_pages_next(const struct birth_pages *pages, size_t *slot);

#endif
