/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records against their definition, before a writer takes them: constants that change, integers
 * that are too large for their fixed size, strings that are none in their character set.
 */
#ifndef FORMAT_STEP_PLAN_CHECK_RECORD_H
#define FORMAT_STEP_PLAN_CHECK_RECORD_H

#include "format/core/bytes.h"
#include "format/step/plan/plan.h"

/* What the checks of one writer remember.  Zero-initialised is empty. */
struct step_check {
    uint64_t *constants;        /* by column of the plan */
    struct step_buffer *values; /* by node of the plan: constants that are no single number */
    size_t node_count;
    struct step_buffer value; /* of the node at hand */
    uint8_t *known;           /* by column, then by node: is the constant known */
    uint32_t *learnt;         /* the same, in order: those that the last record had */
    size_t learnt_count;
};

void step_check_reset(struct step_check *check);

/* INVALID, with the field and what is wrong with it, for a record against its definition.  Only for
 * records whose plan says `checked`. */
enum step_status step_check_record(struct step_check *check, const struct step_plan *plan,
                                   uint32_t record, const uint64_t *slots,
                                   struct step_error *error);

/* The record that was checked last is not written after all: what it said of constants is
 * forgotten. (Of one that is refused here that is done.) */
void step_check_forget(struct step_check *check);

#endif
