/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of classes and class loaders. */
#include "agent/records/named_table.h"

#include <stdlib.h>

struct named_table named_classes = {.count = 1}, named_loaders = {.count = 1};
pthread_mutex_t class_lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t named_take_unused(struct named_table *table)
{
    uint64_t index = table->unused;
    struct named_object *named = named_at(table, index);
    table->unused = named->loader;
    named->loader = 0;
    return index;
}

uint64_t named_add(struct named_table *table)
{
    if (table->unused != 0)
        return named_take_unused(table);
    uint64_t index = table->count;
    if (index >= (uint64_t) NAMED_PAGES * NAMED_PAGE_ENTRIES)
        return 0;
    if (atomic_load(&table->pages[index / NAMED_PAGE_ENTRIES]) == NULL) {
        struct named_object *page = calloc(NAMED_PAGE_ENTRIES, sizeof *page);
        if (page == NULL)
            return 0;
        atomic_store_explicit(&table->pages[index / NAMED_PAGE_ENTRIES], page,
                              memory_order_release);
    }
    table->count++;
    return index;
}

/* An entry rests for one whole session between the unloading of its class and its reuse. The JVM
 * reports the death of a mirror by its tag some time after the collection; a tag holds only the
 * index of the entry. If the entry had a new class by then, the death of the old mirror would be
 * recorded as that of the new one, which lives. */
void named_reuse(struct named_table *table)
{
    while (table->empty != 0) {
        uint64_t index = table->empty;
        struct named_object *named = named_at(table, index);
        table->empty = named->loader;
        named->loader = table->unused;
        table->unused = index;
    }
}
