/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Map from numbers to pages, for sparse numbers that occur in clusters.  Open addressing; the slots
 * of eight consecutive numbers are adjacent, because look-ups are mostly near the previous one.
 */
#ifndef FORMAT_CORE_PAGE_MAP_H
#define FORMAT_CORE_PAGE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/core/hash.h"

struct step_page_slot {
    uint64_t number;
    void *page; /* NULL: the slot is empty */
};

/* Zero-initialise for an empty map. */
struct step_page_map {
    struct step_page_slot *slots;
    size_t mask; /* slots - 1 */
    size_t count;
};

/* Frees the map, not the pages. */
void step_page_map_reset(struct step_page_map *map);

/* Adds a page, not NULL, for a number without one.  Returns false if out of memory; nothing has
 * changed then. */
bool step_page_map_add(struct step_page_map *map, uint64_t number, void *page);
/* Gives a number that has a page another. */
void step_page_map_replace(struct step_page_map *map, uint64_t number, void *page);
/* Removes the page of a number that has one. */
void step_page_map_remove(struct step_page_map *map, uint64_t number);
/* Iterates over all pages, starting with `*slot` 0.  Returns NULL at the end.  No page may be added
 * or removed meanwhile. */
void *step_page_map_next(const struct step_page_map *map, size_t *slot);

static inline size_t step_page_map_home(const struct step_page_map *map, uint64_t number)
{
    return (size_t) (step_hash(number >> 3) >> 20 << 3 | (number & 7)) & map->mask;
}

/* Returns the page, or NULL. */
static inline void *step_page_map_find(const struct step_page_map *map, uint64_t number)
{
    if (map->slots == NULL)
        return NULL;
    size_t at = step_page_map_home(map, number);
    while (map->slots[at].page != NULL && map->slots[at].number != number)
        at = (at + 1) & map->mask;
    return map->slots[at].page;
}

#endif
