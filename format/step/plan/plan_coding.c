/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Derives the coding of a column from all attributes that apply to it.
 *
 * Of rules of one kind the last that is read holds (paper, Appendix A and B). The order is: the
 * attributes of the declaring record, the field's own, what a constant or default record imposes on
 * its parts, and the modifiers of fields that contain the value (`~outer.inner`), the outermost
 * first. So whoever uses a record may change the encoding of its parts for that use.
 */
#include <stdio.h>
#include <string.h>

#include "format/codec/strategies/packed_strings.h"
#include "format/step/plan/plan_build.h"

enum { PATH_BYTES = 512 };

/* Joins two parts of a path, of which the second or both may be "".  Returns false if it is too
 * long. */
static bool plan_coding_join(char path[PATH_BYTES], const char *outer, const char *inner)
{
    const char *dot = outer[0] != '\0' && inner[0] != '\0' ? "." : "";
    int length = snprintf(path, PATH_BYTES, "%s%s%s", outer, dot, inner);
    return length >= 0 && length < PATH_BYTES;
}

static const struct step_attributes *find_sub(const struct step_field *field, const char *path)
{
    for (size_t i = 0; i < field->sub_attribute_count; i++)
        if (strcmp(field->sub_attributes[i].path, path) == 0)
            return &field->sub_attributes[i].attributes;
    return NULL;
}

/* Finds the attributes of the innermost element of a field: its own, or those of its array's
 * element. */
void step_plan_own_coding(const struct step_field *field, const char *path,
                          struct step_field_coding *field_coding)
{
    const struct step_attributes *sub = path[0] != '\0' ? find_sub(field, path) : NULL;
    if (sub != NULL)
        step_field_coding_read(sub, field_coding);
    else
        step_field_coding_read(&field->attributes, field_coding);
}

/* The attributes of a value also apply to the elements of an array, unless these have their own.
 * But an array that is `constant` is so as a whole. */
static bool is_element_of_constant(const struct step_plan_scope *scope,
                                   const struct step_field_coding *own)
{
    return own->policy.general == STEP_CONSTANT && scope->path[0] != '\0' &&
           find_sub(scope->field, scope->path) == NULL;
}

/* Returns `constant` or `default` of the records by value that contain the value. */
static enum step_general outer_general(const struct step_plan_scope *scope)
{
    enum step_general general = STEP_GENERAL_NONE;
    for (; scope->outer != NULL && scope->path[0] == '\0'; scope = scope->outer) {
        struct step_field_coding field_coding = {0};
        if (scope->outer->path[0] != '\0')
            break;
        step_plan_own_coding(scope->outer->field, "", &field_coding);
        if (field_coding.policy.general == STEP_CONSTANT)
            return STEP_CONSTANT;
        if (field_coding.policy.general == STEP_DEFAULT)
            general = STEP_DEFAULT;
    }
    return general;
}

bool step_plan_is_constant(const struct step_plan_scope *scope)
{
    struct step_field_coding field_coding = {0};
    step_plan_own_coding(scope->field, scope->path, &field_coding);
    return field_coding.policy.general == STEP_CONSTANT
               ? !is_element_of_constant(scope, &field_coding)
               : outer_general(scope) == STEP_CONSTANT;
}

/* Reads the encoding that the declaring record sets for all of its fields. */
static void read_record_coding(const struct step_plan_scope *scope,
                               struct step_field_coding *field_coding)
{
    const struct step_attributes *all =
        &scope->definition->records[scope->field->declaring_record].attributes;
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->items[i].group, "encoding") == 0)
            step_field_coding_read(&(struct step_attributes){&all->items[i], 1}, field_coding);
}

/* A value in a constant array is determined by those before it, but it is not always the same: the
 * array repeats as a whole.  So its elements get a context, which learns the pattern, in place of
 * `constant`. */
static void settle_general(const struct step_plan_scope *scope,
                           struct step_field_coding *field_coding)
{
    enum { PATTERN_ORDER = 2 };
    struct step_policy *policy = &field_coding->policy;
    enum step_general outer = outer_general(scope);
    if (is_element_of_constant(scope, field_coding)) {
        policy->general = STEP_GENERAL_NONE;
        field_coding->column.usual = false;
        if (scope->field->kind == STEP_TYPE_INT && policy->targeted == STEP_TARGETED_NONE) {
            policy->parameter = PATTERN_ORDER;
            step_hints_add(&field_coding->column, STEP_CONTEXT, PATTERN_ORDER);
            policy->targeted = STEP_CONTEXT;
        }
    }
    if (outer == STEP_CONSTANT || (outer == STEP_DEFAULT && policy->general == STEP_GENERAL_NONE)) {
        policy->general = outer;
        field_coding->column.usual = true;
    }
}

/* The modifiers of the outermost field are read first.  Where two levels give the same rule, that
 * of the inner one holds, although the paper would have it the other way round: a file does not
 * say which field `given` names, or whether `type=variable` holds, so with another order readers
 * would read other values from the files that exist. */
static void read_outer_coding(const struct step_plan_scope *scope, const char *path,
                              struct step_field_coding *field_coding)
{
    if (scope == NULL)
        return;
    char longer[PATH_BYTES], outermost[PATH_BYTES];
    if (!plan_coding_join(longer, scope->path, path))
        return;
    if (scope->outer != NULL && plan_coding_join(outermost, scope->field->name, longer))
        read_outer_coding(scope->outer, outermost, field_coding);
    const struct step_attributes *sub = find_sub(scope->field, longer);
    if (sub != NULL)
        step_field_coding_read(sub, field_coding);
}

struct step_field_coding step_plan_value_coding(const struct step_plan_scope *scope, bool is_signed)
{
    struct step_field_coding field_coding = {.column = {.is_signed = is_signed}};
    if (scope->field->kind != STEP_TYPE_RECORD)
        read_record_coding(scope, &field_coding);
    step_plan_own_coding(scope->field, scope->path, &field_coding);
    settle_general(scope, &field_coding);
    char path[PATH_BYTES];
    if (scope->outer != NULL && plan_coding_join(path, scope->field->name, scope->path))
        read_outer_coding(scope->outer, path, &field_coding);
    return field_coding;
}

bool step_plan_is_numbered(const struct step_plan_scope *scope, uint32_t array_depth,
                           struct step_field_coding *numbers)
{
    struct step_field_coding field_coding = {0};
    char path[PATH_BYTES];
    bool is_whole = scope->path[0] == '\0' || find_sub(scope->field, scope->path) != NULL;
    if (is_whole)
        step_plan_own_coding(scope->field, scope->path, &field_coding);
    if (field_coding.policy.general == STEP_GENERAL_NONE)
        field_coding.policy.general = outer_general(scope);
    if (plan_coding_join(path, scope->field->name, scope->path))
        read_outer_coding(scope->outer, path, &field_coding);
    bool is_usual =
        field_coding.policy.general == STEP_CONSTANT || field_coding.policy.general == STEP_DEFAULT;
    *numbers = (struct step_field_coding){
        .column = {.identifier = true},
        .policy = {.general = is_usual ? STEP_DEFAULT : STEP_GENERAL_NONE,
                   .strings = STEP_STRINGS_NUMBERED,
                   .is_unsigned = true}};
    return field_coding.numbered || (array_depth > 0 && is_usual);
}

struct step_field_coding step_plan_length_coding(const struct step_plan_scope *scope)
{
    struct step_field_coding field_coding = {0};
    read_outer_coding(scope, "length", &field_coding);
    field_coding.is_time = field_coding.is_thread = false;
    field_coding.given = NULL;
    field_coding.policy.is_unsigned = true;
    field_coding.policy.strings = 0;
    field_coding.policy.resolution = field_coding.resolution = 0;
    return field_coding;
}
