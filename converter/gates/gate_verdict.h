/* SPDX-License-Identifier: Apache-2.0 */
/* What a rule comes to for what was measured. */
#ifndef CONVERTER_GATES_GATE_VERDICT_H
#define CONVERTER_GATES_GATE_VERDICT_H

#include "converter/gates/gate_rule.h"

#define GATE_TOP 3u /* rows that are named */

struct gate_top {
    enum measure_axis axis;
    uint32_t row;
    double value; /* the change, where the rule is of one */
};

struct gate_verdict {
    const struct gate_rule *rule;
    bool fails;
    bool is_noise;  /* it would, but the runs before and after overlap */
    size_t matched; /* rows */
    uint32_t row;   /* of `any`: the one that fails; 0: none */
    struct measured before, after;
    double value; /* what is compared with the limit: the value, or the change */
    double limit;
    struct gate_top top[2 * GATE_TOP];
    size_t top_count;
};

void gate_judge(const struct gate_rule *rule, const struct measures *measures,
                struct gate_verdict *verdict);

#endif
