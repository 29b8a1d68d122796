/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes, from wherever they are given, as the wish for a column. */
#include <stdio.h>
#include <string.h>

#include "format/step/plan/plan_build.h"

enum { PATH_BYTES = 512 };

static const struct step_attributes *find_sub(const struct step_field *field, const char *path)
{
    for (size_t i = 0; i < field->sub_attribute_count; i++)
        if (strcmp(field->sub_attributes[i].path, path) == 0)
            return &field->sub_attributes[i].attributes;
    return NULL;
}

/* The attributes of the innermost element of a field: its own, or those of its array's element. */
void step_plan_own_wish(const struct step_field *field, const char *path,
                        struct step_field_wish *wish)
{
    const struct step_attributes *sub = path[0] != '\0' ? find_sub(field, path) : NULL;
    if (sub != NULL)
        step_wish_read(sub, wish);
    else
        step_wish_read(&field->attributes, wish);
}

/* The attributes of the value itself are those of an array's element as well, unless these have
 * their own: but an array that is `constant` is so as a whole. */
static bool is_element_of_constant(const struct step_plan_scope *scope,
                                   const struct step_field_wish *own)
{
    return own->policy.general == STEP_CONSTANT && scope->path[0] != '\0' &&
           find_sub(scope->field, scope->path) == NULL;
}

/* `constant` and `default` of the records by value that the value is part of. */
static enum step_general outer_general(const struct step_plan_scope *scope)
{
    enum step_general general = STEP_GENERAL_NONE;
    for (; scope->outer != NULL && scope->path[0] == '\0'; scope = scope->outer) {
        struct step_field_wish wish = {0};
        if (scope->outer->path[0] != '\0')
            break;
        step_plan_own_wish(scope->outer->field, "", &wish);
        if (wish.policy.general == STEP_CONSTANT)
            return STEP_CONSTANT;
        if (wish.policy.general == STEP_DEFAULT)
            general = STEP_DEFAULT;
    }
    return general;
}

bool step_plan_is_constant(const struct step_plan_scope *scope)
{
    struct step_field_wish wish = {0};
    step_plan_own_wish(scope->field, scope->path, &wish);
    return wish.policy.general == STEP_CONSTANT ? !is_element_of_constant(scope, &wish)
                                                : outer_general(scope) == STEP_CONSTANT;
}

/* What the record that declares the field says of the encoding of all of its fields. */
static void read_record_wish(const struct step_plan_scope *scope, struct step_field_wish *wish)
{
    const struct step_attributes *all =
        &scope->definition->records[scope->field->declaring_record].attributes;
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->items[i].group, "encoding") == 0)
            step_wish_read(&(struct step_attributes){&all->items[i], 1}, wish);
}

/* A value of a constant array follows from those before it, but it is not always the same. */
static void settle_general(const struct step_plan_scope *scope, struct step_field_wish *wish)
{
    enum { PATTERN_ORDER = 2 };
    struct step_policy *policy = &wish->policy;
    enum step_general outer = outer_general(scope);
    if (is_element_of_constant(scope, wish)) {
        policy->general = STEP_GENERAL_NONE;
        wish->column.usual = false;
        if (scope->field->kind == STEP_TYPE_INT && policy->targeted == STEP_TARGETED_NONE) {
            wish->column.order = policy->parameter = PATTERN_ORDER;
            policy->targeted = STEP_CONTEXT;
        }
    }
    if (outer == STEP_CONSTANT || (outer == STEP_DEFAULT && policy->general == STEP_GENERAL_NONE)) {
        policy->general = outer;
        wish->column.usual = true;
    }
}

static void read_outer_wish(const struct step_plan_scope *scope, const char *path,
                            struct step_field_wish *wish)
{
    if (scope == NULL)
        return;
    char longer[PATH_BYTES];
    int length = snprintf(longer, sizeof longer, "%s%s%s", scope->path,
                          scope->path[0] != '\0' ? "." : "", path);
    if (length < 0 || length >= PATH_BYTES)
        return;
    if (scope->outer != NULL) {
        char outermost[PATH_BYTES];
        length = snprintf(outermost, sizeof outermost, "%s.%s", scope->field->name, longer);
        if (length >= 0 && length < PATH_BYTES)
            read_outer_wish(scope->outer, outermost, wish);
    }
    const struct step_attributes *sub = find_sub(scope->field, longer);
    if (sub != NULL)
        step_wish_read(sub, wish);
}

struct step_field_wish step_plan_value_wish(const struct step_plan_scope *scope, bool is_signed)
{
    struct step_field_wish wish = {.column = {.is_signed = is_signed}};
    if (scope->field->kind != STEP_TYPE_RECORD)
        read_record_wish(scope, &wish);
    step_plan_own_wish(scope->field, scope->path, &wish);
    settle_general(scope, &wish);
    if (scope->outer != NULL) {
        char path[PATH_BYTES];
        int length = snprintf(path, sizeof path, "%s%s%s", scope->field->name,
                              scope->path[0] != '\0' ? "." : "", scope->path);
        if (length >= 0 && length < PATH_BYTES)
            read_outer_wish(scope->outer, path, &wish);
    }
    return wish;
}

struct step_field_wish step_plan_length_wish(const struct step_plan_scope *scope)
{
    struct step_field_wish wish = {0};
    read_outer_wish(scope, "length", &wish);
    wish.is_time = wish.is_thread = false;
    wish.given = NULL;
    wish.policy.is_unsigned = true;
    wish.policy.strings = 0;
    wish.policy.resolution = wish.resolution = 0;
    return wish;
}
