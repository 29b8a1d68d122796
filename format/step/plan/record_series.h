/* SPDX-License-Identifier: Apache-2.0 */
/* Series for `stack` and `age`: for each value of a column, facts about other records of the
 * block. */
#ifndef FORMAT_STEP_PLAN_RECORD_SERIES_H
#define FORMAT_STEP_PLAN_RECORD_SERIES_H

#include "format/step/plan/field_series.h"

/* Makes a bit for each value of the column (strategy_table.h: PUSHES), set if its record is or
 * extends the type `record`.  `*storage`, which the caller frees, may hold the result. */
enum step_status step_follow_pushes(const struct step_sequence *sequence, uint32_t column,
                                    uint32_t record, size_t count, uint64_t **storage,
                                    struct step_series *out);

/* Finds the latest value that the column `other` had before each value of the column, or 0. */
enum step_status step_follow_latest(const struct step_sequence *sequence, uint32_t column,
                                    uint32_t other, size_t count, uint64_t **storage,
                                    struct step_series *out);

/* Convert a column to a number, from its record and field, and back (STEP_NO_INDEX: not a single
 * value). */
uint64_t step_follow_reference(const struct step_plan *plan, uint32_t column);
uint32_t step_follow_column(const struct step_plan *plan, uint64_t reference);

#endif
