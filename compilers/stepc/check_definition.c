/* SPDX-License-Identifier: Apache-2.0 */
/* The checks of stepc beyond the language: that a writer takes the definition, and readers follow.
 */
#include "compilers/stepc/check_definition.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "compilers/compiler.h"
#include "format/language/dl_fault.h"
#include "format/language/dl_tree.h"
#include "format/step/layout.h"
#include "format/step/plan/plan.h"
#include "steptrace/maps.h"

_Static_assert(DL_RECORD_LIMIT == STEP_MAX_RECORD_TYPES, "one limit, in two layers");
_Static_assert(DL_TEXT_LIMIT == STEP_MAX_DEFINITION_BYTES, "one limit, in two layers");

void check_report(struct definition_check *check, const struct dl_place *place, bool warning,
                  const char *format, ...)
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

/* The place of a record's field, or of the record. */
static struct dl_place find_place(const struct step_definition *definition, uint32_t index,
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

/* A writer refuses what it cannot plan. */
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
    const struct dl_place place = find_place(check->definition, at.record, at.field);
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
