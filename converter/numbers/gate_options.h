/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a gate, and what is done with its rules once all is measured. */
#ifndef CONVERTER_NUMBERS_GATE_OPTIONS_H
#define CONVERTER_NUMBERS_GATE_OPTIONS_H

#include "converter/base/arguments.h"
#include "converter/numbers/gate_rule.h"

struct gates {
    struct gate_rule *rules;
    size_t count;
    const char *junit; /* NULL: none is written */
    bool is_quiet;     /* the verb prints nothing but what fails */
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
/* A rule that compares with what was before, or one of a group of metrics that is not measured;
 * NULL: there is none. */
const struct gate_rule *gates_find_change(const struct gates *gates);
const struct gate_rule *gates_find_other(const struct gates *gates, unsigned groups);

/* Judges all, tells on stderr what fails, and writes the XML.  `*failed`: how many do. */
enum step_status gates_judge(const struct gates *gates, const char *verb,
                             const struct measures *measures, size_t *failed);

#endif
