/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `given` predicts by: for each value of one column, the value of another field of the same
 * record.
 */
#ifndef FORMAT_STEP_PLAN_FIELD_SERIES_H
#define FORMAT_STEP_PLAN_FIELD_SERIES_H

#include "format/step/plan/plan.h"

/* The records of a block: their types as numbers local to the block, and the record type of each
 * of these.  `columns` holds the values of every column that is known, by its number in the plan.
 */
struct step_sequence {
    const struct step_plan *plan;
    const uint16_t *types;
    size_t record_count;
    const uint32_t *records;
    size_t type_count;
    const struct step_series *columns;
};

/* The values of `field` for each record that has a value in `column`.  Where these do not stand in
 * a column as they are, they are gathered in `*storage`, which the caller frees. */
enum step_status step_gather(const struct step_sequence *sequence, uint32_t column, uint32_t field,
                             size_t count, uint64_t **storage, struct step_series *out);

/* How the file names what a column is `given` (docs/formats/step.md); 0 where it is not. */
uint64_t step_given_reference(const struct step_plan *plan, uint32_t column);

#endif
