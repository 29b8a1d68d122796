/* SPDX-License-Identifier: Apache-2.0 */
/* Options of a gate, and the evaluation of its rules. */
#ifndef CONVERTER_NUMBERS_GATE_OPTIONS_H
#define CONVERTER_NUMBERS_GATE_OPTIONS_H

#include "converter/base/arguments.h"
#include "converter/numbers/gate_rule.h"

struct gates {
    struct gate_rule *rules;
    size_t count;
    const char *junit; /* path of the JUnit XML file; NULL: none */
    bool is_quiet;     /* print only failures */
};

bool take_fail_if(void *gates_target, const char *value, const char **fault);
bool take_budget(void *gates_target, const char *value, const char **fault);

#define GATE_ROWS(gates)                                                                           \
    {"fail-if",    0,                                                                              \
     "RULE",       "exit with status 4 if RULE holds, as 'allocated > +5%' (docs/gates.md)",       \
     take_fail_if, (gates)},                                                                       \
        {"budget",    0,      "FILE", "read rules from a file, one per line; # begins a comment",  \
         take_budget, (gates)},                                                                    \
        {"quiet",           'q', NULL, "print no tables, only rules that fail", take_flag,         \
         &(gates)->is_quiet},                                                                      \
    {                                                                                              \
        "junit", 0, "FILE", "write the rules and their results as JUnit XML", take_text,           \
            &(gates)->junit                                                                        \
    }

void gates_reset(struct gates *gates);
/* Returns the first rule that compares with a previous value, or NULL. */
const struct gate_rule *gates_find_change(const struct gates *gates);
/* Returns the first rule whose metric is not in `groups` (enum metric_group bits), or NULL. */
const struct gate_rule *gates_find_other(const struct gates *gates, unsigned groups);

/* Evaluates all rules, reports failures on stderr, and writes the XML.  Sets `*failed` to the
 * number of failed rules. */
enum step_status gates_judge(const struct gates *gates, const char *verb,
                             const struct measures *measures, size_t *failed);

#endif
