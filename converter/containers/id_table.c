/* SPDX-License-Identifier: Apache-2.0 */
/* A two-level table with a sparse part. */
#include "converter/containers/id_table.h"

#include <stdlib.h>

#include "format/core/grow.h"
#include "format/core/hash.h"
#include "format/core/hash_index.h"

/* The directory may have this many entries per existing page. */
#define DIRECTORY_SHARE ((size_t) 8)
#define DIRECTORY_LEAST ((size_t) 64)

struct far_page {
    uint32_t number;
    void *entries;
};

/* Pages in creation order or sorted by number, and a hash index of their positions by number. */
struct id_far_pages {
    struct far_page *items;
    size_t count, capacity;
    struct step_index places;
    bool is_sorted;
};

void id_table_init(struct id_table *table, size_t entry_bytes)
{
    *table = (struct id_table){.entry_bytes = entry_bytes};
}

static void free_far(struct id_far_pages *far)
{
    free(far->items);
    step_index_reset(&far->places);
    free(far);
}

void id_table_reset(struct id_table *table)
{
    for (size_t i = 0; i < table->page_count; i++)
        free(table->pages[i]);
    free(table->pages);
    if (table->far != NULL) {
        for (size_t i = 0; i < table->far->count; i++)
            free(table->far->items[i].entries);
        free_far(table->far);
    }
    id_table_init(table, table->entry_bytes);
}

/* ---- sparse pages ---- */

/* Rebuilds the index.  It cannot run out of memory, as its capacity suffices for the same
 * entries. */
static void place_all(struct id_far_pages *far)
{
    step_index_clear(&far->places);
    for (size_t i = 0; i < far->count; i++)
        step_index_add(&far->places, step_hash_half(far->items[i].number), (uint32_t) i);
}

void *id_table_far_page(const struct id_table *table, uint32_t page)
{
    uint32_t place;
    STEP_INDEX_EACH (&table->far->places, step_hash_half(page), place)
        if (table->far->items[place].number == page)
            return table->far->items[place].entries;
    return NULL;
}

/* Ensures capacity for one more page. */
static bool grow_far(struct id_table *table)
{
    if (table->far == NULL && (table->far = calloc(1, sizeof *table->far)) == NULL)
        return false;
    struct id_far_pages *far = table->far;
    if (!STEP_MAKE_ROOM(far->items, far->capacity, far->count + 1))
        return false;
    return step_index_reserve(&far->places);
}

static bool put_far(struct id_table *table, uint32_t page, void *entries)
{
    if (!grow_far(table))
        return false;
    struct id_far_pages *far = table->far;
    far->is_sorted =
        far->count == 0 || (far->is_sorted && far->items[far->count - 1].number < page);
    far->items[far->count] = (struct far_page){page, entries};
    step_index_add(&far->places, step_hash_half(page), (uint32_t) far->count++);
    return true;
}

static int id_table_by_number(const void *left, const void *right)
{
    const struct far_page *a = left;
    const struct far_page *b = right;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* Returns the position of the first page with a number >= `page`. */
static size_t far_place(struct id_far_pages *far, uint32_t page)
{
    if (!far->is_sorted) {
        qsort(far->items, far->count, sizeof *far->items, id_table_by_number);
        place_all(far);
        far->is_sorted = true;
    }
    size_t low = 0, high = far->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (far->items[middle].number < page)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- the directory ---- */

/* Moves pages that the grown directory covers into it. */
static void take_from_far(struct id_table *table)
{
    struct id_far_pages *far = table->far;
    size_t kept = 0;
    if (far == NULL)
        return;
    for (size_t i = 0; i < far->count; i++) {
        if (far->items[i].number < table->page_count)
            table->pages[far->items[i].number] = far->items[i].entries;
        else
            far->items[kept++] = far->items[i];
    }
    far->count = kept;
    place_all(far);
}

static bool id_table_grow(struct id_table *table, size_t page)
{
    void **pages = step_grown_zeroed(table->pages, &table->page_count, page + 1, sizeof *pages);
    if (pages == NULL)
        return false;
    table->pages = pages;
    take_from_far(table);
    return true;
}

static bool id_table_make_page(struct id_table *table, uint32_t page)
{
    size_t reach = DIRECTORY_LEAST + DIRECTORY_SHARE * table->pages_made;
    bool is_near = page < table->page_count || page < reach;
    if (page >= table->page_count && is_near && !id_table_grow(table, page))
        return false;
    void *entries = calloc((size_t) 1 << ID_TABLE_PAGE_BITS, table->entry_bytes);
    if (entries == NULL)
        return false;
    if (is_near)
        table->pages[page] = entries;
    if (!is_near && !put_far(table, page, entries)) {
        free(entries);
        return false;
    }
    table->pages_made++;
    return true;
}

void *id_table_make(struct id_table *table, uint32_t id)
{
    void *entry = id_table_find(table, id);
    if (entry == NULL) {
        if (!id_table_make_page(table, id >> ID_TABLE_PAGE_BITS))
            return NULL;
        entry = id_table_find(table, id);
    }
    if (id >= table->end && id != UINT32_MAX)
        table->end = id + 1;
    return entry;
}

void *id_table_next(const struct id_table *table, uint32_t *id)
{
    uint32_t page = *id >> ID_TABLE_PAGE_BITS;
    for (; page < table->page_count && table->pages[page] == NULL; page++)
        ;
    if (page >= table->page_count) {
        size_t place = table->far != NULL ? far_place(table->far, page) : 0;
        if (table->far == NULL || place == table->far->count)
            return NULL;
        page = table->far->items[place].number;
    }
    uint32_t first = page << ID_TABLE_PAGE_BITS;
    *id = *id > first ? *id : first;
    return *id < table->end ? id_table_find(table, *id) : NULL;
}
