/* SPDX-License-Identifier: Apache-2.0 */
/* Series for `given`: the values of the fields that it names. */
#include "format/step/plan/field_series.h"

#include <stdlib.h>

uint64_t step_given_reference(const struct step_plan *plan, uint32_t column)
{
    const struct step_plan_column *planned = &plan->columns[column];
    if (planned->given_column != STEP_NO_INDEX)
        return (uint64_t) plan->columns[planned->given_column].leaf << 1 | 1;
    return planned->given_field != STEP_NO_INDEX ? (uint64_t) planned->given_field << 1 : 0;
}

/* Returns true if the values of `other` correspond one to one to those of `column`. */
static bool is_aligned(const struct step_sequence *sequence, uint32_t column, uint32_t field,
                       uint32_t *other)
{
    const struct step_plan *plan = sequence->plan;
    *other = STEP_NO_INDEX;
    for (size_t i = 0; i < sequence->type_count; i++) {
        uint32_t record = sequence->records[i];
        if (step_field_column(plan, record, plan->columns[column].field) != column)
            continue;
        uint32_t mine = step_field_column(plan, record, field);
        if (*other != STEP_NO_INDEX && *other != mine)
            return false;
        *other = mine;
    }
    for (size_t i = 0; i < sequence->type_count; i++) {
        uint32_t record = sequence->records[i];
        if (step_field_column(plan, record, field) == *other &&
            step_field_column(plan, record, plan->columns[column].field) != column)
            return false;
    }
    return *other != STEP_NO_INDEX;
}

static void collect(const struct step_sequence *sequence, uint32_t column, uint32_t field,
                    size_t *positions, uint64_t *values, size_t count)
{
    const struct step_plan *plan = sequence->plan;
    size_t n = 0;
    for (size_t i = 0; i < sequence->record_count; i++) {
        uint32_t record = sequence->records[sequence->types[i]];
        uint32_t other = step_field_column(plan, record, field);
        if (other == STEP_NO_INDEX)
            continue;
        size_t position = positions[other]++;
        if (step_field_column(plan, record, plan->columns[column].field) != column || n == count)
            continue;
        const struct step_series *series = &sequence->columns[other];
        values[n++] = series->values[position * series->step];
    }
}

enum step_status step_gather(const struct step_sequence *sequence, uint32_t column, uint32_t field,
                             size_t count, uint64_t **storage, struct step_series *out)
{
    *storage = NULL;
    uint32_t other;
    if (is_aligned(sequence, column, field, &other)) {
        *out = sequence->columns[other];
        return STEP_STATUS_OK;
    }
    size_t *positions = calloc(sequence->plan->column_count, sizeof *positions);
    *storage = calloc(count + 1, sizeof **storage);
    enum step_status status = STEP_STATUS_NO_MEMORY;
    if (positions != NULL && *storage != NULL) {
        collect(sequence, column, field, positions, *storage, count);
        *out = (struct step_series){*storage, 1, NULL};
        status = STEP_STATUS_OK;
    }
    free(positions);
    return status;
}
