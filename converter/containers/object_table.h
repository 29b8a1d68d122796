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

struct object_page;

/* Zero-initialise for an empty table. */
struct object_table {
    struct step_page_map pages;
    struct object_page *last;  /* the page used last; NULL: none */
    struct object_page *roomy; /* a page that may have too much room; NULL: none */
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

/* Adds or replaces an object.  Object 0 means "none" and is ignored.  Returns false if out of
 * memory. */
bool object_table_put(struct object_table *table, const struct live_object *object);
bool object_table_find(const struct object_table *table, uint64_t object, struct live_object *out);
bool object_table_has(const struct object_table *table, uint64_t object);
/* Returns the table key for an address.  Addresses are mostly multiples of 16, so neighbouring
 * blocks get neighbouring keys. */
static inline uint64_t live_address_key(uint64_t address)
{
    return (address >> 4 | address << 60) + 1;
}

/* Removes an object and stores its entry in `*out`.  Returns false if it is not in the table. */
bool object_table_take(struct object_table *table, uint64_t object, struct live_object *out);

/* Iterates over all objects, in no order.  Returns false at the end.  Meanwhile no other object may
 * be added or removed than the one that was returned last. */
bool object_table_next(const struct object_table *table, struct object_cursor *cursor,
                       struct live_object *out);

#endif
