/* SPDX-License-Identifier: Apache-2.0 */
/* Selects records by name.  A name stands for the record and all that extend it, so that a consumer
 * written for `Event` sees the events that were defined later; and with maps for records that can
 * be converted to it. */
#include <stdlib.h>
#include <string.h>

#include "format/core/step_no_memory.h"

#include "steptrace/records.h"

struct step_selection {
    const struct step_definition *definition;
    struct step_maps *maps; /* NULL: none are used */
    uint8_t *wanted;        /* 1: itself, 2: through its map */
    uint32_t *target;       /* if wanted is 2: the selected record */
};

/* Returns true if `end` is the last part of the name, as "Event" of "jvm.Event".  It begins after a
 * dot, so that "Event" does not select "jvm.OtherEvent". */
static bool ends_with_name(const char *name, const char *end)
{
    size_t length = strlen(name), tail = strlen(end);
    return length > tail && name[length - tail - 1] == '.' &&
           strcmp(name + length - tail, end) == 0;
}

/* A full name is looked for first, so that a record can always be named, whatever the ends of other
 * names are.  An end that several names have is refused: to take the first of them would select
 * another record when the definition gets one more. */
static enum step_status find_record(const struct step_definition *definition, const char *name,
                                    uint32_t *record, struct step_error *error)
{
    *record = step_definition_find(definition, name);
    if (*record != STEP_NO_RECORD)
        return STEP_STATUS_OK;
    for (uint32_t i = 0; i < definition->record_count; i++) {
        if (!ends_with_name(definition->records[i].name, name))
            continue;
        if (*record != STEP_NO_RECORD)
            return step_error_set(error, STEP_STATUS_INVALID, NULL, STEP_NO_OFFSET,
                                  "'%s' may be %s or %s", name, definition->records[*record].name,
                                  definition->records[i].name);
        *record = i;
    }
    return *record != STEP_NO_RECORD
               ? STEP_STATUS_OK
               : step_error_set(error, STEP_STATUS_NOT_FOUND, NULL, STEP_NO_OFFSET,
                                "the definition has no record '%s'", name);
}

/* A record that is or extends a selected one is given as it is, also where a map would convert it
 * to another: nothing is lost of it, and the order of the names does not matter for it.  A record
 * that maps convert to several selected ones is converted to the first that was named. */
static void want(struct step_selection *selection, uint32_t asked)
{
    const struct step_definition *definition = selection->definition;
    for (uint32_t i = 0; i < definition->record_count; i++) {
        if (step_record_extends(definition, i, asked)) {
            selection->wanted[i] = 1;
        } else if (selection->maps != NULL && selection->wanted[i] == 0 &&
                   step_maps_target(selection->maps, i, asked) != STEP_NO_RECORD) {
            selection->wanted[i] = 2;
            selection->target[i] = asked;
        }
    }
}

static enum step_status selection_allocate(struct step_selection *selection, bool maps,
                                           struct step_error *error)
{
    size_t count = selection->definition->record_count;
    selection->wanted = calloc(count + 1, sizeof *selection->wanted);
    selection->target = calloc(count + 1, sizeof *selection->target);
    if (selection->wanted == NULL || selection->target == NULL)
        return step_no_memory(error, NULL);
    return maps ? step_maps_create(selection->definition, NULL, NULL, &selection->maps, error)
                : STEP_STATUS_OK;
}

enum step_status step_selection_create(const struct step_definition *definition,
                                       const char *const *names, size_t name_count, bool maps,
                                       struct step_selection **out, struct step_error *error)
{
    struct step_selection *selection = calloc(1, sizeof *selection);
    *out = NULL;
    if (selection == NULL)
        return step_no_memory(error, NULL);
    selection->definition = definition;
    enum step_status status = selection_allocate(selection, maps, error);
    if (status == STEP_STATUS_OK && name_count == 0)
        memset(selection->wanted, 1, definition->record_count);
    for (size_t i = 0; i < name_count && status == STEP_STATUS_OK; i++) {
        uint32_t record;
        status = find_record(definition, names[i], &record, error);
        if (status == STEP_STATUS_OK)
            want(selection, record);
    }
    if (status != STEP_STATUS_OK) {
        step_selection_destroy(selection);
        return status;
    }
    *out = selection;
    return STEP_STATUS_OK;
}

void step_selection_destroy(struct step_selection *selection)
{
    if (selection == NULL)
        return;
    step_maps_destroy(selection->maps);
    free(selection->wanted);
    free(selection->target);
    free(selection);
}

const uint8_t *step_selection_wanted(const struct step_selection *selection)
{
    return selection->wanted;
}

bool step_selection_view(struct step_selection *selection, const struct step_record_view *view,
                         struct step_record_view *out)
{
    uint8_t wanted = selection->wanted[view->record];
    *out = *view;
    return wanted == 1 || (wanted == 2 && step_maps_convert(selection->maps, view,
                                                            selection->target[view->record], out));
}
