/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table from 32-bit numbers to entries of a fixed size, in small pages that are allocated on
 * first use.  Entries start zeroed and never move.  Memory is proportional to the number of
 * entries, not to the largest number: the directory of pages is an array while enough of it is in
 * use, and pages far beyond its end are in a hash table.
 */
#ifndef CONVERTER_CONTAINERS_ID_TABLE_H
#define CONVERTER_CONTAINERS_ID_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* A page has 2 ^ ID_TABLE_PAGE_BITS entries. */
#define ID_TABLE_PAGE_BITS 4u

struct id_far_pages;

struct id_table {
    void **pages;
    size_t page_count;
    struct id_far_pages *far; /* pages from `page_count` on; NULL: none */
    size_t pages_made;
    size_t entry_bytes;
    uint32_t end; /* 1 + the largest number passed to id_table_get() */
};

void id_table_init(struct id_table *table, size_t entry_bytes);
/* Frees the entries, but not what they point to. */
void id_table_reset(struct id_table *table);

/* Returns a page that is not in the directory, or NULL. */
void *id_table_far_page(const struct id_table *table, uint32_t page);

/* Returns the entry, or NULL if it was not created. */
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

/* Like id_table_get(), for an entry that may have to be created. */
void *id_table_make(struct id_table *table, uint32_t id);

/* Returns the entry, creating it (zeroed) if necessary; NULL if out of memory.  Inlined, because
 * readers call it several times an event. */
static inline void *id_table_get(struct id_table *table, uint32_t id)
{
    void *entry = id < table->end ? id_table_find(table, id) : NULL;
    return entry != NULL ? entry : id_table_make(table, id);
}

/* Iterates over the entries in order: `for (uint32_t id = 0; (entry = id_table_next(&table, &id))
 * != NULL; id++)`.  Advances `*id` to the first entry at or after it, and returns that; NULL if
 * there is none.  Entries may be all zeros, as pages are created whole.  UINT32_MAX is skipped. */
void *id_table_next(const struct id_table *table, uint32_t *id);

#endif
