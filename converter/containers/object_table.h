/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects that are alive at a point of the trace: id -> class, size, time of allocation.  Pages
 * of 64 consecutive ids, found by a hash of the page's number: objects are mostly allocated, and
 * die, near those with neighbouring ids.  A page with many objects is an array by id, one with few
 * is packed, so that a live object takes at most some 60 bytes more, wherever its id is.
 */
#ifndef CONVERTER_CONTAINERS_OBJECT_TABLE_H
#define CONVERTER_CONTAINERS_OBJECT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/core/page_map.h"

struct live_object {
    uint64_t object; /* not 0 */
    uint64_t value;  /* the time of the allocation, or any other value of the table's user */
    uint64_t size;   /* bytes */
    uint32_t class_id;
};

/* What lives of objects or bytes: of a part of a trace, more may be freed than is known. */
static inline uint64_t still_live(uint64_t existing, uint64_t allocated, uint64_t freed)
{
    uint64_t all = existing + allocated;
    return all > freed ? all - freed : 0;
}

#define OBJECT_PAGE_BITS 6u
#define OBJECT_PAGE_OBJECTS (1u << OBJECT_PAGE_BITS)
#define OBJECT_PAGE_AHEAD 12 /* so far before it dies an object is fetched into the cache */

struct object_page {
    union {
        uint64_t number;          /* of its ids, without their last bits */
        struct object_page *next; /* of the table's spare pages */
    };
    uint64_t present;  /* a bit for each id that is alive */
    uint32_t count;    /* of these */
    uint32_t capacity; /* OBJECT_PAGE_OBJECTS: by id; fewer: packed, in the order of ids */
    struct page_object {
        uint64_t value;
        uint32_t size; /* UINT32_MAX: the entry is in `large` */
        uint32_t class_id;
    } objects[];
};

/* Zero-initialise for an empty table. */
struct object_table {
    struct step_page_map pages;
    struct object_page *last;  /* the page used last; NULL: none */
    struct object_page *roomy; /* a page that may have too much room; NULL: none */
    struct object_page *spare; /* pages for all of their ids, which are empty; NULL: none */
    size_t spare_count;
    size_t count;
    size_t bytes;               /* of the pages */
    struct object_table *large; /* sizes that need more than 32 bits; NULL: none */
};

/* A place among the objects.  Zero-initialise for the first. */
struct object_cursor {
    size_t slot;     /* of the page */
    uint64_t number; /* of the page that was there */
    unsigned place;  /* in it */
};

/* Frees all and empties the table. */
void object_table_reset(struct object_table *table);

static inline unsigned object_bit(uint64_t object)
{
    return (unsigned) (object & (OBJECT_PAGE_OBJECTS - 1));
}

static inline bool object_page_has(const struct object_page *page, unsigned bit)
{
    return page != NULL && (page->present >> bit & 1) != 0;
}

/* Returns the page used last if it has all of its ids, and the object's among them; else NULL. */
static inline struct object_page *object_page_in_use(const struct object_table *table,
                                                     uint64_t object)
{
    struct object_page *page = table->last;
    return page != NULL && page->number == object >> OBJECT_PAGE_BITS &&
                   page->capacity == OBJECT_PAGE_OBJECTS
               ? page
               : NULL;
}

/* The cases that are not usual, of the two functions below. */
bool object_table_put_anywhere(struct object_table *table, const struct live_object *object);
bool object_table_take_anywhere(struct object_table *table, uint64_t object,
                                struct live_object *out);

/* Adds or replaces an object.  Object 0 means "none" and is ignored.  Returns false if out of
 * memory.  Inlined, as readers call it for each object: mostly it is the one after the last. */
static inline bool object_table_put(struct object_table *table, const struct live_object *object)
{
    struct object_page *page = object_page_in_use(table, object->object);
    unsigned bit = object_bit(object->object);
    if (page == NULL || object_page_has(page, bit) || object->size >= UINT32_MAX ||
        object->object == 0)
        return object_table_put_anywhere(table, object);
    page->present |= UINT64_C(1) << bit;
    page->count++;
    table->count++;
    page->objects[bit] =
        (struct page_object){object->value, (uint32_t) object->size, object->class_id};
    return true;
}
bool object_table_find(const struct object_table *table, uint64_t object, struct live_object *out);
bool object_table_has(const struct object_table *table, uint64_t object);
/* Returns the table key for an address.  Addresses are mostly multiples of 16, so neighbouring
 * blocks get neighbouring keys. */
static inline uint64_t live_address_key(uint64_t address)
{
    return (address >> 4 | address << 60) + 1;
}

/* Removes an object and stores its entry in `*out`.  Returns false if it is not in the table.
 * Inlined, too: mostly it is a neighbour of the last. */
static inline bool object_table_take(struct object_table *table, uint64_t object,
                                     struct live_object *out)
{
    struct object_page *page = object_page_in_use(table, object);
    unsigned bit = object_bit(object);
    if (page == NULL || page != table->roomy || !object_page_has(page, bit) || page->count == 1 ||
        page->objects[bit].size == UINT32_MAX)
        return object_table_take_anywhere(table, object, out);
    const struct page_object *taken = &page->objects[bit];
    __builtin_prefetch(taken + OBJECT_PAGE_AHEAD, 1);
    *out = (struct live_object){object, taken->value, taken->size, taken->class_id};
    page->present &= ~(UINT64_C(1) << bit);
    page->count--;
    table->count--;
    return true;
}

/* Iterates over all objects, in no order.  Returns false at the end.  Meanwhile no other object may
 * be added or removed than the one that was returned last. */
bool object_table_next(const struct object_table *table, struct object_cursor *cursor,
                       struct live_object *out);

#endif
