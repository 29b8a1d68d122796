/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A heap condensed into a dump that breaks down without losing totals, by the heap dump note: sizes
 * are cumulative over both axes, backtraces and types; what a frame allocated itself is a child of
 * its own, `<self>`; what is small is not dumped: `<other>`, a node less its dumped children.
 */
#ifndef CONVERTER_HEAP_HEAP_DUMP_H
#define CONVERTER_HEAP_HEAP_DUMP_H

#include "converter/heap/heap_snapshot.h"

struct heap_dump_options {
    bool allocated;       /* what was allocated, not what lives */
    bool with_classes;    /* break down by type, too */
    uint64_t least_bytes; /* entries below are not dumped, but for the root */
};

/*
 * Entries stand parents first: a site's own, then its types (largest first), its `<self>` with
 * types, then its children, largest first.
 */
struct heap_dump {
    struct heap_dump_entry *entries;
    size_t count;
    size_t capacity;
};

/* Where the snapshot has entries of its own these are taken.  False: out of memory; reset is
 * allowed then. */
bool heap_dump_make(const struct heap_sites *sites, const struct heap_snapshot *snapshot,
                    const struct heap_dump_options *options, struct heap_dump *dump);
bool heap_dump_add(struct heap_dump *dump, const struct heap_dump_entry *entry);
void heap_dump_reset(struct heap_dump *dump);

/* Paths that are turned over are cut to so many frames. */
#define HEAP_INVERTED_DEPTH 256u

/* The heap turned over: paths begin with the innermost frame.  `inverted` becomes a tree of its own
 * over the same names, `rows` a copy of the snapshot's with sites in it.  False: out of memory. */
bool heap_sites_invert(const struct heap_sites *sites, const struct heap_snapshot *snapshot,
                       struct heap_sites *inverted, struct heap_snapshot *turned);

#endif
