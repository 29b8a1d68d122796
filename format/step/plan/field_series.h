/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Series for `given`: for each value of one column, the value of another field of the same record.
 */
#ifndef FORMAT_STEP_PLAN_FIELD_SERIES_H
#define FORMAT_STEP_PLAN_FIELD_SERIES_H

#include "format/step/plan/plan.h"

/* The records of a block: their types as numbers local to the block, and the record type of each
 * number.  `columns` has the values of all known columns, by number in the plan. */
struct step_sequence {
    const struct step_plan *plan;
    const uint16_t *types;
    size_t record_count;
    const uint32_t *records;
    size_t type_count;
    const struct step_series *columns;
};

/* Finds the values of `field` for each record that has a value in `column`.  If no column has them
 * in this form, they are collected in `*storage`, which the caller frees. */
enum step_status step_gather(const struct step_sequence *sequence, uint32_t column, uint32_t field,
                             size_t count, uint64_t **storage, struct step_series *out);

/* Returns the reference in the file to what a column is `given` (docs/formats/step.md), or 0. */
uint64_t step_given_reference(const struct step_plan *plan, uint32_t column);

#endif
