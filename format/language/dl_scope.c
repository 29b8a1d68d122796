/* SPDX-License-Identifier: Apache-2.0 */
/* Scopes of names: one hash index for all packages, keyed by package and name. */
#include "format/language/dl_resolver.h"

#include <stdlib.h>
#include <string.h>

#include "format/core/grow.h"

static uint64_t dl_scope_hash_name(const struct dl_scope *parent, const char *name, size_t length)
{
    return dl_hash(parent->hash ^ parent->hash >> 29, name, length);
}

static struct dl_scope *dl_scope_find(const struct dl_scope_table *table,
                                      const struct dl_scope *parent, const char *name,
                                      size_t length)
{
    uint64_t hash = dl_scope_hash_name(parent, name, length);
    uint32_t place;
    STEP_INDEX_EACH (&table->index, dl_index_hash(hash), place) {
        struct dl_scope *at = table->scopes[place];
        if (at->hash == hash && at->parent == parent && at->length == length &&
            memcmp(at->name, name, length) == 0)
            return at;
    }
    return NULL;
}

struct dl_scope *dl_scope_enter(struct dl_scope_table *table, const struct dl_scope *parent,
                                const char *name, size_t length)
{
    struct dl_scope *scope = dl_scope_find(table, parent, name, length);
    if (scope != NULL)
        return scope;
    scope = step_arena_zeroed(table->arena, sizeof *scope);
    if (scope == NULL || !STEP_MAKE_ROOM(table->scopes, table->capacity, table->count + 1) ||
        !step_index_reserve(&table->index))
        return NULL;
    *scope = (struct dl_scope){.name = name,
                               .length = length,
                               .parent = parent,
                               .hash = dl_scope_hash_name(parent, name, length)};
    step_index_add(&table->index, dl_index_hash(scope->hash), (uint32_t) table->count);
    return table->scopes[table->count++] = scope;
}

const struct dl_scope *dl_scope_enter_path(struct dl_scope_table *table,
                                           const struct dl_scope *parent, const char *path)
{
    while (parent != NULL && *path != '\0') {
        size_t length = strcspn(path, ".");
        parent = dl_scope_enter(table, parent, path, length);
        path += length + (path[length] == '.');
    }
    return parent;
}

/* Follows the path from `from` on, without searching the surrounding packages. */
static struct dl_record *dl_scope_walk(const struct dl_scope_table *table,
                                       const struct dl_scope *from, const char *path)
{
    for (;;) {
        size_t length = strcspn(path, ".");
        from = dl_scope_find(table, from, path, length);
        if (from == NULL || path[length] == '\0')
            return from != NULL ? from->record : NULL;
        path += length + 1;
    }
}

struct dl_record *dl_scope_find_record(const struct dl_scope_table *table,
                                       const struct dl_scope *from, const char *path,
                                       const struct dl_record *except)
{
    for (; from != NULL; from = from->parent) {
        struct dl_record *record = dl_scope_walk(table, from, path);
        if (record != NULL && (record != except || from->parent == NULL))
            return record;
    }
    return NULL;
}
