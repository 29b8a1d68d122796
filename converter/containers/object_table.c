/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of objects: an array by id while many of its 64 are alive, packed while few are. */
#include "converter/containers/object_table.h"

#include <stdlib.h>
#include <string.h>

enum {
    PAGE_OBJECTS = OBJECT_PAGE_OBJECTS,
    GROWTH = 4,                        /* a packed page has room for 1, 4 or 16 objects */
    PACKED_OBJECTS = PAGE_OBJECTS / 4, /* at most */
    SPARE_PAGES = 8192,                /* at most, 8 MiB: a collection empties many at once */
};

static size_t page_bytes(uint32_t capacity)
{
    return sizeof(struct object_page) + capacity * sizeof(struct page_object);
}

/* Returns where the object of a bit is, or belongs. */
static size_t object_table_place_of(const struct object_page *page, unsigned bit)
{
    if (page->capacity == PAGE_OBJECTS)
        return bit;
    return (size_t) __builtin_popcountll(page->present & ((UINT64_C(1) << bit) - 1));
}

static struct object_page *find_page(const struct object_table *table, uint64_t object)
{
    uint64_t number = object >> OBJECT_PAGE_BITS;
    if (table->last != NULL && table->last->number == number)
        return table->last;
    return step_page_map_find(&table->pages, number);
}

void object_table_reset(struct object_table *table)
{
    size_t slot = 0;
    for (void *page; (page = step_page_map_next(&table->pages, &slot)) != NULL;)
        free(page);
    step_page_map_reset(&table->pages);
    while (table->spare != NULL) {
        struct object_page *page = table->spare;
        table->spare = page->next;
        free(page);
    }
    if (table->large != NULL)
        object_table_reset(table->large);
    free(table->large);
    *table = (struct object_table){0};
}

static struct object_page *object_table_make_page(struct object_table *table, uint32_t capacity)
{
    struct object_page *page = table->spare;
    if (page == NULL || capacity != PAGE_OBJECTS)
        return malloc(page_bytes(capacity));
    table->spare = page->next;
    table->spare_count--;
    return page;
}

static void object_table_drop_page(struct object_table *table, struct object_page *page)
{
    if (page->capacity != PAGE_OBJECTS || table->spare_count == SPARE_PAGES) {
        free(page);
        return;
    }
    page->next = table->spare;
    table->spare = page;
    table->spare_count++;
}

/* Ids mostly come in sequence, so the page after a full one will be full, too. */
static struct object_page *object_table_add_page(struct object_table *table, uint64_t number)
{
    bool follows = table->last != NULL && table->last->number + 1 == number &&
                   table->last->count > PACKED_OBJECTS;
    uint32_t capacity = follows ? PAGE_OBJECTS : 1;
    struct object_page *page = object_table_make_page(table, capacity);
    if (page == NULL || !step_page_map_add(&table->pages, number, page)) {
        free(page);
        return NULL;
    }
    *page = (struct object_page){.number = number, .capacity = capacity};
    table->bytes += page_bytes(capacity);
    return page;
}

/* Moves the objects of a packed page to their places by id, the last first. */
static void object_table_unpack(struct object_page *page)
{
    size_t from = page->count;
    page->capacity = PAGE_OBJECTS;
    for (unsigned bit = PAGE_OBJECTS; bit-- > 0;)
        if (object_page_has(page, bit))
            page->objects[bit] = page->objects[--from];
}

/* Moves them together, the first first. */
static void object_table_pack(struct object_page *page)
{
    size_t to = 0;
    for (unsigned bit = 0; bit < PAGE_OBJECTS; bit++)
        if (object_page_has(page, bit))
            page->objects[to++] = page->objects[bit];
}

/* Gives a page another capacity.  Returns NULL if out of memory; the page then stays as it is. */
static struct object_page *object_table_resize(struct object_table *table, struct object_page *page,
                                               uint32_t capacity)
{
    bool shrinks = capacity < page->capacity;
    size_t before = page_bytes(page->capacity);
    if (table->roomy == page)
        table->roomy = NULL;
    if (shrinks && page->capacity == PAGE_OBJECTS) {
        object_table_pack(page);
        page->capacity = capacity;
    }
    struct object_page *resized = realloc(page, page_bytes(capacity));
    if (resized == NULL)
        return shrinks ? page : NULL;
    step_page_map_replace(&table->pages, resized->number, resized);
    if (capacity == PAGE_OBJECTS)
        object_table_unpack(resized);
    resized->capacity = capacity;
    table->bytes += page_bytes(capacity) - before;
    return resized;
}

/* Makes a place for an object that is not there.  Returns the page, NULL if out of memory. */
static struct object_page *make_place(struct object_table *table, struct object_page *page,
                                      unsigned bit)
{
    if (page->count == page->capacity)
        page = object_table_resize(table, page, page->capacity * GROWTH);
    if (page == NULL)
        return NULL;
    if (page->capacity < PAGE_OBJECTS) {
        size_t place = object_table_place_of(page, bit);
        memmove(&page->objects[place + 1], &page->objects[place],
                (page->count - place) * sizeof *page->objects);
    }
    page->present |= UINT64_C(1) << bit;
    page->count++;
    table->count++;
    return page;
}

static bool keep_large(struct object_table *table, const struct live_object *object)
{
    if (table->large == NULL)
        table->large = calloc(1, sizeof *table->large);
    const struct live_object size = {.object = object->object, .value = object->size};
    return table->large != NULL && object_table_put(table->large, &size);
}

bool object_table_put_anywhere(struct object_table *table, const struct live_object *object)
{
    if (object->object == 0)
        return true;
    unsigned bit = object_bit(object->object);
    struct object_page *page = find_page(table, object->object);
    struct live_object large;
    bool is_large = object->size >= UINT32_MAX;
    if (object_page_has(page, bit) &&
        page->objects[object_table_place_of(page, bit)].size == UINT32_MAX)
        object_table_take(table->large, object->object, &large);
    if (is_large && !keep_large(table, object))
        return false;
    if (page == NULL)
        page = object_table_add_page(table, object->object >> OBJECT_PAGE_BITS);
    if (page != NULL && !object_page_has(page, bit))
        page = make_place(table, page, bit);
    if (page == NULL)
        return false;
    table->last = page;
    page->objects[object_table_place_of(page, bit)] = (struct page_object){
        object->value, is_large ? UINT32_MAX : (uint32_t) object->size, object->class_id};
    return true;
}

bool object_table_has(const struct object_table *table, uint64_t object)
{
    return object_page_has(find_page(table, object), object_bit(object));
}

static void get(const struct object_table *table, const struct object_page *page, unsigned bit,
                struct live_object *out)
{
    const struct page_object *object = &page->objects[object_table_place_of(page, bit)];
    *out = (struct live_object){page->number << OBJECT_PAGE_BITS | bit, object->value, object->size,
                                object->class_id};
    struct live_object large;
    if (object->size == UINT32_MAX && object_table_find(table->large, out->object, &large))
        out->size = large.value;
}

bool object_table_find(const struct object_table *table, uint64_t object, struct live_object *out)
{
    const struct object_page *page = find_page(table, object);
    if (!object_page_has(page, object_bit(object)))
        return false;
    get(table, page, object_bit(object), out);
    return true;
}

/* Takes room that is not needed from the page that lost objects last.  Not at once: an object's
 * neighbours mostly die with it, and the whole page goes. */
static void shrink_roomy(struct object_table *table)
{
    struct object_page *page = table->roomy;
    uint32_t wanted = page->capacity;
    while (wanted > 1 && page->count <= wanted / GROWTH / 4 * 3)
        wanted /= GROWTH;
    table->roomy = NULL;
    if (wanted == page->capacity)
        return;
    bool is_last = table->last == page;
    page = object_table_resize(table, page, wanted);
    if (is_last)
        table->last = page;
}

/* Removes an object of a page, and the page with the last one. */
static void remove_object(struct object_table *table, struct object_page *page, unsigned bit)
{
    if (table->roomy != NULL && table->roomy != page)
        shrink_roomy(table);
    table->count--;
    if (page->count == 1) {
        step_page_map_remove(&table->pages, page->number);
        table->bytes -= page_bytes(page->capacity);
        table->last = table->roomy = NULL;
        object_table_drop_page(table, page);
        return;
    }
    if (page->capacity < PAGE_OBJECTS) {
        size_t place = object_table_place_of(page, bit);
        memmove(&page->objects[place], &page->objects[place + 1],
                (page->count - place - 1) * sizeof *page->objects);
    }
    page->count--;
    page->present &= ~(UINT64_C(1) << bit);
    table->last = table->roomy = page;
}

bool object_table_take_anywhere(struct object_table *table, uint64_t object,
                                struct live_object *out)
{
    struct object_page *page = find_page(table, object);
    unsigned bit = object_bit(object);
    if (!object_page_has(page, bit))
        return false;
    get(table, page, bit, out);
    struct live_object large;
    if (page->objects[object_table_place_of(page, bit)].size == UINT32_MAX)
        object_table_take(table->large, object, &large);
    remove_object(table, page, bit);
    return true;
}

bool object_table_next(const struct object_table *table, struct object_cursor *cursor,
                       struct live_object *out)
{
    const struct step_page_map *pages = &table->pages;
    for (; pages->slots != NULL && cursor->slot <= pages->mask; cursor->slot++) {
        const struct object_page *page = pages->slots[cursor->slot].page;
        if (page == NULL)
            continue;
        if (cursor->number != page->number)
            *cursor = (struct object_cursor){cursor->slot, page->number, 0};
        while (cursor->place < PAGE_OBJECTS) {
            unsigned bit = cursor->place++;
            if (object_page_has(page, bit)) {
                get(table, page, bit, out);
                return true;
            }
        }
    }
    return false;
}
