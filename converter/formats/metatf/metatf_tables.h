/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of a Java trace in Meta-TF: classes, methods, threads, frames.  Its records refer to
 * entries by their offsets in the section; names have numbers, and the first entry has 1.
 */
#ifndef CONVERTER_FORMATS_METATF_METATF_TABLES_H
#define CONVERTER_FORMATS_METATF_METATF_TABLES_H

#include "converter/trace/names.h"
#include "format/core/search.h"
#include "steptrace/java_metatf.h"

enum metatf_table { METATF_CLASSES, METATF_METHODS, METATF_THREADS, METATF_FRAMES, METATF_TABLES };

/* Where the entries of a table stand, in order. */
struct metatf_places {
    uint64_t *items;
    size_t count;
    size_t capacity;
};

/* Zeroed it is empty but for its names. */
struct metatf_tables {
    struct metatf_places places[METATF_TABLES];
    struct trace_names *names; /* borrowed: what entries become */
};

void metatf_tables_reset(struct metatf_tables *tables);

/* What an entry, or an event, refers to in vain. */
struct metatf_dangling {
    const char *what; /* NULL: nothing */
    uint64_t position;
};

/* What was looked for in vain. */
struct metatf_dangling metatf_tables_miss(enum metatf_table table, uint64_t position);

/* The number of an entry; 0 is that of position 0.  False: nothing stands there, `dangling` says
 * what was looked for.  Events ask for four each. */
static inline bool metatf_tables_find(const struct metatf_tables *tables, enum metatf_table table,
                                      uint64_t position, uint32_t *id,
                                      struct metatf_dangling *dangling)
{
    const struct metatf_places *places = &tables->places[table];
    *id = 0;
    if (position == 0)
        return true;
    size_t at = step_lower_bound(places->items, places->count, position);
    if (at == places->count || places->items[at] != position) {
        *dangling = metatf_tables_miss(table, position);
        return false;
    }
    *id = (uint32_t) at + 1;
    return true;
}

/* Takes a record that is an entry of a table.  OK; NO_MEMORY; CORRUPT: `dangling` says why. */
enum step_status metatf_tables_take(struct metatf_tables *tables,
                                    const struct step_java_metatf_event *event,
                                    struct metatf_dangling *dangling);

#endif
