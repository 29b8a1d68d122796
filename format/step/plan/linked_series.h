/* SPDX-License-Identifier: Apache-2.0 */
/* Series for `linked`: two other fields of the same record, and the latest value of a column. */
#ifndef FORMAT_STEP_PLAN_LINKED_SERIES_H
#define FORMAT_STEP_PLAN_LINKED_SERIES_H

#include "format/step/plan/field_series.h"

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
