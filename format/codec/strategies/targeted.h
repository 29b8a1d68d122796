/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The targeted strategies of a field's policy: a row is all that is said of one.
 *
 * To add one: its number in policy.h, its row in targeted.c, what it does to a value in rows
 * (codec/row/encoder_put.c and encoder_get.c, under its number), and what it makes of a column: a
 * transform in strategy_table.c, tried by codec/candidates.c.  Attributes, the directory of rows,
 * messages and documentation of the policy go by the row.
 */
#ifndef FORMAT_CODEC_STRATEGIES_TARGETED_H
#define FORMAT_CODEC_STRATEGIES_TARGETED_H

#include "format/codec/strategies/policy.h"
#include "format/codec/strategies/strategy_table.h"

struct step_targeted_row {
    const char *name;            /* in attributes and in the directory of rows */
    const char *other_name;      /* in attributes; NULL: none */
    enum step_series_kind needs; /* what it looks at beside the field, which its value names */
    bool is_coded;               /* in rows, each value is a code; else measured from another */
    bool has_table;              /* in rows, of 2^bits entries */
    bool has_parameter;
    uint64_t usual_parameter; /* where none is given */
    uint64_t parameter_max;   /* 0: any will do; else it is 1 at least */
};

/* Of each number in policy.h, STEP_TARGETED_NONE included. */
extern const struct step_targeted_row step_targeted_rows[STEP_TARGETED_COUNT];

/* The number of the strategy of that name, STEP_TARGETED_NONE where there is none. */
enum step_targeted step_targeted_find(const char *name, size_t length);

static inline const struct step_targeted_row *step_policy_row(const struct step_policy *policy)
{
    return &step_targeted_rows[policy->targeted];
}

/* Does it look at other records: what they push, or what a field of theirs had last? */
static inline bool step_policy_follows(const struct step_policy *policy)
{
    enum step_series_kind needs = step_policy_row(policy)->needs;
    return needs == STEP_SERIES_PUSHES || needs == STEP_SERIES_LATEST;
}

#endif
