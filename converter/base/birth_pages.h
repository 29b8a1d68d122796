/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lives, by number, with what is known of its birth.  Numbers rise in the order of allocations
 * and objects die near those that were made with them, so a page has those of 16 numbers that
 * follow each other, and goes when none of them lives.
 */
#ifndef CONVERTER_BASE_BIRTH_PAGES_H
#define CONVERTER_BASE_BIRTH_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BIRTH_PAGE_BITS 4u
#define BIRTH_PAGE_SIZE ((size_t) 1 << BIRTH_PAGE_BITS)

struct birth {
    uint64_t born_ns;
    uint64_t size;
    uint32_t thread;
    uint32_t site;
    uint32_t class_id;
    bool is_existing;
};

struct birth_slab;

struct birth_page {
    uint64_t number; /* of its objects, without the lowest bits */
    uint32_t living; /* a bit for each */
    struct birth_page *next_free;
    struct birth births[BIRTH_PAGE_SIZE];
};

/* Zero-initialised is empty. */
struct birth_pages {
    struct birth_page **slots; /* by hash of the page's number; NULL: empty */
    size_t mask, count;
    struct birth_page *last;  /* asked for */
    struct birth_page *free;  /* pages that wait for their next use */
    struct birth_slab *slabs; /* where pages lie */
};

void birth_pages_reset(struct birth_pages *pages);

/* Where the birth of an object is to be written, which lives from now on; NULL: out of memory.
 * `*was` says whether it lived already. */
struct birth *birth_pages_put(struct birth_pages *pages, uint64_t object, bool *was);
/* The same for `count` objects from that number on, which are of one page: their lowest
 * BIRTH_PAGE_BITS bits do not overflow. */
struct birth *birth_pages_put_run(struct birth_pages *pages, uint64_t object, unsigned count);
/* The object dies; its birth is readable until the next call.  NULL: it does not live. */
const struct birth *birth_pages_take(struct birth_pages *pages, uint64_t object);
/* Goes over all that lives: from `*slot` 0 and `*bit` 0 on; false: there is no more.  Nothing may
 * be put or taken meanwhile. */
bool birth_pages_next(const struct birth_pages *pages, size_t *slot, unsigned *bit,
                      uint64_t *object, const struct birth **birth);

#endif
