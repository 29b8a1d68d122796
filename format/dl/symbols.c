/* SPDX-License-Identifier: Apache-2.0 */
/* Names, stored once each, and what they mean in each package: two hash tables. */
#include "syntax.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct step_dl_scope_entry {
    struct step_dl_scope_entry *next; /* of the same hash */
    uint32_t hash;
    const struct step_dl_package *scope;
    const struct step_dl_symbol *symbol;
    struct step_dl_package *package;
    struct step_dl_record *record;
};

static uint32_t mix(uint64_t value)
{
    value ^= value >> 31;
    value *= UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t) (value >> 32);
}

static uint32_t hash_text(const struct step_dl_parse *parse, const char *text, size_t length)
{
    uint64_t hash = parse->seed;
    for (size_t i = 0; i < length; i++)
        hash = (hash + (unsigned char) text[i] + 1) * UINT64_C(0x2545f4914f6cdd1d) ^ (hash >> 29);
    return mix(hash);
}

static uint32_t hash_scope(const struct step_dl_package *scope, const struct step_dl_symbol *symbol)
{
    return mix((uint64_t) (uintptr_t) scope * 31 + symbol->hash);
}

/* A table of twice the size, still empty, or NULL. */
static void *grown_table(struct step_dl_parse *parse, size_t capacity, size_t *grown)
{
    *grown = capacity == 0 ? 256 : capacity * 2;
    void *table = calloc(*grown, sizeof(void *));
    return table != NULL ? table : step_dl_no_memory(parse, NULL);
}

static bool make_symbol_room(struct step_dl_parse *parse)
{
    if (parse->symbol_count < parse->symbol_capacity)
        return true;
    size_t capacity;
    struct step_dl_symbol **table = grown_table(parse, parse->symbol_capacity, &capacity);
    if (table == NULL)
        return false;
    for (size_t i = 0; i < parse->symbol_capacity; i++) {
        for (struct step_dl_symbol *symbol = parse->symbols[i], *next; symbol != NULL;
             symbol = next) {
            next = symbol->next;
            symbol->next = table[symbol->hash & (capacity - 1)];
            table[symbol->hash & (capacity - 1)] = symbol;
        }
    }
    free(parse->symbols);
    parse->symbols = table;
    parse->symbol_capacity = capacity;
    return true;
}

struct step_dl_symbol *step_dl_intern(struct step_dl_parse *parse, const char *text, size_t length)
{
    if (!make_symbol_room(parse))
        return NULL;
    uint32_t hash = hash_text(parse, text, length);
    struct step_dl_symbol **slot = &parse->symbols[hash & (parse->symbol_capacity - 1)];
    for (struct step_dl_symbol *symbol = *slot; symbol != NULL; symbol = symbol->next)
        if (symbol->hash == hash && symbol->length == length &&
            memcmp(symbol->text, text, length) == 0)
            return symbol;
    struct step_dl_symbol *symbol =
        step_dl_model(parse, 1, sizeof(struct step_dl_symbol) + length + 1);
    if (symbol == NULL)
        return NULL;
    symbol->hash = hash;
    symbol->length = (uint32_t) length;
    memcpy(symbol->text, text, length);
    symbol->next = *slot;
    *slot = symbol;
    parse->symbol_count++;
    return symbol;
}

void step_dl_symbols_reset(struct step_dl_parse *parse)
{
    free(parse->symbols);
    free(parse->scopes);
    parse->symbols = NULL;
    parse->scopes = NULL;
}

static struct step_dl_scope_entry *find_entry(const struct step_dl_parse *parse,
                                              const struct step_dl_package *scope,
                                              const struct step_dl_symbol *symbol)
{
    if (parse->scope_capacity == 0)
        return NULL;
    uint32_t hash = hash_scope(scope, symbol);
    struct step_dl_scope_entry *entry = parse->scopes[hash & (parse->scope_capacity - 1)];
    while (entry != NULL && (entry->scope != scope || entry->symbol != symbol))
        entry = entry->next;
    return entry;
}

static bool make_scope_room(struct step_dl_parse *parse)
{
    if (parse->scope_count < parse->scope_capacity)
        return true;
    size_t capacity;
    struct step_dl_scope_entry **table = grown_table(parse, parse->scope_capacity, &capacity);
    if (table == NULL)
        return false;
    for (size_t i = 0; i < parse->scope_capacity; i++) {
        for (struct step_dl_scope_entry *entry = parse->scopes[i], *next; entry != NULL;
             entry = next) {
            next = entry->next;
            entry->next = table[entry->hash & (capacity - 1)];
            table[entry->hash & (capacity - 1)] = entry;
        }
    }
    free(parse->scopes);
    parse->scopes = table;
    parse->scope_capacity = capacity;
    return true;
}

/* The entry for a name in a package, made if new. */
static struct step_dl_scope_entry *take_entry(struct step_dl_parse *parse,
                                              const struct step_dl_package *scope,
                                              const struct step_dl_symbol *symbol)
{
    struct step_dl_scope_entry *entry = find_entry(parse, scope, symbol);
    if (entry != NULL)
        return entry;
    if (!make_scope_room(parse) || (entry = step_dl_tree(parse, sizeof *entry)) == NULL)
        return NULL;
    entry->hash = hash_scope(scope, symbol);
    entry->scope = scope;
    entry->symbol = symbol;
    struct step_dl_scope_entry **slot = &parse->scopes[entry->hash & (parse->scope_capacity - 1)];
    entry->next = *slot;
    *slot = entry;
    parse->scope_count++;
    return entry;
}

struct step_dl_package *step_dl_package_open(struct step_dl_parse *parse,
                                             struct step_dl_package *parent,
                                             const struct step_dl_symbol *symbol)
{
    struct step_dl_scope_entry *entry = take_entry(parse, parent, symbol);
    if (entry == NULL)
        return NULL;
    if (entry->package != NULL)
        return entry->package;
    struct step_dl_package *package = step_dl_tree(parse, sizeof *package);
    size_t size = strlen(parent->name) + symbol->length + 2;
    char *name = step_dl_tree(parse, size);
    if (package == NULL || name == NULL)
        return NULL;
    snprintf(name, size, "%s%s%s", parent->name, parent->parent != NULL ? "." : "", symbol->text);
    *package = (struct step_dl_package){parent, name, parent->depth + 1};
    entry->package = package;
    return package;
}

bool step_dl_record_enter(struct step_dl_parse *parse, struct step_dl_record *record,
                          struct step_dl_record **earlier)
{
    struct step_dl_scope_entry *entry = take_entry(parse, record->package, record->symbol);
    if (entry == NULL)
        return false;
    *earlier = entry->record;
    if (entry->record == NULL)
        entry->record = record;
    return true;
}

static struct step_dl_record *lookup_in(const struct step_dl_parse *parse,
                                        const struct step_dl_package *scope,
                                        const struct step_dl_name *name)
{
    for (const struct step_dl_name_part *part = name->first; part != NULL; part = part->next) {
        const struct step_dl_scope_entry *entry = find_entry(parse, scope, part->symbol);
        if (entry == NULL)
            return NULL;
        if (part->next == NULL)
            return entry->record;
        if ((scope = entry->package) == NULL)
            return NULL;
    }
    return NULL;
}

struct step_dl_record *step_dl_lookup(struct step_dl_parse *parse, struct step_dl_package *from,
                                      const struct step_dl_name *name, uint32_t limit)
{
    if (name->absolute)
        from = &parse->root;
    for (; from != NULL; from = from->parent) {
        struct step_dl_record *record = lookup_in(parse, from, name);
        if (record != NULL && record->index < limit)
            return record;
    }
    return NULL;
}
