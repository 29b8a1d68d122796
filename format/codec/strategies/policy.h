/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The encoding policy of one field, as the paper's Appendix B has it: a general strategy, which
 * defers to a targeted one, which defers to a basic rule; of each the last that was named counts.
 */
#ifndef FORMAT_CODEC_STRATEGIES_POLICY_H
#define FORMAT_CODEC_STRATEGIES_POLICY_H

#include "format/codec/strategies/strategy_table.h"

enum step_general { STEP_GENERAL_NONE, STEP_IDENTIFIER, STEP_CONSTANT, STEP_DEFAULT };

enum step_size { STEP_SIZE_CREEP, STEP_SIZE_FIXED, STEP_SIZE_START, STEP_SIZE_MIN };

struct step_policy {
    enum step_general general;
    enum step_targeted targeted;
    uint64_t parameter;  /* of the targeted strategy */
    uint64_t resolution; /* values are multiples of it; 0: of 1 */
    unsigned strings;    /* of strings and data: flags of packed_strings.h */
    enum step_size size;
    unsigned bytes; /* of the size rules other than creep: 1 to 8 */
    bool is_unsigned;
};

static inline const struct step_strategy *step_policy_strategy(const struct step_policy *policy)
{
    return step_strategies[policy->targeted];
}

/* Does it look at other records: what they push, or what a field of theirs had last? */
static inline bool step_policy_follows(const struct step_policy *policy)
{
    enum step_series_kind needs = step_policy_strategy(policy)->needs;
    return needs == STEP_SERIES_PUSHES || needs == STEP_SERIES_LATEST;
}

/* The bytes that a value needs at least: 1 to 8. */
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
