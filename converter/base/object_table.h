/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects that live at a point of the trace: id -> class, size, time of allocation.  Open
 * addressing; sixteen ids in a row share a place in memory, since objects die near those that were
 * made with them.  The table grows and shrinks with the number of objects in it.
 */
#ifndef CONVERTER_BASE_OBJECT_TABLE_H
#define CONVERTER_BASE_OBJECT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct live_object {
    uint64_t object; /* not 0 */
    uint64_t value;  /* the time of the allocation, or what else the user of the table keeps */
    uint64_t size;   /* bytes */
    uint32_t class_id;
};

struct live_slot {
    uint64_t object; /* 0: empty */
    uint64_t value;
    uint32_t size; /* UINT32_MAX: in `large` */
    uint32_t class_id;
};

struct object_table {
    struct live_slot *slots;
    size_t mask; /* slots - 1 */
    unsigned shift;
    size_t count;
    struct object_table *large; /* sizes that 32 bits do not hold; NULL: there were none */
};

bool object_table_init(struct object_table *table);
void object_table_reset(struct object_table *table);

/* Adds the object, or replaces it; object 0 is no object and is passed over.  False: out of
 * memory. */
bool object_table_put(struct object_table *table, const struct live_object *object);
bool object_table_find(const struct object_table *table, uint64_t object, struct live_object *out);
bool object_table_has(const struct object_table *table, uint64_t object);
/* The key of what lives at an address.  Addresses are mostly multiples of 16: neighbours lie next
 * to each other in the table. */
static inline uint64_t live_address_key(uint64_t address)
{
    return (address >> 4 | address << 60) + 1;
}

/* Finds and removes. */
bool object_table_take(struct object_table *table, uint64_t object, struct live_object *out);

#endif
