/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of a Java trace in Meta-TF: classes, methods, threads, frames.  Records refer to entries
 * by their offsets in the section.  These tables map offsets to numbers, starting at 1.
 */
#ifndef CONVERTER_FORMATS_METATF_METATF_TABLES_H
#define CONVERTER_FORMATS_METATF_METATF_TABLES_H

#include "converter/trace/names.h"
#include "format/core/search.h"
#include "steptrace/java_metatf.h"

enum metatf_table { METATF_CLASSES, METATF_METHODS, METATF_THREADS, METATF_FRAMES, METATF_TABLES };

/* Offsets of the entries of a table, ascending. */
struct metatf_places {
    uint64_t *items;
    size_t count;
    size_t capacity;
};

/* To initialise, zero the structure and set `names`. */
struct metatf_tables {
    struct metatf_places places[METATF_TABLES];
    struct trace_names *names; /* borrowed; receives the entries */
};

void metatf_tables_reset(struct metatf_tables *tables);

/* An unresolved reference of an entry or event. */
struct metatf_dangling {
    const char *what; /* NULL: nothing */
    uint64_t position;
};

/* Describes a reference that was not found. */
struct metatf_dangling metatf_tables_miss(enum metatf_table table, uint64_t position);

/* Sets *id to the number of the entry at `position`, or to 0 for position 0.  Returns false and
 * fills in `dangling` if there is no entry.  Inline because each event needs four lookups. */
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

/* Adds a record that is an entry of a table.  Returns OK, NO_MEMORY, or CORRUPT with the reason in
 * `dangling`. */
enum step_status metatf_tables_take(struct metatf_tables *tables,
                                    const struct step_java_metatf_event *event,
                                    struct metatf_dangling *dangling);

#endif
