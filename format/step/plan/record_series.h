/* SPDX-License-Identifier: Apache-2.0 */
/* What `stack` and `age` go by: for each value of a column, what other records of the block did. */
#ifndef FORMAT_STEP_PLAN_RECORD_SERIES_H
#define FORMAT_STEP_PLAN_RECORD_SERIES_H

#include "format/step/plan/field_series.h"

/* For each value of the column a bit (strategy_table.h: PUSHES): is its record of the type
 * `record`, or extends it?  `*storage`, which the caller frees, may hold the result. */
enum step_status step_follow_pushes(const struct step_sequence *sequence, uint32_t column,
                                    uint32_t record, size_t count, uint64_t **storage,
                                    struct step_series *out);

/* The latest value that the column `other` had before each value of the column, or 0. */
enum step_status step_follow_latest(const struct step_sequence *sequence, uint32_t column,
                                    uint32_t other, size_t count, uint64_t **storage,
                                    struct step_series *out);

/* A column by its record and field, in one number, and back (STEP_NO_INDEX: no single value). */
uint64_t step_follow_reference(const struct step_plan *plan, uint32_t column);
uint32_t step_follow_column(const struct step_plan *plan, uint64_t reference);

#endif
