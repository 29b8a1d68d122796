/* SPDX-License-Identifier: Apache-2.0 */
/* stepc's checks beyond the language: whether writers accept the definition, and readers can follow
 * its maps. */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compilers/stepc/stepc.h"
#include "format/language/dl_tree.h"
#include "format/step/layout.h"
#include "format/step/plan/charset.h"
#include "format/step/plan/plan.h"
#include "steptrace/maps.h"

_Static_assert(DL_RECORD_LIMIT == STEP_MAX_RECORD_TYPES, "one limit, in two layers");
_Static_assert(DL_TEXT_LIMIT == STEP_MAX_DEFINITION_BYTES, "one limit, in two layers");

/* Destination of the faults and warnings of one definition. */
struct definition_check {
    const struct step_definition *definition;
    bool strict; /* treat warnings as faults */
    size_t faults;
    size_t warnings;
};

__attribute__((format(printf, 4, 5))) static void check_report(struct definition_check *check,
                                                               const struct dl_place *place,
                                                               bool warning, const char *format,
                                                               ...)
{
    char text[700];
    struct step_fault fault = {.message = text};
    bool is_fault = !warning || check->strict;
    int length = snprintf(text, sizeof text, "%s", is_fault ? "" : "warning: ");
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + length, sizeof text - (size_t) length, format, arguments);
    va_end(arguments);
    size_t *count = is_fault ? &check->faults : &check->warnings;
    if ((*count)++ >= DL_FAULT_LIMIT)
        return;
    dl_definition_locate(check->definition, *place, &fault);
    compiler_report_fault(NULL, &fault);
}

/* The place that an attribute applies to. */
struct target {
    unsigned place;                   /* AT_INT and so on; 0: unknown */
    const struct step_record *record; /* the record that has the field */
    size_t field;
};

/* State of a check, with the groups already reported. */
struct checking {
    struct definition_check *check;
    const char *groups[64];
    size_t group_count;
};

static unsigned value_place(const struct step_field *field)
{
    switch (field->kind) {
    case STEP_TYPE_INT:
        return AT_INT;
    case STEP_TYPE_STRING:
        return AT_STRING;
    case STEP_TYPE_DATA:
        return AT_DATA;
    case STEP_TYPE_RECORD:
        break;
    }
    return step_field_is_identifier(field) ? AT_ENTRY : AT_VALUE;
}

/* `depth`: remaining depth of the field's arrays. */
static unsigned check_place_of(const struct step_field *field, uint32_t depth)
{
    return value_place(field) | (depth > 0 ? AT_ARRAY : 0);
}

static const char *check_name_of(unsigned place)
{
    place &= ~(unsigned) AT_ARRAY;
    return place == AT_INT      ? "an int"
           : place == AT_STRING ? "a string"
           : place == AT_DATA   ? "data"
           : place == AT_ENTRY  ? "the number of an entry"
           : place == AT_VALUE  ? "a record by value"
           : place == AT_LENGTH ? "a length"
                                : "a record's definition";
}

/* Resolves a path in a record: a field, or a part of it. */
static struct target check_find_target(const struct step_definition *definition,
                                       const struct step_record *record, const char *path)
{
    struct dl_part part;
    if (!dl_follow_path(definition->records, record, path, &part))
        return (struct target){0, NULL, 0};
    unsigned place =
        part.is_length ? AT_LENGTH : check_place_of(&part.record->fields[part.field], part.depth);
    return (struct target){place, part.record, part.field};
}

static bool check_is_single(const struct step_field *field)
{
    return field->array_depth == 0 &&
           (field->kind == STEP_TYPE_INT || step_field_is_identifier(field));
}

/* Returns NULL, or the fault of the record or field that a value names. */
static const char *name_fault(const struct step_definition *definition, const struct target *target,
                              enum attribute_value kind, const struct step_rule *rule)
{
    const char *name = rule->value;
    size_t length = rule->value_length;
    if (kind == VALUE_FIELD) {
        size_t i = dl_find_field(target->record, name, length);
        return i == SIZE_MAX ? "is not a field of the record"
               : i >= target->field || !check_is_single(&target->record->fields[i])
                   ? "is not a single value before the field"
                   : NULL;
    }
    size_t field = length;
    while (kind == VALUE_OF_RECORD && field > 0 && name[field - 1] != '.')
        field--;
    if (field == 0)
        return "is not RECORD.FIELD";
    size_t record_length = kind == VALUE_OF_RECORD ? field - 1 : length;
    uint32_t found = dl_find_record(definition, target->record->name, name, record_length);
    if (found == STEP_NO_RECORD)
        return "names no record";
    if (kind != VALUE_OF_RECORD)
        return NULL;
    const struct step_record *record = &definition->records[found];
    size_t i = dl_find_field(record, name + field, length - field);
    return i == SIZE_MAX || !check_is_single(&record->fields[i])
               ? "does not name a single value of the record"
               : NULL;
}

/* Checks each name in a value like name_fault().  Returns the first fault. */
static const char *links_fault(const struct step_definition *definition,
                               const struct target *target, const struct step_rule *rule)
{
    const char *fault = NULL;
    for (size_t start = 0; start < rule->value_length && fault == NULL;) {
        const char *text = rule->value + start;
        const char *plus = memchr(text, '+', rule->value_length - start);
        struct step_rule name = *rule;
        name.value = text;
        name.value_length = plus != NULL ? (size_t) (plus - text) : rule->value_length - start;
        start += name.value_length + 1;
        if (memchr(text, '.', name.value_length) != NULL) {
            fault = name_fault(definition, target, VALUE_OF_RECORD, &name);
            continue;
        }
        size_t i = dl_find_field(target->record, text, name.value_length);
        if (i == SIZE_MAX || i == target->field || !check_is_single(&target->record->fields[i]))
            fault = "does not name another single value of the record";
    }
    return fault;
}

/* Checks a rule whose key is known. */
static void check_rule(struct checking *checking, const struct dl_attribute *attribute,
                       const struct attribute_rule *known, const struct step_rule *rule,
                       const struct target *target)
{
    struct definition_check *check = checking->check;
    bool property = strcmp(known->group, "property") == 0;
    const char *fault = attribute_value_fault(known, rule);
    if (fault == NULL &&
        (known->value == VALUE_FIELD || known->value == VALUE_RECORD ||
         known->value == VALUE_OF_RECORD) &&
        target->record != NULL && (known->places & target->place) != 0)
        fault = name_fault(check->definition, target, known->value, rule);
    if (fault == NULL && known->value == VALUE_LINKS && target->record != NULL &&
        (known->places & target->place) != 0)
        fault = links_fault(check->definition, target, rule);
    if (fault != NULL)
        check_report(check, &attribute->place, false, "%s: the value '%.*s' of '%s' %s",
                     known->group, (int) rule->value_length, rule->value, known->key, fault);
    if (known->value == VALUE_CHARSET && fault == NULL &&
        step_charset_find(rule->value, rule->value_length) == STEP_CHARSET_ANY)
        check_report(check, &attribute->place, true,
                     "charset '%.*s' is not known: strings are not checked",
                     (int) rule->value_length, rule->value);
    if (target->place == 0 || (known->places & target->place) != 0)
        return;
    if (target->place == AT_RECORD && !property)
        check_report(check, &attribute->place, true, "'%s' has no effect on a record's definition",
                     known->key);
    else
        check_report(check, &attribute->place, property, "'%s' does not fit %s", known->key,
                     check_name_of(target->place));
}

static void check_group(struct checking *checking, const struct dl_attribute *attribute)
{
    const char *nearest;
    if (attribute_group_is_known(attribute->group, &nearest))
        return;
    for (size_t i = 0; i < checking->group_count; i++)
        if (strcmp(checking->groups[i], attribute->group) == 0)
            return;
    if (checking->group_count < sizeof checking->groups / sizeof checking->groups[0])
        checking->groups[checking->group_count++] = attribute->group;
    check_report(checking->check, &attribute->place, true,
                 "group '%.64s' is not known to StepTrace%s%s%s", attribute->group,
                 nearest != NULL ? "; is '" : "", nearest != NULL ? nearest : "",
                 nearest != NULL ? "' meant?" : "");
}

static void check_list(struct checking *checking, const struct dl_attribute *attribute,
                       const struct target *target)
{
    for (; attribute != NULL; attribute = attribute->next) {
        const char *at = attribute->value, *end = at + strlen(at), *nearest;
        struct step_rule rule;
        bool known_group =
            strcmp(attribute->group, "encoding") == 0 || strcmp(attribute->group, "property") == 0;
        check_group(checking, attribute);
        if (known_group && at == end)
            check_report(checking->check, &attribute->place, true, "the attribute is empty");
        while (known_group && step_rule_next(&at, end, &rule)) {
            struct attribute_rule known;
            if (attribute_rule_find(attribute->group, &rule, &known, &nearest))
                check_rule(checking, attribute, &known, &rule, target);
            else
                check_report(checking->check, &attribute->place, true,
                             "%s: '%.*s' is not known to StepTrace%s%s%s", attribute->group,
                             (int) (rule.key_length < 64 ? rule.key_length : 64), rule.key,
                             nearest != NULL ? "; is '" : "", nearest != NULL ? nearest : "",
                             nearest != NULL ? "' meant?" : "");
        }
    }
}

static void check_record(struct checking *checking, const struct dl_record *record)
{
    const struct step_definition *definition = checking->check->definition;
    const struct step_record *built = &definition->records[record->index];
    const struct target whole = {AT_RECORD, built, 0};
    const struct dl_type *last = NULL;
    size_t i = built->parent != STEP_NO_RECORD ? definition->records[built->parent].field_count : 0;
    check_list(checking, record->attributes, &whole);
    for (const struct dl_field *field = record->fields; field != NULL; field = field->next, i++) {
        uint32_t depth = built->fields[i].array_depth;
        struct target target = {check_place_of(&built->fields[i], depth), built, i};
        for (const struct dl_type *type = field->type; type != last && type != NULL;
             type = type->element) {
            target.place = check_place_of(&built->fields[i], depth > 0 ? depth-- : 0);
            check_list(checking, type->attributes, &target);
        }
        target.place = check_place_of(&built->fields[i], built->fields[i].array_depth);
        last = field->type;
        check_list(checking, field->attributes, &target);
    }
    for (const struct dl_modifier *modifier = record->modifiers; modifier != NULL;
         modifier = modifier->next) {
        struct target target = check_find_target(definition, built, modifier->path);
        check_list(checking, modifier->attributes, &target);
    }
}

static void check_attributes(struct definition_check *check)
{
    struct checking checking = {.check = check};
    for (const struct dl_record *record = dl_definition_tree(check->definition); record != NULL;
         record = record->next)
        check_record(&checking, record);
}

static void report_map(void *user, const char *record, const struct step_attribute *attribute,
                       const char *message)
{
    (void) record;
    const struct dl_place place = {attribute->line, attribute->column};
    check_report(user, &place, false, "map: %s", message);
}

static bool check_maps(struct definition_check *check, const char *path)
{
    struct step_maps *maps = NULL;
    struct step_error error;
    enum step_status status = step_maps_create(check->definition, report_map, check, &maps, &error);
    step_maps_destroy(maps);
    if (status != STEP_STATUS_OK)
        fprintf(stderr, "stepc: %s: %s\n", path, error.message);
    return status == STEP_STATUS_OK;
}

/* Returns the place in the text of a record's field, or of the record. */
static struct dl_place check_find_place(const struct step_definition *definition, uint32_t index,
                                        uint32_t field)
{
    const struct step_record *built = &definition->records[index];
    const char *name = field < built->field_count ? built->fields[field].name : NULL;
    const struct dl_record *record = dl_definition_tree(definition);
    while (record != NULL && record->index != index)
        record = record->next;
    if (record == NULL)
        return (struct dl_place){1, 1};
    for (const struct dl_field *own = record->fields; name != NULL && own != NULL; own = own->next)
        if (strcmp(own->name, name) == 0)
            return own->place;
    return record->place;
}

/* Writers refuse a definition for which no plan can be built. */
static bool check_plan(struct definition_check *check, const char *path)
{
    struct step_plan_place at;
    struct step_error error;
    enum step_status status = step_plan_check(check->definition, &at, &error);
    if (status == STEP_STATUS_OK)
        return true;
    if (status == STEP_STATUS_NO_MEMORY) {
        fprintf(stderr, "stepc: %s: %s\n", path, error.message);
        return false;
    }
    const struct dl_place place = check_find_place(check->definition, at.record, at.field);
    check_report(check, &place, false, "%s", error.message);
    return true;
}

int check_definition(const struct step_definition *definition, const char *path, bool strict)
{
    struct definition_check check = {.definition = definition, .strict = strict};
    check_attributes(&check);
    bool done = check_maps(&check, path) && check_plan(&check, path);
    return !done ? EXIT_FAILED : check.faults > 0 ? EXIT_BAD_INPUT : EXIT_DONE;
}
