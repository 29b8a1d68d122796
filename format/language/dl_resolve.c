/* SPDX-License-Identifier: Apache-2.0 */
/* From the parse tree to the tables of a definition: names are looked up, fields and attributes
 * inherited, modifiers applied. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dl_tree.h"

struct resolver {
    struct dl_parse *parse;
    struct dl_record **by_name; /* open addressing */
    size_t by_name_mask;
    struct dl_record **ordered; /* parents before children */
    uint32_t ordered_count;
    struct step_record *records;
    bool **by_value; /* of each record, of each field: are records held in place? */
    struct {
        uint32_t stamp, field;
    } by_field[4 * DL_FIELD_LIMIT]; /* names of the fields of the record being built */
    uint32_t stamp;                 /* entries with another are empty */
    uint32_t *nodes;                /* of each record: values nested in one, 0 while not counted */
};

static void *take(struct resolver *resolver, size_t count, size_t size)
{
    void *memory = NULL;
    if (count == 0 || size <= SIZE_MAX / count)
        memory = dl_arena_take(resolver->parse->arena, (count + (count == 0)) * size);
    if (memory == NULL)
        resolver->parse->out_of_memory = true;
    return memory;
}

static size_t hash_text(const char *text, size_t length)
{
    uint64_t hash = UINT64_C(1469598103934665603);
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char) text[i]) * UINT64_C(1099511628211);
    return (size_t) (hash ^ hash >> 32);
}

static struct dl_record **slot_of_name(struct resolver *resolver, const char *name, size_t length)
{
    size_t i = hash_text(name, length) & resolver->by_name_mask;
    while (resolver->by_name[i] != NULL &&
           (strncmp(resolver->by_name[i]->name, name, length) != 0 ||
            resolver->by_name[i]->name[length] != '\0'))
        i = (i + 1) & resolver->by_name_mask;
    return &resolver->by_name[i];
}

static bool index_names(struct resolver *resolver)
{
    size_t size = 16;
    while (size < 2 * (size_t) resolver->parse->record_count + 2)
        size *= 2;
    resolver->by_name = take(resolver, size, sizeof *resolver->by_name);
    resolver->by_name_mask = size - 1;
    if (resolver->by_name == NULL)
        return false;
    for (struct dl_record *record = resolver->parse->first_record; record != NULL;
         record = record->next) {
        struct dl_record **slot = slot_of_name(resolver, record->name, strlen(record->name));
        if (*slot != NULL)
            dl_fault(resolver->parse, record->place,
                     "record '%s' is defined twice (before at %u:%u)", record->name,
                     (*slot)->place.line, (*slot)->place.column);
        else
            *slot = record;
    }
    return true;
}

/* In the package itself, then in those around it; last as an absolute name.  `except` is passed
 * over on the way: a record is not its own parent. */
static struct dl_record *find_record(struct resolver *resolver, const char *package,
                                     const char *name, const struct dl_record *except)
{
    char full[2 * DL_NAME_LIMIT + 2];
    size_t length = strlen(package);
    if (length + strlen(name) + 2 > sizeof full)
        return *slot_of_name(resolver, name, strlen(name));
    while (length > 0) {
        int written = snprintf(full, sizeof full, "%.*s.%s", (int) length, package, name);
        struct dl_record *record = *slot_of_name(resolver, full, (size_t) written);
        if (record != NULL && record != except)
            return record;
        while (length > 0 && package[length - 1] != '.')
            length--;
        length -= length > 0;
    }
    return *slot_of_name(resolver, name, strlen(name));
}

static void find_parents(struct resolver *resolver)
{
    for (struct dl_record *record = resolver->parse->first_record; record != NULL;
         record = record->next) {
        if (record->parent == NULL)
            continue;
        record->parent_record = find_record(resolver, record->package, record->parent, record);
        if (record->parent_record == NULL)
            dl_fault(resolver->parse, record->parent_place, "there is no record '%s' to extend",
                     record->parent);
    }
}

/* Walks up to the first ancestor that has its place, then numbers downwards. */
static bool order_record(struct resolver *resolver, struct dl_record *record)
{
    struct dl_record *line[DL_INHERITANCE_LIMIT];
    uint32_t count = 0;
    for (struct dl_record *at = record; at != NULL && at->depth == 0; at = at->parent_record) {
        if (at->resolving || count == DL_INHERITANCE_LIMIT) {
            dl_fault(resolver->parse, record->place,
                     at->resolving ? "record '%s' extends itself"
                                   : "record '%s' has too many ancestors",
                     record->name);
            return false;
        }
        at->resolving = true;
        line[count++] = at;
    }
    while (count-- > 0) {
        struct dl_record *at = line[count];
        at->resolving = false;
        at->depth = at->parent_record != NULL ? at->parent_record->depth + 1 : 1;
        if (at->depth > DL_INHERITANCE_LIMIT) {
            dl_fault(resolver->parse, at->place, "record '%s' has too many ancestors", at->name);
            return false;
        }
        at->index = resolver->ordered_count;
        resolver->ordered[resolver->ordered_count++] = at;
    }
    return true;
}

static bool order_records(struct resolver *resolver)
{
    uint32_t count = resolver->parse->record_count;
    resolver->ordered = take(resolver, count, sizeof *resolver->ordered);
    resolver->records = take(resolver, count, sizeof *resolver->records);
    resolver->nodes = take(resolver, count, sizeof *resolver->nodes);
    resolver->by_value = take(resolver, count, sizeof *resolver->by_value);
    if (resolver->by_value == NULL || resolver->ordered == NULL || resolver->records == NULL ||
        resolver->nodes == NULL)
        return false;
    for (struct dl_record *record = resolver->parse->first_record; record != NULL;
         record = record->next)
        if (!order_record(resolver, record))
            return false;
    return true;
}

/* Attributes of `base` without those of groups that `more` replaces, then those of `more`. */
static struct step_attributes merge(struct resolver *resolver, struct step_attributes base,
                                    const struct dl_attribute *more, bool replaces)
{
    size_t count = base.count;
    for (const struct dl_attribute *at = more; at != NULL; at = at->next)
        count++;
    if (more == NULL)
        return base;
    if (count > DL_ATTRIBUTE_LIMIT) {
        dl_fault(resolver->parse, more->place, "more than %u attributes", DL_ATTRIBUTE_LIMIT);
        return base;
    }
    struct step_attribute *items = take(resolver, count, sizeof *items);
    if (items == NULL)
        return base;
    size_t used = 0;
    for (size_t i = 0; i < base.count; i++) {
        bool replaced = false;
        for (const struct dl_attribute *at = more; replaces && at != NULL; at = at->next)
            replaced = replaced || strcmp(at->group, base.items[i].group) == 0;
        if (!replaced)
            items[used++] = base.items[i];
    }
    for (const struct dl_attribute *at = more; at != NULL; at = at->next)
        items[used++] =
            (struct step_attribute){at->group, at->value, at->place.line, at->place.column};
    return (struct step_attributes){items, used};
}

/* "element", "element.element" and so on? */
static bool is_element_path(const char *path)
{
    while (strncmp(path, "element.", 8) == 0)
        path += 8;
    return strcmp(path, "element") == 0;
}

static void add_sub_attributes(struct resolver *resolver, struct step_field *field,
                               const char *path, const struct dl_attribute *more, bool replaces,
                               struct step_attributes base)
{
    if (more == NULL)
        return;
    if (field->sub_attribute_count >= DL_ATTRIBUTE_LIMIT) {
        dl_fault(resolver->parse, more->place, "more than %u parts are modified",
                 DL_ATTRIBUTE_LIMIT);
        return;
    }
    struct step_sub_attributes *items =
        take(resolver, field->sub_attribute_count + 1, sizeof *items);
    if (items == NULL)
        return;
    size_t found = field->sub_attribute_count;
    for (size_t i = 0; i < field->sub_attribute_count; i++) {
        items[i] = field->sub_attributes[i];
        if (strcmp(items[i].path, path) == 0)
            found = i;
    }
    if (found == field->sub_attribute_count) {
        items[found].path = path;
        items[found].attributes = base;
        field->sub_attribute_count++;
    }
    items[found].attributes = merge(resolver, items[found].attributes, more, replaces);
    field->sub_attributes = items;
}

/* `int <a> [] <b>`: the attributes of the elements are those of the path "element". */
static bool set_type(struct resolver *resolver, const struct dl_record *record,
                     struct step_field *field, const struct dl_type *type)
{
    static const char elements[] =
        "element.element.element.element.element.element.element.element";
    const size_t one = sizeof "element";
    field->attributes = merge(resolver, field->attributes, type->attributes, false);
    while (type->element != NULL) {
        if (++field->array_depth > DL_ARRAY_LIMIT) {
            dl_fault(resolver->parse, type->place, "arrays are nested more than %u deep",
                     DL_ARRAY_LIMIT);
            return false;
        }
        type = type->element;
        char *path = dl_arena_text(resolver->parse->arena, elements, field->array_depth * one - 1);
        if (path != NULL)
            add_sub_attributes(resolver, field, path, type->attributes, false,
                               (struct step_attributes){NULL, 0});
    }
    field->kind = type->kind;
    field->record = STEP_NO_RECORD;
    if (type->kind != STEP_TYPE_RECORD)
        return true;
    const struct dl_record *found = find_record(resolver, record->package, type->name, NULL);
    if (found == NULL)
        dl_fault(resolver->parse, type->place, "there is no type '%s'", type->name);
    else
        field->record = found->index;
    return found != NULL;
}

static struct step_field *find_field(struct step_field *fields, size_t count, const char *name,
                                     size_t length)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(fields[i].name, name, length) == 0 && fields[i].name[length] == '\0')
            return &fields[i];
    return NULL;
}

/* The place of a field's name in the index: one that is there, or where it belongs. */
static size_t place_of_field(struct resolver *resolver, const struct step_field *fields,
                             const char *name, size_t length)
{
    const size_t mask = 4 * DL_FIELD_LIMIT - 1;
    size_t i = hash_text(name, length) & mask;
    while (resolver->by_field[i].stamp == resolver->stamp) {
        const char *other = fields[resolver->by_field[i].field].name;
        if (strncmp(other, name, length) == 0 && other[length] == '\0')
            break;
        i = (i + 1) & mask;
    }
    return i;
}

static struct step_field *indexed_field(struct resolver *resolver, struct step_field *fields,
                                        const char *name, size_t length)
{
    size_t i = place_of_field(resolver, fields, name, length);
    return resolver->by_field[i].stamp == resolver->stamp ? &fields[resolver->by_field[i].field]
                                                          : NULL;
}

static void index_field(struct resolver *resolver, const struct step_field *fields, size_t field)
{
    size_t i = place_of_field(resolver, fields, fields[field].name, strlen(fields[field].name));
    resolver->by_field[i].stamp = resolver->stamp;
    resolver->by_field[i].field = (uint32_t) field;
}

static size_t add_own_fields(struct resolver *resolver, const struct dl_record *record,
                             struct step_field *fields, size_t count)
{
    for (const struct dl_field *own = record->fields; own != NULL; own = own->next) {
        struct step_field *field = &fields[count];
        if (indexed_field(resolver, fields, own->name, strlen(own->name)) != NULL) {
            dl_fault(resolver->parse, own->place, "field '%s' is in the record already%s",
                     own->name, record->parent != NULL ? ", or inherited" : "");
            continue;
        }
        field->name = own->name;
        field->description = own->description;
        field->declaring_record = record->index;
        if (!set_type(resolver, record, field, own->type))
            continue;
        field->attributes = merge(resolver, field->attributes, own->attributes, false);
        index_field(resolver, fields, count++);
    }
    return count;
}

/* Numbers of dictionary entries, by itself or as its elements?  An int keeps its value. */
static bool holds_identifiers(const struct step_field *field)
{
    const struct step_attributes *attributes = &field->attributes;
    size_t length = field->array_depth * sizeof "element" - (field->array_depth > 0);
    for (size_t i = 0; field->array_depth > 0 && i < field->sub_attribute_count; i++)
        if (strlen(field->sub_attributes[i].path) == length &&
            is_element_path(field->sub_attributes[i].path))
            attributes = &field->sub_attributes[i].attributes;
    return field->kind != STEP_TYPE_INT &&
           step_attributes_rule(attributes, "encoding", "identifier", NULL, NULL);
}

/* Each step of a modifier's path must lead somewhere. */
static bool path_leads(struct resolver *resolver, const struct step_field *field, const char *path,
                       const struct step_field **target)
{
    uint32_t depth = field->array_depth;
    const char *at = path;
    while (*at != '\0') {
        size_t length = strcspn(at, ".");
        bool is_last = at[length] == '\0';
        bool length_step = length == 6 && memcmp(at, "length", 6) == 0;
        if (depth > 0) {
            if (length_step && is_last) {
                *target = NULL;
                return true;
            }
            if (length != 7 || memcmp(at, "element", 7) != 0)
                return false;
            depth--;
        } else if (field->kind == STEP_TYPE_RECORD) {
            const struct step_record *inner = &resolver->records[field->record];
            field = find_field((struct step_field *) inner->fields, inner->field_count, at, length);
            if (field == NULL)
                return false;
            depth = field->array_depth;
            *target = field;
        } else {
            *target = NULL;
            return length_step && is_last && field->kind != STEP_TYPE_INT;
        }
        at += length + !is_last;
    }
    return true;
}

/* Elements have the attributes of their array until they have their own. */
static void modify_field(struct resolver *resolver, struct step_field *field,
                         const struct dl_modifier *modifier)
{
    const char *path = strchr(modifier->path, '.');
    struct step_attributes none = {NULL, 0};
    if (path == NULL)
        field->attributes =
            merge(resolver, field->attributes, modifier->attributes, modifier->replaces);
    else
        add_sub_attributes(resolver, field, path + 1, modifier->attributes, modifier->replaces,
                           is_element_path(path + 1) ? field->attributes : none);
}

static void apply_modifiers(struct resolver *resolver, const struct dl_record *record,
                            struct step_field *fields)
{
    for (const struct dl_modifier *modifier = record->modifiers; modifier != NULL;
         modifier = modifier->next) {
        int length = (int) strcspn(modifier->path, ".");
        struct step_field *field = indexed_field(resolver, fields, modifier->path, (size_t) length);
        if (field == NULL) {
            dl_fault(resolver->parse, modifier->place, "there is no field '%.*s' to modify", length,
                     modifier->path);
            continue;
        }
        bool inherited = field->declaring_record != record->index;
        bool was_identifier = inherited && holds_identifiers(field);
        modify_field(resolver, field, modifier);
        field->modified = field->modified || inherited;
        if (inherited && holds_identifiers(field) != was_identifier)
            dl_fault(resolver->parse, modifier->place,
                     "only the record that declares '%.*s' may say whether it is an identifier",
                     length, modifier->path);
    }
}

/* Which fields hold records in place; inherited ones are as in the parent. */
static void note_by_value(struct resolver *resolver, const struct step_record *record,
                          uint32_t index)
{
    bool *by_value = take(resolver, record->field_count, sizeof *by_value);
    size_t i = 0;
    if (by_value == NULL)
        return;
    resolver->by_value[index] = by_value;
    if (record->parent != STEP_NO_RECORD) {
        i = resolver->records[record->parent].field_count;
        memcpy(by_value, resolver->by_value[record->parent], i * sizeof *by_value);
    }
    for (; i < record->field_count; i++)
        by_value[i] =
            record->fields[i].kind == STEP_TYPE_RECORD && !holds_identifiers(&record->fields[i]);
}

static void build_record(struct resolver *resolver, const struct dl_record *record)
{
    struct step_record *out = &resolver->records[record->index];
    const struct step_record *parent =
        record->parent_record != NULL ? &resolver->records[record->parent_record->index] : NULL;
    size_t inherited = parent != NULL ? parent->field_count : 0, own = 0;
    for (const struct dl_field *field = record->fields; field != NULL; field = field->next)
        own++;
    out->name = record->name;
    out->label = record->label;
    out->description = record->description;
    out->parent = parent != NULL ? record->parent_record->index : STEP_NO_RECORD;
    struct step_attributes none = {NULL, 0};
    out->attributes =
        merge(resolver, parent != NULL && !record->drops_attributes ? parent->attributes : none,
              record->attributes, false);
    if (inherited + own > DL_FIELD_LIMIT) {
        dl_fault(resolver->parse, record->place, "record '%s' has more than %u fields",
                 record->name, DL_FIELD_LIMIT);
        return;
    }
    struct step_field *fields = take(resolver, inherited + own, sizeof *fields);
    if (fields == NULL)
        return;
    if (inherited != 0)
        memcpy(fields, parent->fields, inherited * sizeof *fields);
    resolver->stamp++;
    for (size_t i = 0; (own > 0 || record->modifiers != NULL) && i < inherited; i++)
        index_field(resolver, fields, i);
    out->fields = fields;
    out->field_count = add_own_fields(resolver, record, fields, inherited);
    apply_modifiers(resolver, record, fields);
    if (resolver->parse->fault_count == 0)
        note_by_value(resolver, out, record->index);
}

static bool makes_identifier(const struct dl_modifier *modifier)
{
    bool found = false;
    for (const struct dl_attribute *at = modifier->attributes; at != NULL; at = at->next) {
        const struct step_attribute item = {at->group, at->value, 0, 0};
        const struct step_attributes one = {&item, 1};
        found = found || step_attributes_rule(&one, "encoding", "identifier", NULL, NULL);
    }
    return found;
}

/* Modifier paths may lead through records that stand later: checked when all are built. */
static void check_paths(struct resolver *resolver, const struct dl_record *record)
{
    const struct step_record *built = &resolver->records[record->index];
    for (const struct dl_modifier *modifier = record->modifiers; modifier != NULL;
         modifier = modifier->next) {
        size_t length = strcspn(modifier->path, ".");
        if (modifier->path[length] == '\0')
            continue;
        const struct step_field *field = find_field((struct step_field *) built->fields,
                                                    built->field_count, modifier->path, length);
        const struct step_field *inner = NULL;
        if (field == NULL)
            continue;
        if (!path_leads(resolver, field, modifier->path + length + 1, &inner))
            dl_fault(resolver->parse, modifier->place, "'%s' names no part of a field",
                     modifier->path);
        else if (inner != NULL && inner->kind != STEP_TYPE_INT && makes_identifier(modifier) &&
                 !holds_identifiers(inner))
            dl_fault(resolver->parse, modifier->place,
                     "only the record that declares '%s' may say whether it is an identifier",
                     inner->name);
    }
}

/* Values nested in one of the record; 0 (and a fault) for a record that holds itself. */
static uint32_t count_nodes(struct resolver *resolver, uint32_t index, uint32_t depth)
{
    const uint32_t counting = UINT32_MAX;
    const struct step_record *record = &resolver->records[index];
    const struct dl_place place = resolver->ordered[index]->place;
    if (resolver->nodes[index] == counting || depth > 64) {
        dl_fault(resolver->parse, place, "record '%s' holds itself, or is nested too deep",
                 record->name);
        return 0;
    }
    if (resolver->nodes[index] != 0)
        return resolver->nodes[index];
    resolver->nodes[index] = counting;
    uint64_t nodes = 1;
    for (size_t i = 0; i < record->field_count && nodes <= DL_SLOT_LIMIT; i++) {
        const struct step_field *field = &record->fields[i];
        uint32_t inner =
            resolver->by_value[index][i] ? count_nodes(resolver, field->record, depth + 1) : 1;
        if (inner == 0)
            return 0;
        nodes += inner;
    }
    if (nodes > DL_SLOT_LIMIT) {
        dl_fault(resolver->parse, place, "record '%s' holds more than %u values", record->name,
                 DL_SLOT_LIMIT);
        return 0;
    }
    return resolver->nodes[index] = (uint32_t) nodes;
}

bool dl_resolve(struct dl_parse *parse, struct step_definition *out)
{
    struct resolver *resolver = dl_arena_take(parse->arena, sizeof *resolver);
    if (resolver == NULL)
        return false;
    resolver->parse = parse;
    if (!index_names(resolver))
        return false;
    find_parents(resolver);
    if (parse->fault_count != 0 || !order_records(resolver))
        return false;
    for (uint32_t i = 0; i < resolver->ordered_count && !parse->out_of_memory &&
                         parse->fault_count < DL_FAULT_LIMIT;
         i++)
        build_record(resolver, resolver->ordered[i]);
    if (parse->fault_count != 0 || parse->out_of_memory)
        return false;
    for (uint32_t i = 0; i < resolver->ordered_count; i++) {
        check_paths(resolver, resolver->ordered[i]);
        if (count_nodes(resolver, i, 0) == 0)
            return false;
    }
    out->records = resolver->records;
    out->record_count = resolver->ordered_count;
    return parse->fault_count == 0 && !parse->out_of_memory;
}
