/* SPDX-License-Identifier: Apache-2.0 */
/* Converts the parse tree to the tables of a definition: names records, orders and builds them. */
#include <stdlib.h>
#include <string.h>

#include "format/language/dl_resolver.h"

static void report_twice(struct dl_resolver *resolver, const struct dl_record *record,
                         const struct dl_record *first)
{
    struct step_fault before;
    dl_locate_in(&resolver->parse->expansion, resolver->parse->name, first->place, &before);
    dl_fault(resolver->parse, record->place, "record '%s' is defined twice (before at %s:%u:%u)",
             record->name, before.name, before.line, before.column);
}

/* Puts each record's name into its scope. */
static bool index_names(struct dl_resolver *resolver)
{
    const char *package = NULL;
    const struct dl_scope *scope = NULL;
    for (struct dl_record *record = resolver->parse->first_record; record != NULL;
         record = record->next) {
        if (record->package != package)
            scope = dl_scope_enter_path(&resolver->scopes, &resolver->scopes.root, record->package);
        package = record->package;
        record->scope = scope;
        size_t before = *package != '\0' ? strlen(package) + 1 : 0;
        const char *name = record->name + before;
        struct dl_scope *named =
            scope != NULL ? dl_scope_enter(&resolver->scopes, scope, name, strlen(name)) : NULL;
        if (named == NULL) {
            resolver->parse->out_of_memory = true;
            return false;
        }
        if (named->record != NULL)
            report_twice(resolver, record, named->record);
        else
            named->record = record;
    }
    return true;
}

static void find_parents(struct dl_resolver *resolver)
{
    for (struct dl_record *record = resolver->parse->first_record; record != NULL;
         record = record->next) {
        if (record->parent == NULL)
            continue;
        record->parent_record =
            dl_scope_find_record(&resolver->scopes, record->scope, record->parent, record);
        if (record->parent_record == NULL) {
            dl_fault(resolver->parse, record->parent_place, "there is no record '%s' to extend",
                     record->parent);
            record->broken = true;
        }
    }
}

/* Places a record without its parent, which is missing or faulty. */
static void place_broken(struct dl_resolver *resolver, struct dl_record *record)
{
    record->parent_record = NULL;
    record->broken = true;
    record->resolving = false;
    record->depth = 1;
    record->index = resolver->ordered_count;
    resolver->ordered[resolver->ordered_count++] = record;
}

/* Walks up to the first ancestor that has a place, then numbers the records downwards. */
static void order_record(struct dl_resolver *resolver, struct dl_record *record)
{
    struct dl_record *line[DL_INHERITANCE_LIMIT];
    uint32_t count = 0;
    struct dl_record *at = record;
    for (; at != NULL && at->depth == 0; at = at->parent_record) {
        if (at->resolving || count == DL_INHERITANCE_LIMIT) {
            dl_fault(resolver->parse, record->place,
                     at->resolving ? "record '%s' extends itself"
                                   : "record '%s' has too many ancestors",
                     record->name);
            while (count-- > 0)
                place_broken(resolver, line[count]);
            return;
        }
        at->resolving = true;
        line[count++] = at;
    }
    while (count-- > 0) {
        at = line[count];
        if (at->parent_record != NULL && at->parent_record->depth >= DL_INHERITANCE_LIMIT) {
            dl_fault(resolver->parse, at->place, "record '%s' has too many ancestors", at->name);
            place_broken(resolver, at);
            continue;
        }
        at->resolving = false;
        at->depth = at->parent_record != NULL ? at->parent_record->depth + 1 : 1;
        at->index = resolver->ordered_count;
        resolver->ordered[resolver->ordered_count++] = at;
    }
}

static bool order_records(struct dl_resolver *resolver)
{
    uint32_t count = resolver->parse->record_count;
    resolver->ordered = dl_resolver_take(resolver, count, sizeof *resolver->ordered);
    resolver->records = dl_resolver_take(resolver, count, sizeof *resolver->records);
    resolver->nodes = dl_resolver_take(resolver, count, sizeof *resolver->nodes);
    resolver->by_value = dl_resolver_take(resolver, count, sizeof *resolver->by_value);
    if (resolver->parse->out_of_memory)
        return false;
    for (struct dl_record *record = resolver->parse->first_record; record != NULL;
         record = record->next)
        order_record(resolver, record);
    return true;
}

static bool may_go_on(const struct dl_parse *parse)
{
    return !parse->out_of_memory && parse->fault_count < DL_FAULT_LIMIT;
}

struct named {
    const char *name;
    uint32_t index;
};

static int compare_named(const void *left, const void *right)
{
    return strcmp(((const struct named *) left)->name, ((const struct named *) right)->name);
}

static const uint32_t *sort_names(struct dl_resolver *resolver)
{
    uint32_t count = resolver->ordered_count;
    uint32_t *by_name = dl_resolver_take(resolver, count, sizeof *by_name);
    struct named *names = malloc((count + 1) * sizeof *names);
    for (uint32_t i = 0; names != NULL && i < count; i++)
        names[i] = (struct named){resolver->records[i].name, i};
    if (names == NULL || by_name == NULL)
        resolver->parse->out_of_memory = true;
    else
        qsort(names, count, sizeof *names, compare_named);
    for (uint32_t i = 0; names != NULL && by_name != NULL && i < count; i++)
        by_name[i] = names[i].index;
    free(names);
    return by_name;
}

static bool dl_resolve_all(struct dl_resolver *resolver, struct step_definition *out)
{
    struct dl_parse *parse = resolver->parse;
    if (!index_names(resolver))
        return false;
    find_parents(resolver);
    if (!order_records(resolver))
        return false;
    for (uint32_t i = 0; i < resolver->ordered_count && may_go_on(parse); i++)
        dl_build_record(resolver, resolver->ordered[i]);
    for (uint32_t i = 0;
         i < resolver->ordered_count && parse->fault_count == 0 && !parse->out_of_memory; i++)
        dl_verify_record(resolver, resolver->ordered[i]);
    if (parse->fault_count != 0 || parse->out_of_memory)
        return false;
    out->records = resolver->records;
    out->record_count = resolver->ordered_count;
    out->by_name = sort_names(resolver);
    return !parse->out_of_memory;
}

bool dl_resolve(struct dl_parse *parse, struct step_definition *out)
{
    struct dl_resolver *resolver = step_arena_zeroed(parse->arena, sizeof *resolver);
    if (resolver == NULL)
        return false;
    resolver->parse = parse;
    resolver->scopes = (struct dl_scope_table){.arena = parse->arena};
    resolver->scopes.root.hash = DL_HASH_START;
    bool good = dl_resolve_all(resolver, out);
    free(resolver->scopes.scopes);
    step_index_reset(&resolver->scopes.index);
    step_index_reset(&resolver->by_field);
    return good;
}
