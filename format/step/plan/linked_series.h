/* SPDX-License-Identifier: Apache-2.0 */
/* What `linked` goes by: two other fields of the same record, and the latest value of a column. */
#ifndef FORMAT_STEP_PLAN_LINKED_SERIES_H
#define FORMAT_STEP_PLAN_LINKED_SERIES_H

#include "format/step/plan/field_series.h"

/* The transform's parameters 0 and 1, and back; false for what names nothing that can be: a field
 * of the column's record other than its own, a column that a record's field has alone. */
bool step_links_unpack(const struct step_plan *plan, uint32_t column, const uint64_t parameters[2],
                       struct step_links *links);

/* Zero-initialised is empty. */
struct step_linked {
    struct step_series series[STEP_LINKED_SERIES];
    uint64_t *storage[STEP_LINKED_SERIES];
};

/* The series for the column's `count` values, of other columns that are known. */
enum step_status step_linked_fill(const struct step_sequence *sequence, uint32_t column,
                                  const struct step_links *links, size_t count,
                                  struct step_linked *out);
void step_linked_reset(struct step_linked *linked);

#endif
