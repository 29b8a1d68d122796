/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table from 32-bit numbers to entries of one size, in pages that are made when first used.
 * Entries start as zeros and never move.
 */
#ifndef CONVERTER_ID_TABLE_H
#define CONVERTER_ID_TABLE_H

#include <stddef.h>
#include <stdint.h>

#define ID_TABLE_PAGE 256u

struct id_table {
    void **pages;
    size_t page_count;
    size_t entry_bytes;
    uint32_t end; /* one more than the largest number that was asked for with id_table_get() */
};

void id_table_init(struct id_table *table, size_t entry_bytes);
/* Frees the entries; what they point to is the caller's. */
void id_table_reset(struct id_table *table);

/* The entry, or NULL where none was made. */
static inline void *id_table_find(const struct id_table *table, uint32_t id)
{
    size_t page = id / ID_TABLE_PAGE;
    if (page >= table->page_count || table->pages[page] == NULL)
        return NULL;
    return (char *) table->pages[page] + (id % ID_TABLE_PAGE) * table->entry_bytes;
}

/* The entry, made if need be; NULL: out of memory. */
void *id_table_get(struct id_table *table, uint32_t id);

#endif
