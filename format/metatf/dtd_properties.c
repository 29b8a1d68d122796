/* SPDX-License-Identifier: Apache-2.0 */
/* Determines the width, interpretation and value of a field from the DTD. */
#include <inttypes.h>
#include <string.h>

#include "format/metatf/dtd_resolve.h"
#include "format/metatf/metatf_state.h"

struct dtd_property *dtd_find_in(struct dtd_property *properties, const char *field,
                                 const char *name)
{
    for (; properties != NULL; properties = properties->next)
        if (strcmp(properties->field, field) == 0 && strcmp(properties->property, name) == 0)
            return properties;
    return NULL;
}

static struct dtd_property *dtd_properties_find(const struct scope *scope, const char *field,
                                                const char *name, const struct scope **where)
{
    for (; scope != NULL; scope = scope->outer) {
        struct dtd_property *found = dtd_find_in(scope->properties, field, name);
        if (found != NULL) {
            found->used = true;
            if (where != NULL)
                *where = scope;
            return found;
        }
    }
    return NULL;
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

/* Returns the nearest earlier field of that name.  METATF_NO_FIELD: none, which is reported as a
 * fault. */
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
            depth < DTD_DEPTH_LIMIT ? dtd_properties_find(scope, argument->field, "width", NULL)
                                    : NULL;
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

static bool dtd_properties_take_arguments(struct record_work *record, struct metatf_field *field,
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

/* Checks that one stride covers one number, in a section of records after the record's tag. */
static void check_stride(struct record_work *record, const struct metatf_field *field,
                         const struct dtd_property *property, bool has_records)
{
    uint32_t tag = has_records ? record->section->tag_width : 0;
    if (field->stride < tag + 1 || field->stride > tag + STEP_FIELD_WIDTH_MAX)
        dtd_fault(record->section->parse, property->place,
                  "the stride through a section%s is %" PRIu32 " to %" PRIu32 " bytes",
                  has_records ? " of records" : "", tag + 1, tag + STEP_FIELD_WIDTH_MAX);
}

/* Checks the section that an interpretation names; its place in the tree shows its kind. */
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
           (property->word == NULL || strcmp(property->word, metatf_interpretation_name(i)) != 0))
        i++;
    if (i == STEP_FIELD_INTERPRETATION_COUNT) {
        dtd_fault(parse, property->place, "%s has an unknown interpretation", field->name);
        return;
    }
    unsigned count = metatf_metadata_values(metatf_property_of(i));
    if (property->argument_count != count) {
        dtd_fault(parse, property->place, "%s takes %u argument%s", property->word, count,
                  count == 1 ? "" : "s");
        return;
    }
    field->interpretation = i;
    if (dtd_properties_take_arguments(record, field, property) &&
        (i == STEP_FIELD_SECTION_OFFSET || i == STEP_FIELD_SECTION_STRIDE))
        check_section(record, field, property);
    if (field->kind == METATF_BYTES && i != STEP_FIELD_NONE && i != STEP_FIELD_DEFAULT)
        dtd_fault(parse, property->place, "%s is bytes; it can be none or default, not %s",
                  field->name, property->word);
}

static void dtd_properties_take_value(struct record_work *record, struct metatf_field *field,
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

const struct scope *dtd_take_properties(struct record_work *record, struct metatf_field *field,
                                        struct dtd_place place, const struct scope *scope)
{
    struct dtd_parse *parse = record->section->parse;
    const char *name = field->name;
    const struct scope *where = NULL;
    const struct dtd_property *width = dtd_properties_find(scope, name, "width", NULL);
    const struct dtd_property *interpretation =
        dtd_properties_find(scope, name, "interpretation", &where);
    const struct dtd_property *value = dtd_properties_find(scope, name, "value", NULL);
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
        dtd_properties_take_value(record, field, value);
    return where;
}
