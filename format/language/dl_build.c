/* SPDX-License-Identifier: Apache-2.0 */
/* Builds a record's fields and attributes: inherited, declared, modified. */
#include <string.h>

#include "format/core/rule.h"
#include "format/language/dl_resolver.h"

void *dl_resolver_take(struct dl_resolver *resolver, size_t count, size_t size)
{
    void *memory = NULL;
    if (count == 0 || size <= SIZE_MAX / count)
        memory = step_arena_zeroed(resolver->parse->arena, (count + (count == 0)) * size);
    if (memory == NULL)
        resolver->parse->out_of_memory = true;
    return memory;
}

/* Returns the attributes of `base` without groups that `more` replaces, followed by those of
 * `more`. */
static struct step_attributes dl_build_merge(struct dl_resolver *resolver,
                                             struct step_attributes base,
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
    struct step_attribute *items = dl_resolver_take(resolver, count, sizeof *items);
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

/* Returns true for "element", "element.element" and so on. */
static bool is_element_path(const char *path)
{
    while (strncmp(path, "element.", 8) == 0)
        path += 8;
    return strcmp(path, "element") == 0;
}

static void add_sub_attributes(struct dl_resolver *resolver, struct step_field *field,
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
        dl_resolver_take(resolver, field->sub_attribute_count + 1, sizeof *items);
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
    items[found].attributes = dl_build_merge(resolver, items[found].attributes, more, replaces);
    field->sub_attributes = items;
}

/* `int <a> [] <b>`: the attributes of the elements are those of the path "element". */
static bool set_type(struct dl_resolver *resolver, const struct dl_record *record,
                     struct step_field *field, const struct dl_type *type)
{
    static const char elements[] =
        "element.element.element.element.element.element.element.element";
    const size_t one = sizeof "element";
    field->attributes = dl_build_merge(resolver, field->attributes, type->attributes, false);
    while (type->element != NULL) {
        if (++field->array_depth > DL_ARRAY_LIMIT) {
            dl_fault(resolver->parse, type->place, "arrays are nested more than %u deep",
                     DL_ARRAY_LIMIT);
            return false;
        }
        type = type->element;
        char *path =
            step_arena_text(resolver->parse->arena, elements, field->array_depth * one - 1);
        if (path != NULL)
            add_sub_attributes(resolver, field, path, type->attributes, false,
                               (struct step_attributes){NULL, 0});
    }
    field->kind = type->kind;
    field->record = STEP_NO_RECORD;
    if (type->kind != STEP_TYPE_RECORD)
        return true;
    const struct dl_record *found =
        dl_scope_find_record(&resolver->scopes, record->scope, type->name, NULL);
    if (found == NULL)
        dl_fault(resolver->parse, type->place, "there is no type '%s'", type->name);
    else
        field->record = found->index;
    return found != NULL;
}

static uint32_t hash_field(const char *name, size_t length)
{
    return dl_index_hash(dl_hash(DL_HASH_START, name, length));
}

static struct step_field *indexed_field(struct dl_resolver *resolver, struct step_field *fields,
                                        const char *name, size_t length)
{
    uint32_t field;
    STEP_INDEX_EACH (&resolver->by_field, hash_field(name, length), field)
        if (step_rule_text_is(name, length, fields[field].name))
            return &fields[field];
    return NULL;
}

static void index_field(struct dl_resolver *resolver, const char *name, size_t field)
{
    if (!step_index_add(&resolver->by_field, hash_field(name, strlen(name)), (uint32_t) field))
        resolver->parse->out_of_memory = true;
}

static size_t add_own_fields(struct dl_resolver *resolver, const struct dl_record *record,
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
        field->attributes = dl_build_merge(resolver, field->attributes, own->attributes, false);
        index_field(resolver, own->name, count++);
    }
    return count;
}

/* Elements have the attributes of their array unless they have their own. */
static void modify_field(struct dl_resolver *resolver, struct step_field *field,
                         const struct dl_modifier *modifier)
{
    const char *path = strchr(modifier->path, '.');
    struct step_attributes none = {NULL, 0};
    if (path == NULL)
        field->attributes =
            dl_build_merge(resolver, field->attributes, modifier->attributes, modifier->replaces);
    else
        add_sub_attributes(resolver, field, path + 1, modifier->attributes, modifier->replaces,
                           is_element_path(path + 1) ? field->attributes : none);
}

static void apply_modifiers(struct dl_resolver *resolver, const struct dl_record *record,
                            struct step_field *fields)
{
    for (const struct dl_modifier *modifier = record->modifiers;
         modifier != NULL && !resolver->parse->out_of_memory; modifier = modifier->next) {
        int length = (int) strcspn(modifier->path, ".");
        struct step_field *field = indexed_field(resolver, fields, modifier->path, (size_t) length);
        if (field == NULL) {
            dl_fault(resolver->parse, modifier->place, "there is no field '%.*s' to modify", length,
                     modifier->path);
            continue;
        }
        bool inherited = field->declaring_record != record->index;
        bool was_identifier = inherited && step_field_is_identifier(field);
        modify_field(resolver, field, modifier);
        field->modified = field->modified || inherited;
        if (inherited && step_field_is_identifier(field) != was_identifier)
            dl_fault(resolver->parse, modifier->place,
                     "only the record that declares '%.*s' may say whether it is an identifier",
                     length, modifier->path);
    }
}

/* Marks the fields that hold records of a known type in place; inherited ones are as in the
 * parent. */
static void note_by_value(struct dl_resolver *resolver, const struct step_record *record,
                          uint32_t index)
{
    bool *by_value = dl_resolver_take(resolver, record->field_count, sizeof *by_value);
    size_t i = 0;
    if (by_value == NULL)
        return;
    resolver->by_value[index] = by_value;
    if (record->parent != STEP_NO_RECORD) {
        i = resolver->records[record->parent].field_count;
        memcpy(by_value, resolver->by_value[record->parent], i * sizeof *by_value);
    }
    for (; i < record->field_count; i++)
        by_value[i] = record->fields[i].kind == STEP_TYPE_RECORD &&
                      !step_field_is_identifier(&record->fields[i]) &&
                      !step_field_is_variant(&record->fields[i]);
}

void dl_build_record(struct dl_resolver *resolver, struct dl_record *record)
{
    struct step_record *out = &resolver->records[record->index];
    const struct step_record *parent =
        record->parent_record != NULL ? &resolver->records[record->parent_record->index] : NULL;
    size_t inherited = parent != NULL ? parent->field_count : 0, own = 0;
    for (const struct dl_field *field = record->fields; field != NULL; field = field->next)
        own++;
    record->broken = record->broken || (parent != NULL && record->parent_record->broken);
    out->name = record->name;
    out->label = record->label;
    out->description = record->description;
    out->parent = parent != NULL ? record->parent_record->index : STEP_NO_RECORD;
    struct step_attributes none = {NULL, 0};
    out->attributes = dl_build_merge(
        resolver, parent != NULL && !record->drops_attributes ? parent->attributes : none,
        record->attributes, false);
    if (inherited + own > DL_FIELD_LIMIT) {
        dl_fault(resolver->parse, record->place, "record '%s' has more than %u fields",
                 record->name, DL_FIELD_LIMIT);
        return;
    }
    struct step_field *fields = dl_resolver_take(resolver, inherited + own, sizeof *fields);
    if (fields == NULL || record->broken)
        return;
    if (inherited != 0)
        memcpy(fields, parent->fields, inherited * sizeof *fields);
    step_index_clear(&resolver->by_field);
    for (size_t i = 0; (own > 0 || record->modifiers != NULL) && i < inherited; i++)
        index_field(resolver, fields[i].name, i);
    out->fields = fields;
    out->field_count = add_own_fields(resolver, record, fields, inherited);
    apply_modifiers(resolver, record, fields);
    if (resolver->parse->fault_count == 0)
        note_by_value(resolver, out, record->index);
}
