/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of a DTD: rules before its tables are made, and properties that nothing used. */
#include <inttypes.h>
#include <string.h>

#include "format/metatf/dtd_resolve.h"

static const char *const reserved[] = {"vfield", "comment", "section", "metadata", "tag"};

/* The tag's interpretation "is always none" (Appendix B), which the DTD may repeat. */
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
        if (dtd_find_record(defs, record->name) != record)
            dtd_fault(parse, record->place, "there are two records %s", record->name);
        for (struct dtd_property *at = record->properties; at != NULL; at = at->next)
            if (dtd_find_in(record->properties, at->field, at->property) != at)
                dtd_fault(parse, at->place, "%s.%s is set twice", at->field, at->property);
            else if (strcmp(at->field, "tag") == 0 && strcmp(at->property, "value") != 0 &&
                     !is_plain_tag(at))
                dtd_fault(parse, at->place, "tag.%s is set for the whole DTD only", at->property);
    }
    for (struct dtd_property *at = defs->properties; at != NULL; at = at->next)
        if (dtd_find_in(defs->properties, at->field, at->property) != at)
            dtd_fault(parse, at->place, "%s.%s is set twice", at->field, at->property);
        else if (strcmp(at->field, "tag") == 0 && !is_plain_tag(at) &&
                 (!is_global || strcmp(at->property, "width") != 0))
            dtd_fault(parse, at->place, "tag.%s cannot be set here", at->property);
}

bool dtd_check(struct dtd_parse *parse)
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

bool dtd_is_event(struct dtd_record *record)
{
    struct dtd_property *value = dtd_find_in(record->properties, "tag", "value");
    if (value != NULL)
        value->used = true;
    return value != NULL;
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
        if (dtd_is_event(record)) {
            check_record_properties(parse, record);
            check_fields(parse, record->field);
        }
}

void dtd_check_use(struct dtd_parse *parse)
{
    check_list(parse, parse->defs.records);
    for (struct dtd_section *section = parse->sections; section != NULL; section = section->next)
        check_list(parse, section->defs.records);
}
