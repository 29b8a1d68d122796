/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the tree of a DTD to its tables.  A record's fields are taken apart into a flat list; each
 * gets its properties from the innermost scope that has them: the record that declares it, the
 * records around that, the section, the DTD (all names are statically scoped).
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "format/metatf/dtd_tree.h"

/* Where properties may stand. */
struct scope {
    struct dtd_property *properties;
    const struct scope *outer;
    const void *identity; /* the record, section or DTD of the tree */
    const struct dtd_section *section;
};

struct cell {
    const void *scope;
    const char *name;
};

/* A section while its records are made. */
struct section_work {
    struct dtd_parse *parse;
    const struct dtd_section *tree; /* NULL: the global one */
    struct metatf_section *out;
    struct cell *cells;
    uint32_t cell_capacity;
    uint32_t tag_width;
};

/* A record while its fields are found. */
struct record_work {
    struct section_work *section;
    struct dtd_place place;
    const char *name;
    struct metatf_field *fields;
    uint32_t *groups; /* of each field the repeated group that it stands in */
    uint32_t count;
    uint32_t group_parents[METATF_FIELD_LIMIT];
    uint32_t group; /* 0: none */
    uint32_t group_count;
    uint32_t depth;
};

static struct dtd_property *find_in(struct dtd_property *properties, const char *field,
                                    const char *name)
{
    for (; properties != NULL; properties = properties->next)
        if (strcmp(properties->field, field) == 0 && strcmp(properties->property, name) == 0)
            return properties;
    return NULL;
}

static struct dtd_property *find(const struct scope *scope, const char *field, const char *name,
                                 const struct scope **where)
{
    for (; scope != NULL; scope = scope->outer) {
        struct dtd_property *found = find_in(scope->properties, field, name);
        if (found != NULL) {
            found->used = true;
            if (where != NULL)
                *where = scope;
            return found;
        }
    }
    return NULL;
}

/* ---- records by name ---- */

static const char predefined_vfield[] = "vfield";

static struct dtd_record *find_record(const struct dtd_defs *defs, const char *name)
{
    for (struct dtd_record *record = defs->records; record != NULL; record = record->next)
        if (strcmp(record->name, name) == 0)
            return record;
    return NULL;
}

/* ---- fields ---- */

static uint32_t add_cell(struct section_work *section, const void *scope, const char *name)
{
    for (uint32_t i = 0; i < section->out->cell_count; i++)
        if (section->cells[i].scope == scope && strcmp(section->cells[i].name, name) == 0)
            return i;
    if (section->out->cell_count == section->cell_capacity) {
        uint32_t capacity = section->cell_capacity * 2 + 16;
        struct cell *cells =
            step_arena_zeroed(section->parse->arena, (size_t) capacity * sizeof *cells);
        if (cells == NULL) {
            section->parse->out_of_memory = true;
            return 0;
        }
        if (section->cell_capacity > 0)
            memcpy(cells, section->cells, section->cell_capacity * sizeof *cells);
        section->cells = cells;
        section->cell_capacity = capacity;
    }
    section->cells[section->out->cell_count] = (struct cell){scope, name};
    return section->out->cell_count++;
}

static bool sees(const struct record_work *record, uint32_t group)
{
    for (uint32_t at = record->group;; at = record->group_parents[at]) {
        if (at == group)
            return true;
        if (at == 0)
            return false;
    }
}

/* The nearest field before the one that is being made; METATF_NO_FIELD is a fault, told. */
static uint32_t refer(struct record_work *record, const char *field,
                      const struct dtd_argument *argument)
{
    struct dtd_parse *parse = record->section->parse;
    if (strcmp(argument->property, "value") != 0) {
        dtd_fault(parse, argument->place, "only a field's value can be referred to here, not %s",
                  argument->property);
        return METATF_NO_FIELD;
    }
    for (uint32_t i = record->count; i-- > 0;)
        if (strcmp(record->fields[i].name, argument->field) == 0 &&
            sees(record, record->groups[i]) && record->fields[i].kind == METATF_NUMBER)
            return i;
    if (strcmp(argument->field, field) == 0)
        dtd_fault(parse, argument->place, "%s refers to itself", field);
    else
        dtd_fault(parse, argument->place, "record %s has no number %s before %s", record->name,
                  argument->field, field);
    return METATF_NO_FIELD;
}

static void take_width(struct record_work *record, const struct scope *scope,
                       struct metatf_field *field, const struct dtd_property *property,
                       unsigned depth)
{
    struct dtd_parse *parse = record->section->parse;
    const struct dtd_argument *argument = &property->arguments[0];
    if (property->word != NULL || property->argument_count != 1) {
        dtd_fault(parse, property->place, "the width of %s is no number and no field's value",
                  field->name);
    } else if (!argument->is_reference) {
        field->width = (uint32_t) argument->number;
        if (argument->number > METATF_RECORD_BYTES_MAX)
            dtd_fault(parse, argument->place, "the width of %s is more than %u bytes", field->name,
                      METATF_RECORD_BYTES_MAX);
    } else if (strcmp(argument->property, "width") == 0) {
        const struct dtd_property *other =
            depth < DTD_DEPTH_LIMIT ? find(scope, argument->field, "width", NULL) : NULL;
        if (depth >= DTD_DEPTH_LIMIT)
            dtd_fault(parse, argument->place, "the width of %s refers to itself", field->name);
        else if (other != NULL)
            take_width(record, scope, field, other, depth + 1);
        else if (strcmp(argument->field, "tag") == 0)
            field->width = record->section->tag_width;
        else
            dtd_fault(parse, argument->place, "%s has no width", argument->field);
    } else {
        field->width_field = refer(record, field->name, argument);
        field->kind = METATF_BYTES;
    }
    if (field->width > STEP_FIELD_WIDTH_MAX)
        field->kind = METATF_BYTES;
}

static const struct {
    const char *word;
    uint8_t least, most;
} interpretations[STEP_FIELD_INTERPRETATION_COUNT] = {
    [STEP_FIELD_NONE] = {"none", 0, 0},
    [STEP_FIELD_DEFAULT] = {"default", 1, 1},
    [STEP_FIELD_BASE_OFFSET] = {"baseOffset", 1, 1},
    [STEP_FIELD_DELTA] = {"delta", 1, 1},
    [STEP_FIELD_STRIDE] = {"stride", 2, 2},
    [STEP_FIELD_SECTION_OFFSET] = {"sectionOffset", 1, 1},
    [STEP_FIELD_SECTION_STRIDE] = {"sectionStride", 2, 2},
};

static bool take_arguments(struct record_work *record, struct metatf_field *field,
                           const struct dtd_property *property)
{
    struct dtd_parse *parse = record->section->parse;
    for (uint32_t i = 0; i < property->argument_count; i++) {
        const struct dtd_argument *argument = &property->arguments[i];
        bool may_refer = i == 0 && (field->interpretation == STEP_FIELD_DEFAULT ||
                                    field->interpretation == STEP_FIELD_BASE_OFFSET);
        if (argument->is_reference && !may_refer) {
            dtd_fault(parse, argument->place, "%s of %s takes numbers", property->word,
                      field->name);
            return false;
        }
        if (argument->is_reference)
            field->argument_field = refer(record, field->name, argument);
        else if (i == 0)
            field->argument = argument->number;
        else
            field->stride = argument->number;
    }
    return true;
}

/* A number is what one stride passes over; in a section of records, behind the record's tag. */
static void check_stride(struct record_work *record, const struct metatf_field *field,
                         const struct dtd_property *property, bool has_records)
{
    uint32_t tag = has_records ? record->section->tag_width : 0;
    if (field->stride < tag + 1 || field->stride > tag + STEP_FIELD_WIDTH_MAX)
        dtd_fault(record->section->parse, property->place,
                  "the stride through a section%s is %" PRIu32 " to %" PRIu32 " bytes",
                  has_records ? " of records" : "", tag + 1, tag + STEP_FIELD_WIDTH_MAX);
}

/* The section that an interpretation names; its place in the tree tells what it is. */
static void check_section(struct record_work *record, const struct metatf_field *field,
                          const struct dtd_property *property)
{
    struct dtd_parse *parse = record->section->parse;
    const struct dtd_section *section = parse->sections;
    while (section != NULL && section->number != field->argument)
        section = section->next;
    if (section == NULL && field->argument != 0)
        dtd_fault(parse, property->place, "there is no section %" PRIu64, field->argument);
    else if (field->interpretation == STEP_FIELD_SECTION_STRIDE &&
             (section == NULL || section == record->section->tree))
        dtd_fault(parse, property->place, "sectionStride goes through another section");
    else if (field->interpretation == STEP_FIELD_SECTION_STRIDE)
        check_stride(record, field, property, section->defs.records != NULL);
}

static void take_interpretation(struct record_work *record, struct metatf_field *field,
                                const struct dtd_property *property)
{
    struct dtd_parse *parse = record->section->parse;
    uint8_t i = 0;
    while (i < STEP_FIELD_INTERPRETATION_COUNT &&
           (property->word == NULL || strcmp(property->word, interpretations[i].word) != 0))
        i++;
    if (i == STEP_FIELD_INTERPRETATION_COUNT) {
        dtd_fault(parse, property->place, "the interpretation of %s is none that there is",
                  field->name);
        return;
    }
    if (property->argument_count < interpretations[i].least ||
        property->argument_count > interpretations[i].most) {
        dtd_fault(parse, property->place, "%s takes %u argument%s", property->word,
                  interpretations[i].least, interpretations[i].least == 1 ? "" : "s");
        return;
    }
    field->interpretation = i;
    if (take_arguments(record, field, property) &&
        (i == STEP_FIELD_SECTION_OFFSET || i == STEP_FIELD_SECTION_STRIDE))
        check_section(record, field, property);
    if (field->kind == METATF_BYTES && i != STEP_FIELD_NONE && i != STEP_FIELD_DEFAULT)
        dtd_fault(parse, property->place, "%s is bytes; it can be none or default, not %s",
                  field->name, property->word);
}

static void take_value(struct record_work *record, struct metatf_field *field,
                       const struct dtd_property *property)
{
    const struct dtd_argument *argument = &property->arguments[0];
    if (property->word != NULL || property->argument_count != 1)
        dtd_fault(record->section->parse, property->place,
                  "the value of %s is no number and no field's value", field->name);
    else if (field->kind == METATF_BYTES)
        dtd_fault(record->section->parse, property->place,
                  "%s is bytes; a value cannot be prescribed", field->name);
    field->has_value = true;
    field->value = argument->number;
    if (argument->is_reference)
        field->value_field = refer(record, field->name, argument);
}

static bool has_path(const struct record_work *record, const char *path)
{
    for (uint32_t i = 0; i < record->count; i++)
        if (strcmp(record->fields[i].path, path) == 0)
            return true;
    return false;
}

/* "address", and the second of that name "address2". */
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

static struct metatf_field *add_field(struct record_work *record, const char *name,
                                      const char *prefix, struct dtd_place place)
{
    struct dtd_parse *parse = record->section->parse;
    if (record->count == METATF_FIELD_LIMIT || ++parse->field_count > DTD_FIELDS_LIMIT) {
        dtd_fault(parse, place, "record %s has too many fields", record->name);
        return NULL;
    }
    size_t space = strlen(prefix) + strlen(name) + 16;
    char *path = space < 4096 ? step_arena_zeroed(parse->arena, space) : NULL;
    if (path == NULL) {
        if (space < 4096)
            parse->out_of_memory = true;
        else
            dtd_fault(parse, place, "the names of nested records are too long");
        return NULL;
    }
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
    struct metatf_field *field = add_field(record, name, prefix, place);
    if (field == NULL)
        return false;
    const struct scope *where = NULL;
    const struct dtd_property *width = find(scope, name, "width", NULL);
    const struct dtd_property *interpretation = find(scope, name, "interpretation", &where);
    const struct dtd_property *value = find(scope, name, "value", NULL);
    if (width != NULL)
        take_width(record, scope, field, width, 0);
    if (interpretation != NULL)
        take_interpretation(record, field, interpretation);
    else
        dtd_fault(parse, place, "field %s of record %s has no interpretation", name, record->name);
    if (interpretation != NULL && width == NULL &&
        !step_field_stores_nothing(field->interpretation))
        dtd_fault(parse, place, "field %s of record %s has no width", name, record->name);
    if (value != NULL)
        take_value(record, field, value);
    field->cell = add_cell(record->section, where != NULL ? where->identity : NULL, name);
    record->count++;
    return true;
}

static bool add(struct record_work *record, const struct dtd_field *field, const char *prefix,
                const struct scope *scope);

static const char *extend(struct record_work *record, const char *prefix, const char *name)
{
    size_t space = strlen(prefix) + strlen(name) + 2;
    char *text = step_arena_zeroed(record->section->parse->arena, space);
    if (text == NULL) {
        record->section->parse->out_of_memory = true;
        return NULL;
    }
    snprintf(text, space, "%s%s.", prefix, name);
    return text;
}

static bool add_record(struct record_work *record, struct dtd_record *inner, const char *prefix,
                       const struct scope *outer, const struct dtd_section *section)
{
    const struct scope scope = {inner->properties, outer, inner, section};
    const char *text = extend(record, prefix, inner->name);
    /* `a : b` only names b's fields anew */
    const struct dtd_field *field = inner->field;
    return text != NULL && add(record, field, text, &scope);
}

/* The record that a name stands for in the scope, and the scope that it was defined in. */
static struct dtd_record *look_up(const struct record_work *record, const struct scope *scope,
                                  const char *name, struct scope *definition)
{
    struct dtd_parse *parse = record->section->parse;
    static struct scope none;
    *definition = none;
    definition->properties = parse->defs.properties;
    definition->identity = &parse->defs;
    const struct dtd_section *section = scope->section;
    struct dtd_record *found = section != NULL ? find_record(&section->defs, name) : NULL;
    if (found != NULL) {
        definition->section = section;
        return found;
    }
    return find_record(&parse->defs, name);
}

/* vfield : (length, data), as the paper defines it. */
static bool add_vfield(struct record_work *record, const char *prefix)
{
    struct metatf_field *length = add_field(record, "length", prefix, record->place);
    if (length == NULL)
        return false;
    length->width = 1;
    length->cell = add_cell(record->section, predefined_vfield, "length");
    uint32_t index = record->count++;
    struct metatf_field *data = add_field(record, "data", prefix, record->place);
    if (data == NULL)
        return false;
    data->kind = METATF_BYTES;
    data->width_field = index;
    data->cell = add_cell(record->section, predefined_vfield, "data");
    record->count++;
    return true;
}

static bool add_named(struct record_work *record, const struct dtd_field *field, const char *prefix,
                      const struct scope *scope, bool is_alias)
{
    struct scope definition;
    struct scope section_scope;
    struct dtd_record *found = look_up(record, scope, field->name, &definition);
    if (found != NULL) {
        const struct scope *outer = &definition;
        if (definition.section != NULL) {
            section_scope = (struct scope){definition.section->defs.properties, &definition,
                                           definition.section, definition.section};
            outer = &section_scope;
        }
        if (!is_alias)
            return add_record(record, found, prefix, outer, definition.section);
        const struct scope inner = {found->properties, outer, found, definition.section};
        return add(record, found->field, prefix, &inner);
    }
    if (strcmp(field->name, predefined_vfield) == 0) {
        const char *text = is_alias ? prefix : extend(record, prefix, field->name);
        return text != NULL && add_vfield(record, text);
    }
    return add_simple(record, field->name, prefix, field->place, scope);
}

static bool add_list(struct record_work *record, const struct dtd_field *field, const char *prefix,
                     const struct scope *scope)
{
    bool good = true;
    for (; field != NULL && good; field = field->next)
        good = field->form == DTD_NAME ? add_named(record, field, prefix, scope, false)
                                       : add(record, field, prefix, scope);
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
    bool good = add_list(record, field->children, prefix, scope);
    record->group = outer;
    record->fields[counter].repeat = record->count - counter - 1;
    return good;
}

/* Adds the fields of what stands after a ':' or in a list; false: a fault was told. */
static bool add(struct record_work *record, const struct dtd_field *field, const char *prefix,
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
        good = add_list(record, field->children, prefix, scope);
        break;
    case DTD_REPEAT:
        good = add_repeat(record, field, prefix, scope);
        break;
    case DTD_RECORD:
        good = add_record(record, field->record, prefix, scope, scope->section);
        break;
    }
    record->depth--;
    return good;
}

/* ---- records ---- */

static void check_record_properties(struct dtd_parse *parse, const struct dtd_record *record)
{
    for (struct dtd_property *property = record->properties; property != NULL;
         property = property->next) {
        bool standard = strcmp(property->property, "width") == 0 ||
                        strcmp(property->property, "interpretation") == 0 ||
                        strcmp(property->property, "value") == 0;
        if (standard && !property->used)
            dtd_fault(parse, property->place, "record %s has no field %s of its own", record->name,
                      property->field);
    }
}

static bool has_explicit_tag(const struct dtd_record *record)
{
    const struct dtd_field *field = record->field;
    if (field->form == DTD_GROUP)
        field = field->children;
    return field->form == DTD_NAME && strcmp(field->name, "tag") == 0;
}

static void start_record(struct record_work *record, struct metatf_record *out)
{
    struct metatf_field *tag = add_field(record, "tag", "", record->place);
    if (tag == NULL)
        return;
    tag->width = record->section->tag_width;
    tag->has_value = true;
    tag->value = out->tag;
    tag->cell = add_cell(record->section, record->section->parse, "tag");
    record->count = 1;
    record->depth = 1;
}

static bool finish_record(struct record_work *record, struct metatf_record *out)
{
    struct dtd_parse *parse = record->section->parse;
    struct metatf_field *fields =
        step_arena_zeroed(parse->arena, record->count * sizeof *record->fields);
    if (fields == NULL) {
        parse->out_of_memory = true;
        return false;
    }
    memcpy(fields, record->fields, record->count * sizeof *fields);
    out->fields = fields;
    out->field_count = record->count;
    out->first_state = record->section->out->state_count;
    record->section->out->state_count += record->count;
    return true;
}

static bool make_record(struct record_work *record, struct dtd_record *tree,
                        const struct dtd_section *home, struct metatf_record *out)
{
    struct dtd_parse *parse = record->section->parse;
    const struct scope global = {parse->defs.properties, NULL, &parse->defs, NULL};
    const struct scope local = {home != NULL ? home->defs.properties : NULL, &global, home, home};
    const struct scope scope = {tree->properties, home != NULL ? &local : &global, tree, home};
    record->name = tree->name;
    record->place = tree->place;
    record->count = record->group = record->group_count = 0;
    const struct dtd_property *value = find_in(tree->properties, "tag", "value");
    const struct dtd_argument *tag = &value->arguments[0];
    if (value->word != NULL || tag->is_reference ||
        !step_fits_unsigned(tag->number, record->section->tag_width)) {
        dtd_fault(parse, value->place, "the tag of record %s is no number of %u byte%s", tree->name,
                  record->section->tag_width, record->section->tag_width == 1 ? "" : "s");
        return false;
    }
    *out = (struct metatf_record){.name = tree->name, .tag = tag->number};
    start_record(record, out);
    bool good = record->count == 1;
    if (good && has_explicit_tag(tree)) /* what follows it in the list */
        good = tree->field->form == DTD_NAME ||
               add_list(record, tree->field->children->next, "", &scope);
    else
        good = good && add(record, tree->field, "", &scope);
    return good && finish_record(record, out);
}

static bool make_predefined(struct record_work *record, struct metatf_record *out)
{
    record->name = out->name;
    record->count = record->group = record->group_count = 0;
    start_record(record, out);
    bool good = record->count == 1;
    if (good && out->role == METATF_COMMENT)
        good = add_vfield(record, "");
    if (good && out->role == METATF_SECTION) {
        struct metatf_field *number = add_field(record, "number", "", record->place);
        if ((good = number != NULL)) {
            number->width = 1;
            number->cell = add_cell(record->section, record->section->parse, "number");
            record->count++;
        }
    }
    return good && finish_record(record, out);
}

/* ---- sections ---- */

static bool is_event(struct dtd_record *record)
{
    struct dtd_property *value = find_in(record->properties, "tag", "value");
    if (value != NULL)
        value->used = true;
    return value != NULL;
}

static bool tag_taken(const struct metatf_section *section, uint32_t count, uint64_t tag)
{
    for (uint32_t i = 0; i < count; i++)
        if (section->records[i].tag == tag)
            return true;
    return false;
}

static bool make_list(struct record_work *work, struct metatf_record *records,
                      struct dtd_record *tree, const struct dtd_section *home)
{
    struct metatf_section *out = work->section->out;
    const uint32_t own_count = out->record_count;
    for (; tree != NULL; tree = tree->next) {
        if (!is_event(tree)) {
            if (has_explicit_tag(tree))
                dtd_fault(work->section->parse, tree->place, "record %s has no tag.value",
                          tree->name);
            continue;
        }
        struct metatf_record *record = &records[out->record_count];
        if (!make_record(work, tree, home, record))
            return false;
        if (home == NULL && tag_taken(out, own_count, record->tag))
            continue; /* within this section the tag is that of a record of its own */
        if (tag_taken(out, out->record_count, record->tag)) {
            dtd_fault(work->section->parse, tree->place,
                      "another record of the section has tag %" PRIu64, record->tag);
            return false;
        }
        out->record_count++;
    }
    return true;
}

/* Where a record of the DTD has the tag of a predefined one, that one goes to the first free tag
 * above all others. */
static bool make_all_predefined(struct record_work *work, struct metatf_record *records)
{
    static const struct {
        const char *name;
        enum metatf_role role;
    } rows[] = {
        {"comment", METATF_COMMENT}, {"section", METATF_SECTION}, {"metadata", METATF_METADATA}};
    struct metatf_section *out = work->section->out;
    uint32_t own = out->record_count;
    uint64_t above = 3;
    for (uint32_t i = 0; i < own; i++)
        if (records[i].tag > above)
            above = records[i].tag;
    for (uint32_t i = 0; i < 3; i++) {
        uint64_t tag = i + 1;
        if (tag_taken(out, own, tag))
            tag = ++above;
        if (!step_fits_unsigned(tag, work->section->tag_width) || tag == 0) {
            dtd_fault(work->section->parse, work->place, "no tag is left for the record %s",
                      rows[i].name);
            return false;
        }
        struct metatf_record *record = &records[out->record_count++];
        *record = (struct metatf_record){.name = rows[i].name, .role = rows[i].role, .tag = tag};
        if (!make_predefined(work, record))
            return false;
    }
    return true;
}

static uint32_t count_records(const struct dtd_record *record)
{
    uint32_t count = 0;
    for (; record != NULL; record = record->next)
        count++;
    return count;
}

static bool make_section(struct record_work *work, struct section_work *section)
{
    struct dtd_parse *parse = section->parse;
    const struct dtd_section *tree = section->tree;
    struct metatf_section *out = section->out;
    uint32_t count = count_records(parse->defs.records) + 3;
    if (tree != NULL)
        count += count_records(tree->defs.records);
    struct metatf_record *records = step_arena_zeroed(parse->arena, count * sizeof *records);
    if (records == NULL) {
        parse->out_of_memory = true;
        return false;
    }
    out->name = tree != NULL ? tree->name : "";
    out->number = tree != NULL ? (uint32_t) tree->number : 0;
    out->records = records;
    out->is_data = tree != NULL && tree->defs.records == NULL;
    work->section = section;
    work->place = tree != NULL ? tree->place : (struct dtd_place){1, 1};
    return (tree == NULL || make_list(work, records, tree->defs.records, tree)) &&
           make_list(work, records, parse->defs.records, NULL) &&
           make_all_predefined(work, records);
}

/* ---- the whole ---- */

static const char *const reserved[] = {"vfield", "comment", "section", "metadata", "tag"};

/* The tag's interpretation "is always none" (Appendix B), which may be said. */
static bool is_plain_tag(struct dtd_property *property)
{
    bool is_plain = strcmp(property->property, "interpretation") == 0 && property->word != NULL &&
                    strcmp(property->word, "none") == 0 && property->argument_count == 0;
    property->used = property->used || is_plain;
    return is_plain;
}

static void check_defs(struct dtd_parse *parse, const struct dtd_defs *defs, bool is_global)
{
    for (const struct dtd_record *record = defs->records; record != NULL; record = record->next) {
        for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
            if (strcmp(record->name, reserved[i]) == 0)
                dtd_fault(parse, record->place, "the name %s is reserved", record->name);
        if (find_record(defs, record->name) != record)
            dtd_fault(parse, record->place, "there are two records %s", record->name);
        for (struct dtd_property *at = record->properties; at != NULL; at = at->next)
            if (find_in(record->properties, at->field, at->property) != at)
                dtd_fault(parse, at->place, "%s.%s is set twice", at->field, at->property);
            else if (strcmp(at->field, "tag") == 0 && strcmp(at->property, "value") != 0 &&
                     !is_plain_tag(at))
                dtd_fault(parse, at->place, "tag.%s is set for the whole DTD only", at->property);
    }
    for (struct dtd_property *at = defs->properties; at != NULL; at = at->next)
        if (find_in(defs->properties, at->field, at->property) != at)
            dtd_fault(parse, at->place, "%s.%s is set twice", at->field, at->property);
        else if (strcmp(at->field, "tag") == 0 && !is_plain_tag(at) &&
                 (!is_global || strcmp(at->property, "width") != 0))
            dtd_fault(parse, at->place, "tag.%s cannot be set here", at->property);
}

static bool check(struct dtd_parse *parse)
{
    check_defs(parse, &parse->defs, true);
    for (const struct dtd_section *section = parse->sections; section != NULL;
         section = section->next) {
        check_defs(parse, &section->defs, false);
        if (section->number < 1 || section->number > 255)
            dtd_fault(parse, section->place, "the number of section %s is not 1 to 255",
                      section->name);
        for (const struct dtd_section *other = parse->sections; other != section;
             other = other->next)
            if (other->number == section->number || strcmp(other->name, section->name) == 0)
                dtd_fault(parse, section->place, "there are two sections %s %" PRIu64,
                          section->name, section->number);
    }
    return parse->fault_count == 0;
}

static uint32_t find_tag_width(struct dtd_parse *parse)
{
    const struct dtd_property *width = find_in(parse->defs.properties, "tag", "width");
    if (width == NULL)
        return 1;
    uint64_t number = width->arguments[0].number;
    if (width->word != NULL || width->arguments[0].is_reference || number < 1 ||
        number > STEP_FIELD_WIDTH_MAX) {
        dtd_fault(parse, width->place, "the width of tags is 1 to %u bytes", STEP_FIELD_WIDTH_MAX);
        return 1;
    }
    return (uint32_t) number;
}

static void check_fields(struct dtd_parse *parse, const struct dtd_field *field)
{
    for (; field != NULL; field = field->next) {
        if (field->form == DTD_RECORD) {
            check_record_properties(parse, field->record);
            check_fields(parse, field->record->field);
        }
        check_fields(parse, field->children);
    }
}

static void check_list(struct dtd_parse *parse, struct dtd_record *record)
{
    for (; record != NULL; record = record->next)
        if (is_event(record)) {
            check_record_properties(parse, record);
            check_fields(parse, record->field);
        }
}

static void check_use(struct dtd_parse *parse)
{
    check_list(parse, parse->defs.records);
    for (struct dtd_section *section = parse->sections; section != NULL; section = section->next)
        check_list(parse, section->defs.records);
}

bool dtd_resolve(struct dtd_parse *parse, struct metatf_dtd *out)
{
    if (!check(parse))
        return false;
    uint32_t tag_width = find_tag_width(parse);
    uint32_t count = parse->section_count + 1;
    struct metatf_section *sections = step_arena_zeroed(parse->arena, count * sizeof *sections);
    struct record_work *work = step_arena_zeroed(parse->arena, sizeof *work);
    if (sections == NULL || work == NULL)
        return !(parse->out_of_memory = true);
    work->fields = step_arena_zeroed(parse->arena, METATF_FIELD_LIMIT * sizeof *work->fields);
    work->groups = step_arena_zeroed(parse->arena, METATF_FIELD_LIMIT * sizeof *work->groups);
    if (work->fields == NULL || work->groups == NULL)
        return !(parse->out_of_memory = true);
    const struct dtd_section *tree = NULL;
    for (uint32_t i = 0; i < count; i++, tree = tree != NULL ? tree->next : parse->sections) {
        struct section_work section = {
            .parse = parse, .tree = tree, .out = &sections[i], .tag_width = tag_width};
        make_section(work, &section);
        if (i + 1 == count)
            break;
    }
    if (parse->fault_count == 0)
        check_use(parse);
    out->tag_width = tag_width;
    out->sections = sections;
    out->section_count = count;
    return parse->fault_count == 0 && !parse->out_of_memory;
}
