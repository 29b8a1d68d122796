/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hash table of the objects that are alive at a point of the trace: id -> class, size, time of
 * allocation.  Uses open addressing.  Groups of sixteen consecutive ids are adjacent in memory, as
 * objects die near those that were allocated with them.  The table grows and shrinks with the
 * number of objects.
 */
#ifndef CONVERTER_BASE_OBJECT_TABLE_H
#define CONVERTER_BASE_OBJECT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct live_object {
    uint64_t object; /* not 0 */
    uint64_t value;  /* the time of the allocation, or any other value of the table's user */
    uint64_t size;   /* bytes */
    uint32_t class_id;
};

struct live_slot {
    uint64_t object; /* 0: empty */
    uint64_t value;
    uint32_t size; /* UINT32_MAX: the entry is in `large` */
    uint32_t class_id;
};

struct object_table {
    struct live_slot *slots;
    size_t mask; /* number of slots - 1 */
    unsigned shift;
    size_t count;
    struct object_table *large; /* sizes that need more than 32 bits; NULL: none */
};

bool object_table_init(struct object_table *table);
void object_table_reset(struct object_table *table);

/* Adds or replaces an object.  Object 0 means "none" and is ignored.  Returns false if out of
 * memory. */
bool object_table_put(struct object_table *table, const struct live_object *object);
bool object_table_find(const struct object_table *table, uint64_t object, struct live_object *out);
bool object_table_has(const struct object_table *table, uint64_t object);
/* Returns the table key for an address.  Addresses are mostly multiples of 16, so neighbouring
 * blocks get neighbouring slots. */
static inline uint64_t live_address_key(uint64_t address)
{
    return (address >> 4 | address << 60) + 1;
}

/* Removes an object and stores its entry in `*out`.  Returns false if it is not in the table. */
bool object_table_take(struct object_table *table, uint64_t object, struct live_object *out);

/* Iterates over all objects, starting with `*slot` 0.  Returns false at the end. */
bool object_table_next(const struct object_table *table, size_t *slot, struct live_object *out);

#endif
