/* SPDX-License-Identifier: Apache-2.0 */
/* Cells in an array, and an open-addressed table into it. */
#include "converter/heap/heap_cells.h"

#include <stdlib.h>
#include <string.h>

#include "format/core/hash.h"

#define FIRST_SLOTS ((size_t) 1024)

bool heap_cells_init(struct heap_cells *cells, bool follow_peak)
{
    *cells = (struct heap_cells){.peak = follow_peak};
    cells->capacity = FIRST_SLOTS / 2;
    cells->items = malloc(cells->capacity * sizeof *cells->items);
    cells->slots = calloc(FIRST_SLOTS, sizeof *cells->slots);
    cells->mask = FIRST_SLOTS - 1;
    return cells->items != NULL && cells->slots != NULL;
}

void heap_cells_reset(struct heap_cells *cells)
{
    free(cells->items);
    free(cells->slots);
    *cells = (struct heap_cells){.items = NULL};
}

static uint32_t *slot_of(const struct heap_cells *cells, const struct heap_key *key)
{
    uint64_t hash = step_hash_join((uint64_t) key->site << 32, key->class_id);
    size_t at = (size_t) step_hash_join(hash, key->thread_id) & cells->mask;
    while (cells->slots[at] != 0) {
        const struct heap_key *other = &cells->items[cells->slots[at] - 1].key;
        if (other->site == key->site && other->class_id == key->class_id &&
            other->thread_id == key->thread_id)
            break;
        at = (at + 1) & cells->mask;
    }
    return &cells->slots[at];
}

static bool grow(struct heap_cells *cells)
{
    size_t capacity = cells->capacity * 2;
    if (capacity > UINT32_MAX / 4)
        return false;
    struct heap_cell *items = realloc(cells->items, capacity * sizeof *items);
    if (items == NULL)
        return false;
    cells->items = items;
    uint32_t *slots = calloc(capacity * 2, sizeof *slots);
    if (slots == NULL)
        return false;
    free(cells->slots);
    cells->slots = slots;
    cells->mask = capacity * 2 - 1;
    cells->capacity = capacity;
    for (size_t i = 0; i < cells->count; i++)
        *slot_of(cells, &items[i].key) = (uint32_t) i + 1;
    return true;
}

uint32_t heap_cells_put(struct heap_cells *cells, const struct heap_key *key)
{
    uint32_t *slot = slot_of(cells, key);
    if (*slot != 0)
        return *slot - 1;
    if (cells->count == cells->capacity) {
        if (!grow(cells))
            return UINT32_MAX;
        slot = slot_of(cells, key);
    }
    /* At the last peak it was as it is now: empty. */
    cells->items[cells->count] = (struct heap_cell){.key = *key};
    *slot = (uint32_t) ++cells->count;
    return *slot - 1;
}

void heap_cells_renumber(struct heap_cells *cells)
{
    for (size_t i = 0; i < cells->count; i++)
        cells->items[i].peak = 0;
    cells->peak = 1;
}

static struct heap_amount live_amount(const struct heap_sums *sums, uint64_t now_us)
{
    return (struct heap_amount){sums->objects, sums->bytes,
                                sums->objects * now_us - sums->births_us};
}

static struct heap_amount allocated_amount(const struct heap_sums *sums)
{
    return (struct heap_amount){sums->allocated_objects, sums->allocated_bytes, sums->lived_us};
}

bool heap_cells_snapshot(const struct heap_cells *cells, bool at_peak,
                         struct heap_snapshot *snapshot)
{
    uint64_t now_us = snapshot->time_ns / 1000;
    snapshot->rows = malloc((cells->count + 1) * sizeof *snapshot->rows);
    snapshot->count = 0;
    if (snapshot->rows == NULL)
        return false;
    for (size_t i = 0; i < cells->count; i++) {
        const struct heap_cell *cell = &cells->items[i];
        const struct heap_sums *sums =
            at_peak && cell->peak == cells->peak ? &cell->at_peak : &cell->now;
        if (sums->allocated_objects != 0)
            snapshot->rows[snapshot->count++] =
                (struct heap_row){cell->key, live_amount(sums, now_us), allocated_amount(sums)};
    }
    const struct heap_sums *all = at_peak ? &cells->all_at_peak : &cells->all;
    snapshot->live = live_amount(all, now_us);
    snapshot->allocated = allocated_amount(all);
    snapshot->has_sizes = all->allocated_bytes != 0 || all->allocated_objects == 0;
    return true;
}
