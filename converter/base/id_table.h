/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table from 32-bit numbers to entries of one size, in small pages that are made when first used.
 * Entries start as zeros and never move.  Memory follows the entries, not the largest number: the
 * directory of pages is an array as long as a fair part of it is used; pages far beyond are in a
 * hash table.
 */
#ifndef CONVERTER_BASE_ID_TABLE_H
#define CONVERTER_BASE_ID_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A page has 2 ^ ID_TABLE_PAGE_BITS entries. */
#define ID_TABLE_PAGE_BITS 4u

struct id_far_pages;

struct id_table {
    void **pages;
    size_t page_count;
    struct id_far_pages *far; /* those from `page_count` on; NULL: none */
    size_t pages_made;
    size_t entry_bytes;
    uint32_t end; /* one more than the largest number that was asked for with id_table_get() */
};

void id_table_init(struct id_table *table, size_t entry_bytes);
/* Frees the entries; what they point to is the caller's. */
void id_table_reset(struct id_table *table);

/* The page where it is not in the directory; NULL: there is none. */
void *id_table_far_page(const struct id_table *table, uint32_t page);

/* The entry, or NULL where none was made. */
static inline void *id_table_find(const struct id_table *table, uint32_t id)
{
    uint32_t page = id >> ID_TABLE_PAGE_BITS;
    char *entries = page < table->page_count ? table->pages[page]
                    : table->far != NULL     ? id_table_far_page(table, page)
                                             : NULL;
    return entries != NULL
               ? entries + (id & ((UINT32_C(1) << ID_TABLE_PAGE_BITS) - 1)) * table->entry_bytes
               : NULL;
}

/* The entry, made if need be; NULL: out of memory. */
void *id_table_get(struct id_table *table, uint32_t id);

/* Goes over the entries in order: `for (uint32_t id = 0; id_table_next(&table, &id); id++)`.
 * Brings `*id` to the first number from it on that has an entry (of zeros perhaps: pages are made
 * whole); false: there is none.  UINT32_MAX is passed over. */
bool id_table_next(const struct id_table *table, uint32_t *id);

#endif
