/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of entries by number. */
#include "id_table.h"

#include <stdlib.h>
#include <string.h>

void id_table_init(struct id_table *table, size_t entry_bytes)
{
    *table = (struct id_table){.entry_bytes = entry_bytes};
}

void id_table_reset(struct id_table *table)
{
    for (size_t i = 0; i < table->page_count; i++)
        free(table->pages[i]);
    free(table->pages);
    id_table_init(table, table->entry_bytes);
}

static int grow(struct id_table *table, size_t page)
{
    size_t count = table->page_count * 2 > page + 1 ? table->page_count * 2 : page + 1;
    void **pages = realloc(table->pages, count * sizeof *pages);
    if (pages == NULL)
        return 0;
    for (size_t i = table->page_count; i < count; i++)
        pages[i] = NULL;
    table->pages = pages;
    table->page_count = count;
    return 1;
}

void *id_table_get(struct id_table *table, uint32_t id)
{
    size_t page = id / ID_TABLE_PAGE;
    if (page >= table->page_count && !grow(table, page))
        return NULL;
    if (table->pages[page] == NULL)
        table->pages[page] = calloc(ID_TABLE_PAGE, table->entry_bytes);
    if (table->pages[page] == NULL)
        return NULL;
    if (id >= table->end && id != UINT32_MAX)
        table->end = id + 1;
    return id_table_find(table, id);
}
