/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rule of a gate: `[[any] AXIS:PATTERN] METRIC OP LIMIT`, as in `allocated > +5%` or
 * `class:com.acme.** alive_at_end > 1m`.  The gate fails if the condition holds.
 */
#ifndef CONVERTER_NUMBERS_GATE_RULE_H
#define CONVERTER_NUMBERS_GATE_RULE_H

#include "converter/numbers/measures.h"

enum gate_operator {
    GATE_GREATER,
    GATE_GREATER_OR_EQUAL,
    GATE_LESS,
    GATE_LESS_OR_EQUAL,
    GATE_EQUAL,
    GATE_NOT_EQUAL
};

#define GATE_TEXT_MOST 512u

struct gate_rule {
    char text[GATE_TEXT_MOST]; /* as it was written */
    char origin[128];          /* "budget.txt:12", or empty */
    enum measure_axis axis;
    bool any; /* one matching row is enough; otherwise matching rows are added up */
    char pattern[GATE_TEXT_MOST];
    const struct metric *metric;
    enum gate_operator operator;
    bool is_change; /* the limit applies to the change from the previous value */
    bool is_percent;
    double limit;
};

/* Returns false on a syntax error, with its column (from 1) and a message in `fault`, which has
 * `fault_size` bytes. */
bool gate_rule_parse(const char *text, struct gate_rule *rule, size_t *column, char *fault,
                     size_t fault_size);
bool gate_rule_holds(const struct gate_rule *rule, double value, double limit);
/* Returns true if a row's name matches the rule's pattern. */
bool gate_rule_names(const struct gate_rule *rule, const struct measures *measures, uint32_t row);

#endif
