/* SPDX-License-Identifier: Apache-2.0 */
/* What the grammar does: builds the syntax tree, and checks what needs no other record. */
#include "syntax.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void step_dl_fault(struct step_dl_parse *parse, struct step_dl_place place, const char *format, ...)
{
    if (parse->fault_count >= STEP_DL_MAX_FAULTS || parse->status != STEP_STATUS_OK)
        return;
    struct step_dl_fault *fault = &parse->faults[parse->fault_count];
    fault->place = place;
    fault->number = parse->fault_count++;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fault->message, sizeof fault->message, format, arguments);
    va_end(arguments);
}

void *step_dl_no_memory(struct step_dl_parse *parse, const struct step_dl_pool *pool)
{
    if (parse->status == STEP_STATUS_OK)
        parse->status =
            pool != NULL && pool->over_budget ? STEP_STATUS_LIMIT : STEP_STATUS_NO_MEMORY;
    return NULL;
}

void *step_dl_tree(struct step_dl_parse *parse, size_t size)
{
    void *taken = step_dl_pool_take(&parse->tree, 1, size);
    return taken != NULL ? taken : step_dl_no_memory(parse, &parse->tree);
}

void *step_dl_model(struct step_dl_parse *parse, size_t count, size_t size)
{
    void *taken = step_dl_pool_take(parse->model, count, size);
    return taken != NULL ? taken : step_dl_no_memory(parse, parse->model);
}

struct step_dl_name *step_dl_name_start(struct step_dl_parse *parse, struct step_dl_symbol *symbol,
                                        struct step_dl_place place)
{
    struct step_dl_name *name = step_dl_tree(parse, sizeof *name);
    if (name == NULL)
        return NULL;
    name->place = place;
    return step_dl_name_add(parse, name, symbol);
}

struct step_dl_name *step_dl_name_add(struct step_dl_parse *parse, struct step_dl_name *name,
                                      struct step_dl_symbol *symbol)
{
    if (name->count > STEP_DL_MAX_PACKAGES) {
        if (name->count++ == STEP_DL_MAX_PACKAGES + 1)
            step_dl_fault(parse, name->place, "a name of more than %d parts",
                          STEP_DL_MAX_PACKAGES + 1);
        return name;
    }
    struct step_dl_name_part *part = step_dl_tree(parse, sizeof *part);
    if (part == NULL)
        return NULL;
    part->symbol = symbol;
    if (name->last != NULL)
        name->last->next = part;
    else
        name->first = part;
    name->last = part;
    name->count++;
    return name;
}

const char *step_dl_name_text(const struct step_dl_name *name, char *out, size_t out_size)
{
    size_t used = 0;
    out[0] = '\0';
    for (const struct step_dl_name_part *part = name->first; part != NULL; part = part->next) {
        const char *dot = part != name->first || name->absolute ? "." : "";
        int length = snprintf(out + used, out_size - used, "%s%s", dot, part->symbol->text);
        if (length < 0 || (size_t) length >= out_size - used)
            break;
        used += (size_t) length;
    }
    return out;
}

struct step_dl_attribute *step_dl_attribute_make(struct step_dl_parse *parse,
                                                 const struct step_dl_symbol *group,
                                                 const char *value, struct step_dl_place place)
{
    struct step_dl_attribute *attribute = step_dl_tree(parse, sizeof *attribute);
    if (attribute != NULL)
        attribute->attribute =
            (struct step_attribute){group->text, value, place.line, place.column};
    return attribute;
}

static void append_attribute(struct step_dl_parse *parse, struct step_dl_attributes *list,
                             struct step_dl_attribute *attribute)
{
    if (list->count == STEP_DL_MAX_ATTRIBUTES) {
        struct step_dl_place place = {attribute->attribute.line, attribute->attribute.column};
        step_dl_fault(parse, place, "more than %d attributes", STEP_DL_MAX_ATTRIBUTES);
    }
    list->count++;
    if (list->count > STEP_DL_MAX_ATTRIBUTES)
        return;
    if (list->last != NULL)
        list->last->next = attribute;
    else
        list->first = attribute;
    list->last = attribute;
}

struct step_dl_attributes *step_dl_attributes_add(struct step_dl_parse *parse,
                                                  struct step_dl_attributes *list,
                                                  struct step_dl_attribute *attribute)
{
    if (list == NULL)
        list = step_dl_tree(parse, sizeof *list);
    if (list != NULL)
        append_attribute(parse, list, attribute);
    return list;
}

struct step_dl_type *step_dl_type_make(struct step_dl_parse *parse, enum step_type_kind kind,
                                       struct step_dl_name *record)
{
    struct step_dl_type *type = step_dl_tree(parse, sizeof *type);
    if (type != NULL) {
        type->kind = kind;
        type->record = record;
    }
    return type;
}

bool step_dl_type_add_attribute(struct step_dl_parse *parse, struct step_dl_type *type,
                                struct step_dl_attribute *attribute)
{
    append_attribute(parse, &type->levels[type->array_depth], attribute);
    return true;
}

bool step_dl_type_add_array(struct step_dl_parse *parse, struct step_dl_type *type,
                            struct step_dl_place place)
{
    if (type->array_depth == STEP_DL_MAX_ARRAY)
        step_dl_fault(parse, place, "arrays of arrays may be %d deep", STEP_DL_MAX_ARRAY);
    else
        type->array_depth++;
    return true;
}

bool step_dl_package_enter(struct step_dl_parse *parse, const struct step_dl_name *name)
{
    for (struct step_dl_name_part *part = name->first; part != NULL; part = part->next) {
        if (parse->package->depth == STEP_DL_MAX_PACKAGES) {
            step_dl_fault(parse, name->place, "packages may be nested %d deep",
                          STEP_DL_MAX_PACKAGES);
            return false;
        }
        size_t length = strlen(parse->package->name) + part->symbol->length + 1;
        if (length > STEP_DL_MAX_DOTTED) {
            step_dl_fault(parse, name->place, "the package's absolute name is too long");
            return false;
        }
        struct step_dl_package *package = step_dl_package_open(parse, parse->package, part->symbol);
        if (package == NULL)
            return false;
        parse->package = package;
    }
    return true;
}

struct step_dl_extends *step_dl_extends_make(struct step_dl_parse *parse, bool cut,
                                             struct step_dl_name *parent)
{
    struct step_dl_extends *extends = step_dl_tree(parse, sizeof *extends);
    if (extends != NULL)
        *extends = (struct step_dl_extends){cut, parent};
    return extends;
}

static bool enter_record(struct step_dl_parse *parse, struct step_dl_record *record)
{
    if (parse->record_count == STEP_DL_MAX_RECORDS) {
        step_dl_fault(parse, record->place, "more than %d records", STEP_DL_MAX_RECORDS);
        return false;
    }
    record->index = parse->record_count++;
    struct step_dl_record *earlier;
    if (!step_dl_record_enter(parse, record, &earlier))
        return false;
    if (earlier != NULL)
        step_dl_fault(parse, record->place, "record '%s' was defined in line %u already",
                      record->symbol->text, earlier->place.line);
    if (parse->last_record != NULL)
        parse->last_record->next = record;
    else
        parse->first_record = record;
    parse->last_record = record;
    return true;
}

bool step_dl_record_begin(struct step_dl_parse *parse, struct step_dl_symbol *symbol,
                          struct step_dl_place place, const char *label,
                          struct step_dl_extends *extends)
{
    struct step_dl_record *record = step_dl_tree(parse, sizeof *record);
    if (record == NULL)
        return false;
    record->package = parse->package;
    record->symbol = symbol;
    record->place = place;
    record->label = label;
    record->extends = extends;
    parse->record = record;
    return symbol == NULL || enter_record(parse, record);
}

static void enter_stage(struct step_dl_parse *parse, enum step_dl_stage stage,
                        struct step_dl_place place)
{
    static const char *const names[] = {"the description", "the record's attributes", "fields",
                                        "modifiers"};
    struct step_dl_record *record = parse->record;
    if (stage < record->stage)
        step_dl_fault(parse, place, "%s must stand before %s", names[stage], names[record->stage]);
    else
        record->stage = stage;
}

void step_dl_record_description(struct step_dl_parse *parse, const char *text,
                                struct step_dl_place place)
{
    enter_stage(parse, STEP_DL_STAGE_DESCRIPTION, place);
    if (parse->record->description != NULL)
        step_dl_fault(parse, place, "a second description");
    parse->record->description = text;
}

bool step_dl_record_attribute(struct step_dl_parse *parse, struct step_dl_attribute *attribute,
                              struct step_dl_place place)
{
    enter_stage(parse, STEP_DL_STAGE_ATTRIBUTES, place);
    append_attribute(parse, &parse->record->attributes, attribute);
    return true;
}

void step_dl_fields_begin(struct step_dl_parse *parse, const struct step_dl_type *type,
                          struct step_dl_place place)
{
    enter_stage(parse, STEP_DL_STAGE_FIELDS, place);
    parse->type = type;
}

bool step_dl_record_field(struct step_dl_parse *parse, struct step_dl_symbol *symbol,
                          const char *description, struct step_dl_attributes *attributes,
                          struct step_dl_place place)
{
    struct step_dl_field *field = step_dl_tree(parse, sizeof *field);
    if (field == NULL)
        return false;
    *field = (struct step_dl_field){symbol, description, parse->type, attributes, place, NULL};
    struct step_dl_record *record = parse->record;
    if (record->last_field != NULL)
        record->last_field->next = field;
    else
        record->first_field = field;
    record->last_field = field;
    record->field_count++;
    return true;
}

bool step_dl_record_modifier(struct step_dl_parse *parse, bool replace, struct step_dl_name *path,
                             struct step_dl_attributes *attributes, struct step_dl_place place)
{
    enter_stage(parse, STEP_DL_STAGE_MODIFIERS, place);
    struct step_dl_modifier *modifier = step_dl_tree(parse, sizeof *modifier);
    if (modifier == NULL)
        return false;
    *modifier = (struct step_dl_modifier){replace, path, attributes, NULL};
    struct step_dl_record *record = parse->record;
    if (record->last_modifier != NULL)
        record->last_modifier->next = modifier;
    else
        record->first_modifier = modifier;
    record->last_modifier = modifier;
    return true;
}
