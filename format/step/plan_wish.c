/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes, from wherever they are given, as the wish for a column. */
#include <stdio.h>
#include <string.h>

#include "plan_build.h"

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
    step_plan_own_wish(scope->field, scope->path, &wish);
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
