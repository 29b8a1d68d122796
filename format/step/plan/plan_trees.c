/* SPDX-License-Identifier: Apache-2.0 */
/* Finds variants that may contain themselves, and the types that they may contain. */
#include <stdlib.h>

#include "format/step/plan/plan_build.h"

enum { LISTED = 1, WALKED = 2, EXPANDED = 4 };

struct search {
    const struct step_definition *definition;
    uint8_t *marks;   /* of each record */
    uint32_t *places; /* records to examine */
    size_t count;
    uint32_t sought;
    bool found; /* a variant of the searched type was found within one */
};

static void look_into(struct search *search, uint32_t record)
{
    if ((search->marks[record] & WALKED) != 0)
        return;
    search->marks[record] |= WALKED;
    search->places[search->count++] = record;
}

/* Adds all types that a variant of `type` may have. */
static void expand(struct search *search, uint32_t type)
{
    const struct step_definition *definition = search->definition;
    if ((search->marks[type] & EXPANDED) != 0)
        return;
    search->marks[type] |= EXPANDED;
    for (uint32_t i = type; i < definition->record_count; i++)
        if (step_record_extends(definition, i, type)) {
            search->marks[i] |= LISTED;
            look_into(search, i);
        }
}

static void walk(struct search *search, const struct step_record *record)
{
    for (size_t i = 0; i < record->field_count; i++) {
        const struct step_field *field = &record->fields[i];
        if (field->kind != STEP_TYPE_RECORD || step_field_is_identifier(field) ||
            field->record >= search->definition->record_count)
            continue;
        if (!step_field_is_variant(field)) {
            look_into(search, field->record);
            continue;
        }
        search->found = search->found || field->record == search->sought;
        expand(search, field->record);
    }
}

enum step_status step_plan_find_tree(const struct step_definition *definition, uint32_t type,
                                     uint8_t **listed)
{
    struct search search = {.definition = definition, .sought = type};
    *listed = NULL;
    if (type >= definition->record_count)
        return STEP_STATUS_OK;
    search.marks = calloc(definition->record_count, sizeof *search.marks);
    search.places = calloc(definition->record_count, sizeof *search.places);
    enum step_status status =
        search.marks != NULL && search.places != NULL ? STEP_STATUS_OK : STEP_STATUS_NO_MEMORY;
    if (status == STEP_STATUS_OK)
        expand(&search, type);
    while (search.count > 0)
        walk(&search, &definition->records[search.places[--search.count]]);
    for (size_t i = 0; search.found && i < definition->record_count; i++)
        search.marks[i] &= LISTED;
    free(search.places);
    if (search.found)
        *listed = search.marks;
    else
        free(search.marks);
    return status;
}
