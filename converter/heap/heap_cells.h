/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running sums by class, site and thread, and what they were when most bytes lived: a cell keeps
 * its value of that moment only once it changes afterwards, so that a new peak costs nothing.
 */
#ifndef CONVERTER_HEAP_HEAP_CELLS_H
#define CONVERTER_HEAP_HEAP_CELLS_H

#include "converter/heap/heap_snapshot.h"

/* `births_us` is the sum of the times of birth of what lives, modulo 2^64; `lived_us` the sum of
 * the lifetimes of what has died. */
struct heap_sums {
    uint64_t objects, bytes, births_us, lived_us;
    uint64_t allocated_objects, allocated_bytes;
};

struct heap_cell {
    struct heap_key key;
    uint32_t
        peak; /* the peak that `at_peak` is of; an older one: the sums have not changed since */
    struct heap_sums now;
    struct heap_sums at_peak;
};

struct heap_cells {
    struct heap_cell *items;
    size_t count;
    size_t capacity;
    uint32_t *slots; /* cell numbers + 1; 0: empty */
    size_t mask;
    uint32_t peak; /* number of the last peak; 0: peaks are not followed */
    struct heap_sums all;
    struct heap_sums all_at_peak;
    uint64_t peak_ns;
    uint64_t peak_collections;
};

/* False: out of memory; reset is allowed then. */
bool heap_cells_init(struct heap_cells *cells, bool follow_peak);
void heap_cells_reset(struct heap_cells *cells);

/* The cell's number, made if need be; UINT32_MAX: out of memory. */
uint32_t heap_cells_put(struct heap_cells *cells, const struct heap_key *key);

static inline void heap_cell_save(const struct heap_cells *cells, struct heap_cell *cell)
{
    if (cell->peak != cells->peak) {
        cell->at_peak = cell->now;
        cell->peak = cells->peak;
    }
}

static inline void heap_sums_add(struct heap_sums *sums, uint64_t bytes, uint64_t birth_us)
{
    sums->objects++;
    sums->bytes += bytes;
    sums->births_us += birth_us;
    sums->allocated_objects++;
    sums->allocated_bytes += bytes;
}

static inline void heap_sums_remove(struct heap_sums *sums, uint64_t bytes, uint64_t birth_us,
                                    uint64_t death_us)
{
    sums->lived_us += death_us > birth_us ? death_us - birth_us : 0;
    sums->objects--;
    sums->bytes -= bytes;
    sums->births_us -= birth_us;
}

/* The peaks' numbers begin anew. */
void heap_cells_renumber(struct heap_cells *cells);

/* What lives has just grown.  True: it never was as large. */
static inline bool heap_cells_note_peak(struct heap_cells *cells, uint64_t time_ns,
                                        uint64_t collections)
{
    const struct heap_sums *all = &cells->all;
    if (cells->peak == 0 || all->bytes < cells->all_at_peak.bytes ||
        (all->bytes == cells->all_at_peak.bytes && all->objects <= cells->all_at_peak.objects))
        return false;
    cells->all_at_peak = *all;
    cells->peak_ns = time_ns;
    cells->peak_collections = collections;
    if (++cells->peak == UINT32_MAX)
        heap_cells_renumber(cells);
    return true;
}

/* The heap now, or at the peak, as rows.  False: out of memory. */
bool heap_cells_snapshot(const struct heap_cells *cells, bool at_peak,
                         struct heap_snapshot *snapshot);

#endif
