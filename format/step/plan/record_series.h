/* SPDX-License-Identifier: Apache-2.0 */
/* Series: for each value of a column, facts about its own record or other records of the block.
 * Transforms know nothing of records; a series tells them what they need, one entry for each value.
 * Writers and readers make the same series with the same functions, from the types of the records
 * and from columns that are known. */
#ifndef FORMAT_STEP_PLAN_RECORD_SERIES_H
#define FORMAT_STEP_PLAN_RECORD_SERIES_H

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

/* Series for `linked`: two other fields of the same record, and the latest value of a column. */

/* Convert the transform's parameters 0 and 1 to columns, and back.  Return false for impossible
 * ones: the fields must be others of the column's record, and the reference the single column of a
 * record's field. */
bool step_links_unpack(const struct step_plan *plan, uint32_t column, const uint64_t parameters[2],
                       struct step_links *links);

/* Zero-initialise for empty series. */
struct step_linked {
    struct step_series series[STEP_LINKED_SERIES];
    uint64_t *storage[STEP_LINKED_SERIES];
};

/* Fills the series for the column's `count` values, from columns that are known. */
enum step_status step_linked_fill(const struct step_sequence *sequence, uint32_t column,
                                  const struct step_links *links, size_t count,
                                  struct step_linked *out);
void step_linked_reset(struct step_linked *linked);

#endif
