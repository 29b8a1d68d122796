/* SPDX-License-Identifier: Apache-2.0 */
/* Flattens a record's fields to a list, each with its properties. */
#include <stdio.h>
#include <string.h>

#include "format/metatf/dtd_resolve.h"

struct dtd_record *dtd_find_record(const struct dtd_defs *defs, const char *name)
{
    for (struct dtd_record *record = defs->records; record != NULL; record = record->next)
        if (strcmp(record->name, name) == 0)
            return record;
    return NULL;
}

static const char predefined_vfield[] = "vfield";

uint32_t dtd_add_cell(struct section_work *section, const void *scope, const char *name)
{
    for (uint32_t i = 0; i < section->out->cell_count; i++)
        if (section->cells[i].scope == scope && strcmp(section->cells[i].name, name) == 0)
            return i;
    if (section->out->cell_count == section->cell_capacity) {
        uint32_t capacity = section->cell_capacity * 2 + 16;
        struct cell *cells = dtd_zeroed(section->parse, (size_t) capacity * sizeof *cells);
        if (cells == NULL)
            return 0;
        if (section->cell_capacity > 0)
            memcpy(cells, section->cells, section->cell_capacity * sizeof *cells);
        section->cells = cells;
        section->cell_capacity = capacity;
    }
    section->cells[section->out->cell_count] = (struct cell){scope, name};
    return section->out->cell_count++;
}

static bool has_path(const struct record_work *record, const char *path)
{
    for (uint32_t i = 0; i < record->count; i++)
        if (strcmp(record->fields[i].path, path) == 0)
            return true;
    return false;
}

/* Makes the path: "address", and for the second field of that name "address2". */
static void make_path(const struct record_work *record, const char *name, const char *prefix,
                      char *path, size_t space)
{
    unsigned copies = 1;
    size_t length = (size_t) snprintf(path, space, "%s%s", prefix, name);
    for (uint32_t i = 0; i < record->count; i++)
        if (strcmp(record->fields[i].name, name) == 0 &&
            strncmp(record->fields[i].path, path, length) == 0)
            copies++;
    if (copies == 1 && has_path(record, path))
        copies++;
    for (; copies > 1 && snprintf(path + length, space - length, "%u", copies) > 0 &&
           has_path(record, path);)
        copies++;
}

struct metatf_field *dtd_add_field(struct record_work *record, const char *name, const char *prefix,
                                   struct dtd_place place)
{
    struct dtd_parse *parse = record->section->parse;
    if (record->count == METATF_FIELD_LIMIT || ++parse->field_count > DTD_FIELDS_LIMIT) {
        dtd_fault(parse, place, "record %s has too many fields", record->name);
        return NULL;
    }
    size_t space = strlen(prefix) + strlen(name) + 16;
    if (space >= 4096) {
        dtd_fault(parse, place, "the names of nested records are too long");
        return NULL;
    }
    char *path = dtd_zeroed(parse, space);
    if (path == NULL)
        return NULL;
    make_path(record, name, prefix, path, space);
    struct metatf_field *field = &record->fields[record->count];
    *field = (struct metatf_field){.name = name,
                                   .path = path,
                                   .width_field = METATF_NO_FIELD,
                                   .argument_field = METATF_NO_FIELD,
                                   .value_field = METATF_NO_FIELD};
    record->groups[record->count] = record->group;
    return field;
}

static bool add_simple(struct record_work *record, const char *name, const char *prefix,
                       struct dtd_place place, const struct scope *scope)
{
    struct dtd_parse *parse = record->section->parse;
    if (strcmp(name, "tag") == 0) {
        dtd_fault(parse, place, "the tag of record %s is not its first field", record->name);
        return false;
    }
    struct metatf_field *field = dtd_add_field(record, name, prefix, place);
    if (field == NULL)
        return false;
    const struct scope *where = dtd_take_properties(record, field, place, scope);
    field->cell = dtd_add_cell(record->section, where != NULL ? where->identity : NULL, name);
    record->count++;
    return true;
}

static const char *extend(struct record_work *record, const char *prefix, const char *name)
{
    size_t space = strlen(prefix) + strlen(name) + 2;
    char *text = dtd_zeroed(record->section->parse, space);
    if (text != NULL)
        snprintf(text, space, "%s%s.", prefix, name);
    return text;
}

static bool dtd_fields_add_record(struct record_work *record, struct dtd_record *inner,
                                  const char *prefix, const struct scope *outer,
                                  const struct dtd_section *section)
{
    const struct scope scope = {inner->properties, outer, inner, section};
    const char *text = extend(record, prefix, inner->name);
    /* `a : b` only renames b's fields */
    const struct dtd_field *field = inner->field;
    return text != NULL && dtd_add(record, field, text, &scope);
}

/* Finds the record that a name means in the scope, and the scope that defines it. */
static struct dtd_record *dtd_fields_look_up(const struct record_work *record,
                                             const struct scope *scope, const char *name,
                                             struct scope *definition)
{
    struct dtd_parse *parse = record->section->parse;
    static struct scope none;
    *definition = none;
    definition->properties = parse->defs.properties;
    definition->identity = &parse->defs;
    const struct dtd_section *section = scope->section;
    struct dtd_record *found = section != NULL ? dtd_find_record(&section->defs, name) : NULL;
    if (found != NULL) {
        definition->section = section;
        return found;
    }
    return dtd_find_record(&parse->defs, name);
}

/* Adds the fields of vfield : (length, data), as defined in the paper. */
bool dtd_add_vfield(struct record_work *record, const char *prefix)
{
    struct metatf_field *length = dtd_add_field(record, "length", prefix, record->place);
    if (length == NULL)
        return false;
    length->width = 1;
    length->cell = dtd_add_cell(record->section, predefined_vfield, "length");
    uint32_t index = record->count++;
    struct metatf_field *data = dtd_add_field(record, "data", prefix, record->place);
    if (data == NULL)
        return false;
    data->kind = METATF_BYTES;
    data->width_field = index;
    data->cell = dtd_add_cell(record->section, predefined_vfield, "data");
    record->count++;
    return true;
}

static bool add_named(struct record_work *record, const struct dtd_field *field, const char *prefix,
                      const struct scope *scope, bool is_alias)
{
    struct scope definition;
    struct scope section_scope;
    struct dtd_record *found = dtd_fields_look_up(record, scope, field->name, &definition);
    if (found != NULL) {
        const struct scope *outer = &definition;
        if (definition.section != NULL) {
            section_scope = (struct scope){definition.section->defs.properties, &definition,
                                           definition.section, definition.section};
            outer = &section_scope;
        }
        if (!is_alias)
            return dtd_fields_add_record(record, found, prefix, outer, definition.section);
        const struct scope inner = {found->properties, outer, found, definition.section};
        return dtd_add(record, found->field, prefix, &inner);
    }
    if (strcmp(field->name, predefined_vfield) == 0) {
        const char *text = is_alias ? prefix : extend(record, prefix, field->name);
        return text != NULL && dtd_add_vfield(record, text);
    }
    return add_simple(record, field->name, prefix, field->place, scope);
}

bool dtd_add_list(struct record_work *record, const struct dtd_field *field, const char *prefix,
                  const struct scope *scope)
{
    bool good = true;
    for (; field != NULL && good; field = field->next)
        good = field->form == DTD_NAME ? add_named(record, field, prefix, scope, false)
                                       : dtd_add(record, field, prefix, scope);
    return good;
}

static bool add_repeat(struct record_work *record, const struct dtd_field *field,
                       const char *prefix, const struct scope *scope)
{
    uint32_t counter = record->count;
    if (!add_simple(record, field->name, prefix, field->place, scope))
        return false;
    if (record->count != counter + 1 || record->fields[counter].kind != METATF_NUMBER) {
        dtd_fault(record->section->parse, field->place, "%s is no number and cannot count",
                  field->name);
        return false;
    }
    uint32_t outer = record->group;
    if (record->group_count + 1 >= METATF_FIELD_LIMIT)
        return false;
    record->group = ++record->group_count;
    record->group_parents[record->group] = outer;
    bool good = dtd_add_list(record, field->children, prefix, scope);
    record->group = outer;
    record->fields[counter].repeat = record->count - counter - 1;
    return good;
}

/* Adds the fields after a ':' or in a list.  Returns false after reporting a fault. */
bool dtd_add(struct record_work *record, const struct dtd_field *field, const char *prefix,
             const struct scope *scope)
{
    bool good = false;
    if (record->depth == DTD_DEPTH_LIMIT) {
        dtd_fault(record->section->parse, field->place,
                  "record %s contains itself, or is nested more than %u deep", record->name,
                  DTD_DEPTH_LIMIT);
        return false;
    }
    record->depth++;
    switch (field->form) {
    case DTD_NAME:
        good = add_named(record, field, prefix, scope, true);
        break;
    case DTD_GROUP:
        good = dtd_add_list(record, field->children, prefix, scope);
        break;
    case DTD_REPEAT:
        good = add_repeat(record, field, prefix, scope);
        break;
    case DTD_RECORD:
        good = dtd_fields_add_record(record, field->record, prefix, scope, scope->section);
        break;
    }
    record->depth--;
    return good;
}
