/* SPDX-License-Identifier: Apache-2.0 */
/* Scopes of names: one hash table for all packages, keyed by package and name. */
#include "format/language/dl_resolver.h"

#include <string.h>

enum { FIRST_BUCKETS = 64 };

bool dl_scope_table_init(struct dl_scope_table *table, struct step_arena *arena)
{
    *table = (struct dl_scope_table){.arena = arena, .bucket_mask = FIRST_BUCKETS - 1};
    table->root.hash = UINT64_C(1469598103934665603);
    table->buckets = step_arena_zeroed(arena, FIRST_BUCKETS * sizeof(struct dl_scope *));
    return table->buckets != NULL;
}

static uint64_t hash_name(const struct dl_scope *parent, const char *name, size_t length)
{
    uint64_t hash = parent->hash ^ parent->hash >> 29;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char) name[i]) * UINT64_C(1099511628211);
    return hash;
}

static struct dl_scope **bucket_of(const struct dl_scope_table *table, uint64_t hash)
{
    return &table->buckets[(hash ^ hash >> 32) & table->bucket_mask];
}

static struct dl_scope *find(const struct dl_scope_table *table, const struct dl_scope *parent,
                             const char *name, size_t length)
{
    uint64_t hash = hash_name(parent, name, length);
    struct dl_scope *at = *bucket_of(table, hash);
    while (at != NULL && (at->hash != hash || at->parent != parent || at->length != length ||
                          memcmp(at->name, name, length) != 0))
        at = at->next;
    return at;
}

/* The old buckets stay in the arena; together they are not larger than the new ones. */
static bool grow(struct dl_scope_table *table)
{
    struct dl_scope **old = table->buckets;
    size_t old_count = table->bucket_mask + 1, count = 4 * old_count;
    table->buckets = step_arena_zeroed(table->arena, count * sizeof(struct dl_scope *));
    if (table->buckets == NULL) {
        table->buckets = old;
        return false;
    }
    table->bucket_mask = count - 1;
    for (size_t i = 0; i < old_count; i++)
        while (old[i] != NULL) {
            struct dl_scope *moved = old[i];
            struct dl_scope **bucket = bucket_of(table, moved->hash);
            old[i] = moved->next;
            moved->next = *bucket;
            *bucket = moved;
        }
    return true;
}

struct dl_scope *dl_scope_enter(struct dl_scope_table *table, const struct dl_scope *parent,
                                const char *name, size_t length)
{
    struct dl_scope *scope = find(table, parent, name, length);
    if (scope != NULL)
        return scope;
    if (table->count > table->bucket_mask && !grow(table))
        return NULL;
    scope = step_arena_zeroed(table->arena, sizeof *scope);
    if (scope == NULL)
        return NULL;
    *scope = (struct dl_scope){
        .name = name, .length = length, .parent = parent, .hash = hash_name(parent, name, length)};
    struct dl_scope **bucket = bucket_of(table, scope->hash);
    scope->next = *bucket;
    *bucket = scope;
    table->count++;
    return scope;
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
static struct dl_record *walk(const struct dl_scope_table *table, const struct dl_scope *from,
                              const char *path)
{
    for (;;) {
        size_t length = strcspn(path, ".");
        from = find(table, from, path, length);
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
        struct dl_record *record = walk(table, from, path);
        if (record != NULL && (record != except || from->parent == NULL))
            return record;
    }
    return NULL;
}
