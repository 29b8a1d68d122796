/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of entries, which never move, and lists of empty ones. */
#include "agent/records/named_objects.h"

#include <stdlib.h>

struct named_object *named_at(struct named_table *table, uint64_t index)
{
    if (index == 0 || index >= (uint64_t) NAMED_PAGES * NAMED_PAGE_ENTRIES)
        return NULL;
    struct named_object *page =
        atomic_load_explicit(&table->pages[index / NAMED_PAGE_ENTRIES], memory_order_acquire);
    return page != NULL ? &page[index % NAMED_PAGE_ENTRIES] : NULL;
}

static uint64_t take_unused(struct named_table *table)
{
    uint64_t index = table->unused;
    struct named_object *named = named_at(table, index);
    table->unused = named->loader;
    named->loader = 0;
    named->state = NAMED_USED;
    return index;
}

uint64_t named_add(struct named_table *table)
{
    if (table->unused != 0)
        return take_unused(table);
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

bool named_find_gone(struct named_table *table, JNIEnv *jni)
{
    bool found = false;
    for (uint64_t index = 1; index < table->count; index++) {
        struct named_object *named = named_at(table, index);
        jweak mirror = named != NULL ? atomic_load(&named->mirror) : NULL;
        if (mirror == NULL || !(*jni)->IsSameObject(jni, mirror, NULL))
            continue;
        named->state = NAMED_GONE;
        found = true;
    }
    return found;
}

bool named_is_gone(struct named_table *table, uint64_t index)
{
    const struct named_object *named = named_at(table, index);
    return named != NULL && named->state == NAMED_GONE;
}

static void empty(struct named_table *table, JNIEnv *jni, struct named_object *named,
                  uint64_t index)
{
    (*jni)->DeleteWeakGlobalRef(jni, atomic_exchange(&named->mirror, NULL));
    free(named->name);
    named->name = NULL;
    named->name_length = 0;
    atomic_store(&named->object, 0);
    atomic_store(&named->session_number, 0);
    named->state = NAMED_EMPTY;
    named->loader = table->empty;
    table->empty = index;
}

void named_empty_gone(struct named_table *table, JNIEnv *jni)
{
    for (uint64_t index = 1; index < table->count; index++) {
        struct named_object *named = named_at(table, index);
        if (named != NULL && named->state == NAMED_GONE)
            empty(table, jni, named, index);
    }
}
