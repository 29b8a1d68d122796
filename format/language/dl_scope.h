/* SPDX-License-Identifier: Apache-2.0 */
/* Names in their packages.  The cost of a look-up does not depend on their number, nor on the depth
 * of the package. */
#ifndef FORMAT_LANGUAGE_DL_SCOPE_H
#define FORMAT_LANGUAGE_DL_SCOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/core/arena.h"

struct dl_record;

/* A name within `parent`: a package, a record, or both. */
struct dl_scope {
    const char *name; /* not NUL-terminated */
    size_t length;
    const struct dl_scope *parent;
    struct dl_record *record; /* NULL: only a package */
    uint64_t hash;
    struct dl_scope *next; /* in its bucket */
};

struct dl_scope_table {
    struct step_arena *arena;
    struct dl_scope root; /* the unnamed outermost package */
    struct dl_scope **buckets;
    size_t bucket_mask;
    size_t count;
};

/* Returns false if out of memory. */
bool dl_scope_table_init(struct dl_scope_table *table, struct step_arena *arena);

/* Returns the name in `parent`, creating it if needed; NULL if out of memory. */
struct dl_scope *dl_scope_enter(struct dl_scope_table *table, const struct dl_scope *parent,
                                const char *name, size_t length);
/* Like dl_scope_enter() for each part of "a.b.c"; an empty path is `parent` itself. */
const struct dl_scope *dl_scope_enter_path(struct dl_scope_table *table,
                                           const struct dl_scope *parent, const char *path);

/* Finds the record that `path` means in package `from`, searching it and then the packages around
 * it.  `except` is skipped.  Returns NULL if there is none. */
struct dl_record *dl_scope_find_record(const struct dl_scope_table *table,
                                       const struct dl_scope *from, const char *path,
                                       const struct dl_record *except);

#endif
