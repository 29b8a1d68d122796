/* SPDX-License-Identifier: Apache-2.0 */
/* The map of pages: addition, removal by backward shift, iteration. */
#include "format/core/page_map.h"

#include <stdlib.h>

enum { FIRST_SLOTS = 64, SLOTS_PER_PAGE = 4 };

void step_page_map_reset(struct step_page_map *map)
{
    free(map->slots);
    *map = (struct step_page_map){.slots = NULL};
}

static void insert(struct step_page_map *map, struct step_page_slot slot)
{
    size_t at = step_page_map_home(map, slot.number);
    while (map->slots[at].page != NULL)
        at = (at + 1) & map->mask;
    map->slots[at] = slot;
}

static bool page_map_grow(struct step_page_map *map)
{
    struct step_page_slot *old = map->slots;
    size_t old_count = old != NULL ? map->mask + 1 : 0;
    size_t count = old_count > 0 ? old_count * 2 : FIRST_SLOTS;
    struct step_page_slot *slots = calloc(count, sizeof *slots);
    if (slots == NULL)
        return false;
    map->slots = slots;
    map->mask = count - 1;
    for (size_t i = 0; i < old_count; i++)
        if (old[i].page != NULL)
            insert(map, old[i]);
    free(old);
    return true;
}

bool step_page_map_add(struct step_page_map *map, uint64_t number, void *page)
{
    if ((map->slots == NULL || map->count > map->mask / SLOTS_PER_PAGE) && !page_map_grow(map))
        return false;
    insert(map, (struct step_page_slot){number, page});
    map->count++;
    return true;
}

static size_t page_map_place_of(const struct step_page_map *map, uint64_t number)
{
    size_t at = step_page_map_home(map, number);
    while (map->slots[at].number != number || map->slots[at].page == NULL)
        at = (at + 1) & map->mask;
    return at;
}

void step_page_map_replace(struct step_page_map *map, uint64_t number, void *page)
{
    map->slots[page_map_place_of(map, number)].page = page;
}

void step_page_map_remove(struct step_page_map *map, uint64_t number)
{
    size_t mask = map->mask, at = page_map_place_of(map, number);
    /* An item behind the gap moves into it if that is nearer to its home slot. */
    for (size_t next = (at + 1) & mask; map->slots[next].page != NULL; next = (next + 1) & mask) {
        size_t home = step_page_map_home(map, map->slots[next].number);
        if (((next - home) & mask) < ((next - at) & mask))
            continue;
        map->slots[at] = map->slots[next];
        at = next;
    }
    map->slots[at].page = NULL;
    map->count--;
}

void *step_page_map_next(const struct step_page_map *map, size_t *slot)
{
    while (map->slots != NULL && *slot <= map->mask) {
        void *page = map->slots[(*slot)++].page;
        if (page != NULL)
            return page;
    }
    return NULL;
}
