/* SPDX-License-Identifier: Apache-2.0 */
/* Series for `stack` and `age`: walks over the records of a block. */
#include "format/step/plan/record_series.h"

#include <stdlib.h>
#include <string.h>

/* By type of the block: whether its records have a value in the column; with `pushing`, 2 if they
 * also are or extend that record type.  The caller frees it. */
static uint8_t *types_with(const struct step_sequence *sequence, uint32_t column, uint32_t pushing)
{
    const struct step_plan *plan = sequence->plan;
    uint8_t *types = malloc(sequence->type_count + 1);
    for (size_t i = 0; types != NULL && i < sequence->type_count; i++) {
        uint32_t record = sequence->records[i];
        bool has = step_field_column(plan, record, plan->columns[column].field) == column;
        bool pushes = has && pushing != STEP_NO_INDEX &&
                      step_record_extends(plan->definition, record, pushing);
        types[i] = (uint8_t) (has + pushes);
    }
    return types;
}

enum { BITS = 64 }; /* bits in a word */

static size_t type_of(const struct step_sequence *sequence, size_t i)
{
    return sequence->type_count > 1 ? sequence->types[i] : 0;
}

/* Processes record by record.  Returns how many bits were written. */
static size_t fill_some(const struct step_sequence *sequence, const uint8_t *types, size_t count,
                        uint64_t *pushes)
{
    uint64_t word = 0;
    size_t n = 0;
    for (size_t i = 0; i < sequence->record_count && n < count; i++) {
        uint8_t type = types[type_of(sequence, i)];
        if (type == 0)
            continue;
        word |= (uint64_t) (type >> 1) << n % BITS;
        if (++n % BITS == 0) {
            pushes[n / BITS - 1] = word;
            word = 0;
        }
    }
    if (n % BITS != 0)
        pushes[n / BITS] = word;
    return n;
}

/* The case that every record has a value: `count` of them, of several types. */
static size_t fill_all(const struct step_sequence *sequence, const uint8_t *types, size_t count,
                       uint64_t *pushes)
{
    const uint16_t *type = sequence->types;
    for (size_t i = 0; i < count; i += BITS) {
        size_t most = count - i < BITS ? count - i : BITS;
        uint64_t word = 0;
        for (size_t k = 0; k < most; k++)
            word |= (uint64_t) (types[type[i + k]] >> 1) << k;
        pushes[i / BITS] = word;
    }
    return count;
}

static size_t fill_pushes(const struct step_sequence *sequence, const uint8_t *types, size_t count,
                          uint64_t *pushes)
{
    bool all = sequence->type_count > 1 && count <= sequence->record_count;
    for (size_t i = 0; i < sequence->type_count; i++)
        all = all && types[i] != 0;
    return (all ? fill_all : fill_some)(sequence, types, count, pushes);
}

static void fill_latest(const struct step_sequence *sequence, const uint8_t *mine,
                        const uint8_t *others, const struct step_series *values, size_t count,
                        uint64_t *latest)
{
    uint64_t value = 0;
    size_t n = 0, position = 0;
    for (size_t i = 0; i < sequence->record_count && n < count; i++) {
        size_t type = type_of(sequence, i);
        if (mine[type] != 0)
            latest[n++] = value;
        if (values->values != NULL && others[type] != 0)
            value = values->values[position++ * values->step];
    }
    while (n < count)
        latest[n++] = 0;
}

enum step_status step_follow_pushes(const struct step_sequence *sequence, uint32_t column,
                                    uint32_t record, size_t count, uint64_t **storage,
                                    struct step_series *out)
{
    uint8_t *types = types_with(sequence, column, record);
    size_t words = count / BITS + 1;
    uint64_t *pushes = *storage = malloc(words * sizeof *pushes);
    enum step_status status = STEP_STATUS_NO_MEMORY;
    if (types != NULL && pushes != NULL) {
        size_t filled = fill_pushes(sequence, types, count, pushes);
        size_t whole = (filled + BITS - 1) / BITS;
        memset(pushes + whole, 0, (words - whole) * sizeof *pushes);
        *out = (struct step_series){pushes, 1, NULL};
        status = STEP_STATUS_OK;
    }
    free(types);
    return status;
}

enum step_status step_follow_latest(const struct step_sequence *sequence, uint32_t column,
                                    uint32_t other, size_t count, uint64_t **storage,
                                    struct step_series *out)
{
    uint8_t *mine = types_with(sequence, column, STEP_NO_INDEX);
    uint8_t *others = types_with(sequence, other, STEP_NO_INDEX);
    uint64_t *latest = *storage = malloc((count + 1) * sizeof *latest);
    enum step_status status = STEP_STATUS_NO_MEMORY;
    if (mine != NULL && others != NULL && latest != NULL) {
        fill_latest(sequence, mine, others, &sequence->columns[other], count, latest);
        *out = (struct step_series){latest, 1, NULL};
        status = STEP_STATUS_OK;
    }
    free(mine);
    free(others);
    return status;
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
