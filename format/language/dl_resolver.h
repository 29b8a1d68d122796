/* SPDX-License-Identifier: Apache-2.0 */
/* State shared by the steps from the parse tree to the tables of a definition. */
#ifndef FORMAT_LANGUAGE_DL_RESOLVER_H
#define FORMAT_LANGUAGE_DL_RESOLVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/core/arena.h"
#include "format/core/hash_index.h"
#include "format/language/dl_tree.h"

/* Names in their packages.  The cost of a look-up does not depend on their number, nor on the depth
 * of the package. */
struct dl_record;

/* A name within `parent`: a package, a record, or both. */
struct dl_scope {
    const char *name; /* not NUL-terminated */
    size_t length;
    const struct dl_scope *parent;
    struct dl_record *record; /* NULL: only a package */
    uint64_t hash;
};

#define DL_HASH_START UINT64_C(1469598103934665603)

/* Extends the hash of a scope, or DL_HASH_START, by a name. */
static inline uint64_t dl_hash(uint64_t hash, const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char) name[i]) * UINT64_C(1099511628211);
    return hash;
}

static inline uint32_t dl_index_hash(uint64_t hash)
{
    return (uint32_t) (hash ^ hash >> 32);
}

struct dl_scope_table {
    struct step_arena *arena;
    struct dl_scope root;     /* the unnamed outermost package */
    struct dl_scope **scopes; /* all others */
    size_t count, capacity;
    struct step_index index; /* of the scopes */
};

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

struct dl_resolver {
    struct dl_parse *parse;
    struct dl_scope_table scopes;
    struct dl_record **ordered; /* parents before children */
    uint32_t ordered_count;
    struct step_record *records;
    bool **by_value;            /* by record and field: whether records are held in place */
    struct step_index by_field; /* names of the fields of the record being built */
    uint32_t *nodes;            /* by record: number of values nested in one; 0: not counted yet */
};

/* Returns zeroed memory of the definition, or NULL (and notes it) when out of memory. */
void *dl_resolver_take(struct dl_resolver *resolver, size_t count, size_t size);

/* Builds the record's fields and attributes; the parent's must be built already. */
void dl_build_record(struct dl_resolver *resolver, struct dl_record *record);

/* Checks a record after all are built: paths of modifiers exist, and no record contains itself or
 * too many values. */
void dl_verify_record(struct dl_resolver *resolver, const struct dl_record *record);

#endif
