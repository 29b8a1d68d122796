/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Condenses a heap into a dump that breaks sizes down without losing totals, as specified by the
 * heap dump note.  Sizes are cumulative along both axes, backtraces and types.  What a frame
 * allocated itself is a child named `<self>`.  Small entries are omitted and form `<other>`: a
 * node's size minus that of its dumped children.
 */
#ifndef CONVERTER_HEAP_HEAP_DUMP_H
#define CONVERTER_HEAP_HEAP_DUMP_H

#include "converter/heap/heap_snapshot.h"

struct heap_dump_options {
    bool allocated;       /* all allocations, not only live objects */
    bool with_classes;    /* break down by type, too */
    uint64_t least_bytes; /* omit smaller entries, except the root */
};

/*
 * The entries of a dump, parents first: a site, its types (largest first), its `<self>` with types,
 * then its children, largest first.
 */
struct heap_dump {
    struct heap_dump_entry *entries;
    size_t count;
    size_t capacity;
};

/* Makes a dump.  Uses the snapshot's own entries if it has any.  Returns false if out of memory;
 * heap_dump_reset() is allowed then. */
bool heap_dump_make(const struct heap_sites *sites, const struct heap_snapshot *snapshot,
                    const struct heap_dump_options *options, struct heap_dump *dump);
bool heap_dump_add(struct heap_dump *dump, const struct heap_dump_entry *entry);
void heap_dump_reset(struct heap_dump *dump);

/* Inverted paths are cut to this number of frames. */
#define HEAP_INVERTED_DEPTH 256u

/* Inverts the heap: paths begin with the innermost frame.  `inverted` becomes a separate tree
 * with the same names, and `turned` a copy of the snapshot whose rows refer to it.  Returns
 * false if out of memory. */
bool heap_sites_invert(const struct heap_sites *sites, const struct heap_snapshot *snapshot,
                       struct heap_sites *inverted, struct heap_snapshot *turned);

#endif
