/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks records against their definition before a writer accepts them: constants that change,
 * integers too large for their fixed size, strings outside their character set.
 *
 * Columns could store such values all the same, but rows could not, and a definition that the
 * records violate is false documentation.  The check comes before the record is stored, so that the
 * record is refused, and not its block.
 */
#ifndef FORMAT_STEP_COLUMNS_CHECK_RECORD_H
#define FORMAT_STEP_COLUMNS_CHECK_RECORD_H

#include "format/core/bytes.h"
#include "format/step/columns/pending_records.h"

/* State of the checks of one writer.  Zero-initialise. */
struct step_check {
    uint64_t *constants;        /* by column of the plan */
    struct step_buffer *values; /* by node of the plan: constants that are not single numbers */
    size_t node_count;
    struct step_buffer value; /* of the current node */
    struct step_pending rows; /* the same, before its numbers are rounded */
    uint8_t *known;           /* by column, then by node: whether the constant is known */
    uint32_t *learnt;         /* in order: those first seen in the last record */
    size_t learnt_count;
};

void step_check_reset(struct step_check *check);

/* Checks a record whose plan says `checked`.  INVALID: it violates its definition; the error names
 * the field and the reason.  Call it before step_pending_append(), which would accept such a
 * record. */
enum step_status step_check_record(struct step_check *check, const struct step_plan *plan,
                                   uint32_t record, const uint64_t *slots,
                                   struct step_error *error);

/* Forgets the constants of the last checked record, because it is not written after all.  (For a
 * refused record that happens automatically.) */
void step_check_forget(struct step_check *check);

#endif
