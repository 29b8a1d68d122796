/* SPDX-License-Identifier: Apache-2.0 */
/* The walks over a block's records. */
#include "follow.h"

#include <stdlib.h>

static uint32_t record_of(const struct step_sequence *sequence, size_t i)
{
    return sequence->records[sequence->type_count > 1 ? sequence->types[i] : 0];
}

enum step_status step_follow_pushes(const struct step_sequence *sequence, uint32_t column,
                                    uint32_t record, size_t count, uint64_t **storage,
                                    struct step_series *out)
{
    const struct step_plan *plan = sequence->plan;
    uint64_t *pushes = *storage = calloc(count + 1, sizeof *pushes);
    size_t n = 0;
    if (pushes == NULL)
        return STEP_STATUS_NO_MEMORY;
    for (size_t i = 0; i < sequence->record_count && n < count; i++) {
        uint32_t type = record_of(sequence, i);
        if (step_field_column(plan, type, plan->columns[column].field) == column)
            pushes[n++] = step_record_extends(plan->definition, type, record);
    }
    *out = (struct step_series){pushes, 1};
    return STEP_STATUS_OK;
}

enum step_status step_follow_latest(const struct step_sequence *sequence, uint32_t column,
                                    uint32_t other, size_t count, uint64_t **storage,
                                    struct step_series *out)
{
    const struct step_plan *plan = sequence->plan;
    const struct step_series *values = &sequence->columns[other];
    uint64_t *latest = *storage = calloc(count + 1, sizeof *latest);
    uint64_t value = 0;
    size_t n = 0;
    size_t position = 0;
    if (latest == NULL)
        return STEP_STATUS_NO_MEMORY;
    for (size_t i = 0; i < sequence->record_count && n < count; i++) {
        uint32_t type = record_of(sequence, i);
        if (step_field_column(plan, type, plan->columns[column].field) == column)
            latest[n++] = value;
        if (values->values != NULL &&
            step_field_column(plan, type, plan->columns[other].field) == other)
            value = values->values[position++ * values->step];
    }
    *out = (struct step_series){latest, 1};
    return STEP_STATUS_OK;
}

enum { FIELD_BITS = 24 };

uint64_t step_follow_reference(const struct step_plan *plan, uint32_t column)
{
    return (uint64_t) plan->columns[column].record << FIELD_BITS | plan->columns[column].field;
}

uint32_t step_follow_column(const struct step_plan *plan, uint64_t reference)
{
    uint64_t record = reference >> FIELD_BITS;
    return record < plan->definition->record_count
               ? step_field_column(plan, (uint32_t) record,
                                   reference & ((UINT64_C(1) << FIELD_BITS) - 1))
               : STEP_NO_INDEX;
}
