/* SPDX-License-Identifier: Apache-2.0 */
/* Queries of a definition, parsed or compiled. */
#include "steptrace/definition.h"

#include <string.h>

#include "format/core/rule.h"
#include "format/language/dl_tree.h"
#include "steptrace/value.h"

uint32_t step_definition_find(const struct step_definition *definition, const char *name)
{
    size_t low = 0, high = definition->by_name != NULL ? definition->record_count : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        uint32_t record = definition->by_name[middle];
        int order = strcmp(definition->records[record].name, name);
        if (order == 0)
            return record;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = 0; definition->by_name == NULL && i < definition->record_count; i++)
        if (strcmp(definition->records[i].name, name) == 0)
            return (uint32_t) i;
    return STEP_NO_RECORD;
}

uint32_t dl_find_record(const struct step_definition *definition, const char *near,
                        const char *name, size_t length)
{
    const char *dot = strrchr(near, '.');
    size_t prefix = dot != NULL ? (size_t) (dot + 1 - near) : 0;
    for (uint32_t i = 0; i < definition->record_count; i++) {
        const char *other = definition->records[i].name;
        if (step_rule_text_is(name, length, other) ||
            (strncmp(other, near, prefix) == 0 && step_rule_text_is(name, length, other + prefix)))
            return i;
    }
    return STEP_NO_RECORD;
}

size_t dl_find_field(const struct step_record *record, const char *name, size_t length)
{
    for (size_t i = 0; i < record->field_count; i++)
        if (step_rule_text_is(name, length, record->fields[i].name))
            return i;
    return SIZE_MAX;
}

static bool query_enter(const struct step_record *record, const char *name, size_t length,
                        bool is_nested, struct dl_part *part)
{
    size_t field = dl_find_field(record, name, length);
    if (field == SIZE_MAX)
        return false;
    *part = (struct dl_part){record, field, record->fields[field].array_depth, is_nested, false};
    return true;
}

bool dl_follow_path(const struct step_record *records, const struct step_record *record,
                    const char *path, struct dl_part *part)
{
    size_t length = strcspn(path, ".");
    bool leads = query_enter(record, path, length, false, part);
    while (leads && path[length] != '\0') {
        path += length + 1;
        length = strcspn(path, ".");
        const struct step_field *field = &part->record->fields[part->field];
        bool has_length =
            part->depth > 0 || field->kind == STEP_TYPE_STRING || field->kind == STEP_TYPE_DATA;
        part->is_length =
            has_length && path[length] == '\0' && step_rule_text_is(path, length, "length");
        if (part->is_length)
            return true;
        if (part->depth > 0)
            leads = step_rule_text_is(path, length, "element") && part->depth-- > 0;
        else
            leads = field->kind == STEP_TYPE_RECORD &&
                    query_enter(&records[field->record], path, length, true, part);
    }
    return leads;
}

size_t step_record_find_field(const struct step_record *record, const char *name)
{
    return dl_find_field(record, name, strlen(name));
}

bool step_record_extends(const struct step_definition *definition, uint32_t record,
                         uint32_t ancestor)
{
    while (record != STEP_NO_RECORD && record != ancestor)
        record = definition->records[record].parent;
    return record != STEP_NO_RECORD;
}

/* Finds the last rule with that key in one attribute value. */
static bool find_rule(const char *text, const char *key, const char **value, size_t *length)
{
    const char *end = text + strlen(text);
    struct step_rule rule;
    bool found = false;
    while (step_rule_next(&text, end, &rule))
        if (step_rule_text_is(rule.key, rule.key_length, key)) {
            *value = rule.value;
            *length = rule.value_length;
            found = true;
        }
    return found;
}

bool step_attributes_rule(const struct step_attributes *attributes, const char *group,
                          const char *key, const char **value, size_t *length)
{
    const char *ignored_value;
    size_t ignored_length;
    if (value == NULL)
        value = &ignored_value;
    if (length == NULL)
        length = &ignored_length;
    for (size_t i = attributes->count; i-- > 0;)
        if (strcmp(attributes->items[i].group, group) == 0 &&
            find_rule(attributes->items[i].value, key, value, length))
            return true;
    return false;
}

static bool has_rule(const struct step_attributes *attributes, const char *group, const char *key)
{
    return step_attributes_rule(attributes, group, key, NULL, NULL);
}

/* Returns true if `path` is "element" once for each level of the field's arrays. */
static bool is_innermost(const struct step_field *field, const char *path)
{
    static const char element[] = "element";
    for (uint32_t i = 0; i < field->array_depth; i++) {
        if (strncmp(path, element, sizeof element - 1) != 0)
            return false;
        path += sizeof element - 1;
        if (i + 1 < field->array_depth && *path++ != '.')
            return false;
    }
    return *path == '\0';
}

/* Returns the attributes of the innermost elements, which are the field's unless they have their
 * own. */
static const struct step_attributes *value_attributes(const struct step_field *field)
{
    for (size_t i = 0; field->array_depth > 0 && i < field->sub_attribute_count; i++)
        if (is_innermost(field, field->sub_attributes[i].path))
            return &field->sub_attributes[i].attributes;
    return &field->attributes;
}

bool step_field_is_identifier(const struct step_field *field)
{
    return field->kind == STEP_TYPE_RECORD &&
           has_rule(value_attributes(field), "encoding", "identifier");
}

bool step_field_is_variant(const struct step_field *field)
{
    const char *value;
    size_t length;
    return field->kind == STEP_TYPE_RECORD && !step_field_is_identifier(field) &&
           step_attributes_rule(value_attributes(field), "encoding", "type", &value, &length) &&
           ((length == 8 && memcmp(value, "variable", 8) == 0) ||
            (length == 7 && memcmp(value, "default", 7) == 0));
}

bool step_field_is_nested(const struct step_field *field)
{
    return field->kind == STEP_TYPE_RECORD && field->array_depth == 0 &&
           !step_field_is_identifier(field) && !step_field_is_variant(field);
}

bool step_field_is_unsigned(const struct step_field *field)
{
    static const char *const properties[] = {"unsigned", "address", "time", "thread"};
    const struct step_attributes *attributes = value_attributes(field);
    bool found = has_rule(attributes, "encoding", "unsigned");
    for (size_t i = 0; i < sizeof properties / sizeof properties[0]; i++)
        found = found || has_rule(attributes, "property", properties[i]);
    return found;
}

size_t step_record_slot_count(const struct step_definition *definition, uint32_t record)
{
    size_t slots = 0;
    for (size_t i = 0; i < definition->records[record].field_count; i++) {
        const struct step_field *field = &definition->records[record].fields[i];
        slots +=
            step_field_is_nested(field) ? step_record_slot_count(definition, field->record) : 1;
    }
    return slots;
}

size_t step_record_find_property(const struct step_definition *definition, uint32_t record,
                                 const char *property)
{
    size_t slot = 0;
    for (size_t i = 0; i < definition->records[record].field_count; i++) {
        const struct step_field *field = &definition->records[record].fields[i];
        bool nested = step_field_is_nested(field);
        bool single = field->kind == STEP_TYPE_INT || step_field_is_identifier(field);
        if (field->array_depth == 0 && single && has_rule(&field->attributes, "property", property))
            return slot;
        slot += nested ? step_record_slot_count(definition, field->record) : 1;
    }
    return STEP_NO_PROPERTY_SLOT;
}

size_t dl_field_slots(const struct step_definition *definition, const struct step_field *field)
{
    return step_field_is_nested(field) ? step_record_slot_count(definition, field->record) : 1;
}

uint64_t dl_empty_slot(const struct step_field *field)
{
    static const struct step_bytes no_bytes = {(const uint8_t *) "", 0};
    static const struct step_array no_elements = {NULL, 0};
    static const struct step_variant no_variant = {STEP_NO_RECORD, NULL};
    bool is_number = field->kind == STEP_TYPE_INT || step_field_is_identifier(field);
    return field->array_depth > 0         ? step_slot_of_array(&no_elements)
           : is_number                    ? 0
           : step_field_is_variant(field) ? step_slot_of_variant(&no_variant)
                                          : step_slot_of_bytes(&no_bytes);
}
