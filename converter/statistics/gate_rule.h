/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rule of a gate: `[[any] AXIS:PATTERN] METRIC OP LIMIT`, as in `allocated > +5%` or
 * `class:com.acme.** alive_at_end > 1m`.  The gate fails if the condition holds.
 */
#ifndef CONVERTER_STATISTICS_GATE_RULE_H
#define CONVERTER_STATISTICS_GATE_RULE_H

#include "converter/cli/arguments.h"
#include "converter/statistics/measures.h"
#include "converter/verdicts/review.h"

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
    const char *file;          /* in which it is; borrowed; NULL: none */
    size_t line;
    enum measure_axis axis;
    bool any; /* one matching row is enough; otherwise matching rows are added up */
    char pattern[GATE_TEXT_MOST];
    const struct metric *metric;
    enum gate_operator operator;
    bool is_change; /* the limit applies to the change from the previous value */
    bool is_percent;
    double limit;
};

bool gate_rule_holds(const struct gate_rule *rule, double value, double limit);
/* Returns true if a row's name matches the rule's pattern. */
bool gate_rule_names(const struct gate_rule *rule, const struct measures *measures, uint32_t row);

/* Returns true if the rule's pattern matches a name that the traces have, with a row or without. */
bool gate_rule_is_known(const struct gate_rule *rule, const struct measures *measures);
/* Returns true if the rule says that there is to be nothing: `> 0`, `!= 0`, `>= 1`. */
bool gate_rule_is_of_absence(const struct gate_rule *rule);

/* Options of a gate, and the evaluation of its rules. */
struct gates {
    struct gate_rule *rules;
    size_t count;
    struct verdict_files files;
    bool is_quiet; /* print only failures */
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
        {"junit",   0,                                                                             \
         "FILE",    "write the rules and their results as JUnit XML",                              \
         take_text, &(gates)->files.junit},                                                        \
        REVIEW_ROWS(&(gates)->files)

void gates_reset(struct gates *gates);
/* Reports a rule whose metric is not in `groups` (enum metric_group bits), or that compares with a
 * previous value, with `change`, how to get one (NULL: there is one).  Returns INVALID then. */
enum step_status gates_check(const struct gates *gates, const struct arguments *arguments,
                             unsigned groups, const char *change);

/* Evaluates all rules, reports failures on stderr, and writes the files.  If one fails, sets
 * `*exit_code`, that of a verb that succeeded. */
#define GATE_EXIT_CODE 4
enum step_status gates_judge(const struct gates *gates, const char *verb,
                             const struct measures *measures, int *exit_code);

#endif
