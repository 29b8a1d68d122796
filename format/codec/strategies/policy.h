/* SPDX-License-Identifier: Apache-2.0 */
/* The encoding policy of a field (STEP paper, Appendix B): a general strategy defers to a targeted
 * one, which defers to a basic rule.  Of each kind the last that is named applies.  Rows follow the
 * policy value by value; columns take it as a hint of what to try (struct step_coding_hints). */
#ifndef FORMAT_CODEC_STRATEGIES_POLICY_H
#define FORMAT_CODEC_STRATEGIES_POLICY_H

#include "format/codec/strategies/strategy_table.h"

enum step_general { STEP_GENERAL_NONE, STEP_IDENTIFIER, STEP_CONSTANT, STEP_DEFAULT };

enum step_size { STEP_SIZE_CREEP, STEP_SIZE_FIXED, STEP_SIZE_START, STEP_SIZE_MIN };

struct step_policy {
    enum step_general general;
    enum step_targeted targeted;
    uint64_t parameter;  /* of the targeted strategy */
    uint64_t resolution; /* values are multiples of it; 0: no resolution */
    unsigned strings;    /* for strings and data: flags of packed_strings.h */
    enum step_size size;
    unsigned bytes; /* for size rules other than creep: 1 to 8 */
    bool is_unsigned;
};

static inline const struct step_strategy *step_policy_strategy(const struct step_policy *policy)
{
    return step_strategies[policy->targeted];
}

/* Returns true if the policy uses other records: values that they push, or the last value of one of
 * their fields. */
static inline bool step_policy_follows(const struct step_policy *policy)
{
    enum step_series_kind needs = step_policy_strategy(policy)->needs;
    return needs == STEP_SERIES_PUSHES || needs == STEP_SERIES_LATEST;
}

/* Returns the number of bytes that a value needs: 1 to 8. */
static inline unsigned step_policy_width(const struct step_policy *policy, uint64_t value)
{
    uint64_t sign = policy->is_unsigned ? 0 : 0 - (value >> 63);
    uint64_t bits = (value ^ sign) >> (policy->is_unsigned ? 0 : 7);
    unsigned width = 1;
    for (bits >>= policy->is_unsigned ? 8 : 0; bits != 0; bits >>= 8)
        width++;
    return width;
}

#endif
