/* SPDX-License-Identifier: Apache-2.0 */
/* The text of rules (docs/gates.md), and which of them a program of known sums fails. */
#include <CUnit/Basic.h>
#include <string.h>

#include "converter/statistics/gate_rule.h"
#include "tests/unit/run_suite.h"

static void test_parsed(void)
{
    struct gates gates = {.rules = NULL};
    const char *fault = NULL;
    CU_ASSERT_TRUE(take_fail_if(&gates, "allocated > +5%", &fault));
    CU_ASSERT_TRUE(take_fail_if(&gates, "any class:com.acme.** alive_at_end>=1m", &fault));
    CU_ASSERT_TRUE(take_fail_if(&gates, "thread:\"my pool *\" allocated_objects != -20", &fault));
    CU_ASSERT_EQUAL_FATAL(gates.count, 3);
    const struct gate_rule *rules = gates.rules;
    CU_ASSERT_EQUAL(rules[0].axis, AXIS_PROGRAM);
    CU_ASSERT_EQUAL(rules[0].operator, GATE_GREATER);
    CU_ASSERT_TRUE(rules[0].is_change && rules[0].is_percent && rules[0].limit == 5);
    CU_ASSERT_EQUAL(rules[1].axis, AXIS_CLASS);
    CU_ASSERT_STRING_EQUAL(rules[1].pattern, "com.acme.**");
    CU_ASSERT_TRUE(rules[1].any && !rules[1].is_change && rules[1].limit == 1 << 20);
    CU_ASSERT_EQUAL(rules[1].operator, GATE_GREATER_OR_EQUAL);
    CU_ASSERT_EQUAL(rules[1].metric->sum, SUM_END_BYTES);
    CU_ASSERT_STRING_EQUAL(rules[2].pattern, "my pool *");
    CU_ASSERT_TRUE(rules[2].is_change && !rules[2].is_percent && rules[2].limit == -20);
    gates_reset(&gates);
}

static void test_faults(void)
{
    static const char *const rows[][2] = {
        {"", "column 1: what is measured is expected, as allocated or alive_at_end"},
        {"allocate_ > 1", "column 1: 'allocate_' is not measured; did you mean 'allocated'?"},
        {"allocated", "column 10: one of > >= < <= = != is expected"},
        {"allocated >", "column 12: a limit is expected"},
        {"allocated > 5%", "column 13: a percentage needs a sign: +5% or -5%"},
        {"allocated > +x%", "column 14: a percentage is expected, as +5%"},
        {"allocated > 1 2", "column 15: nothing more is expected"},
        {"allocated < 0", "column 13: 'allocated' is never below 0: nothing can fail this rule"},
        {"any allocated > 1",
         "column 5: class:, site:, thread: or method: is expected after 'any'"},
        {"clas:x allocated > 1", "column 1: class:, site:, thread: or method: is expected"},
        {"class: allocated > 1", "column 7: a pattern is expected"},
        {"class:\"x allocated > 1", "column 8: the quote does not end"},
    };
    struct gates gates = {.rules = NULL};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *fault = NULL;
        CU_ASSERT_FALSE(take_fail_if(&gates, rows[i][0], &fault));
        CU_ASSERT_STRING_EQUAL(fault, rows[i][1]);
    }
    CU_ASSERT_EQUAL(gates.count, 0);
    gates_reset(&gates);
}

static void test_operators(void)
{
    static const bool below_equal_above[][3] = {
        [GATE_GREATER] = {false, false, true}, [GATE_GREATER_OR_EQUAL] = {false, true, true},
        [GATE_LESS] = {true, false, false},    [GATE_LESS_OR_EQUAL] = {true, true, false},
        [GATE_EQUAL] = {false, true, false},   [GATE_NOT_EQUAL] = {true, false, true}};
    for (unsigned operator= GATE_GREATER; operator<= GATE_NOT_EQUAL; operator++) {
        const struct gate_rule rule = {.operator=(enum gate_operator) operator};
        for (int i = 0; i < 3; i++)
            CU_ASSERT_EQUAL(gate_rule_holds(&rule, i - 1, 0), below_equal_above[operator][i]);
    }
}

static void add_allocated(struct measures *measures, enum measure_axis axis, const char *name,
                          uint64_t bytes)
{
    uint32_t row = measures_row(measures, axis, 0, step_text(name));
    CU_ASSERT_NOT_EQUAL_FATAL(row, 0);
    measures_sums(measures, axis, row, 0)[SUM_ALLOCATED_BYTES] = bytes;
}

/* Of a program that allocated 1000 bytes: 600 of a/B, 300 of a/C, 100 of d/E. */
static void test_judged(void)
{
    static const struct {
        const char *text;
        int exit_code;
    } rows[] = {{"allocated > 999", GATE_EXIT_CODE},
                {"allocated > 1000", 0},
                {"class:a.* allocated > 899", GATE_EXIT_CODE}, /* together */
                {"class:a.* allocated > 900", 0},
                {"any class:a.* allocated > 599", GATE_EXIT_CODE},
                {"any class:a.* allocated > 600", 0},
                {"class:d.E allocated < 100", 0},
                {"class:d.E allocated <= 100", GATE_EXIT_CODE}};
    struct measures measures;
    CU_ASSERT_TRUE_FATAL(measures_init(&measures, 1));
    measures.run_count = 1;
    measures.runs[0].side = SIDE_AFTER;
    measures.runs[0].has_sizes = true;
    add_allocated(&measures, AXIS_PROGRAM, "", 1000);
    add_allocated(&measures, AXIS_CLASS, "a/B", 600);
    add_allocated(&measures, AXIS_CLASS, "a/C", 300);
    add_allocated(&measures, AXIS_CLASS, "d/E", 100);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct gates gates = {.is_quiet = true};
        const char *fault = NULL;
        int exit_code = 0;
        CU_ASSERT_TRUE_FATAL(take_fail_if(&gates, rows[i].text, &fault));
        CU_ASSERT_EQUAL(gates_judge(&gates, "stats", &measures, &exit_code), STEP_STATUS_OK);
        CU_ASSERT_EQUAL(exit_code, rows[i].exit_code);
        gates_reset(&gates);
    }
    measures_reset(&measures);
}

/* A program that allocated 170000 bytes allocates 2380 more: 1.4 %, which no binary fraction
 * equals. */
static void test_shares(void)
{
    static const struct {
        const char *text;
        int exit_code;
    } rows[] = {{"allocated > +1.4%", 0},
                {"allocated >= +1.4%", GATE_EXIT_CODE},
                {"allocated <= +1.4%", GATE_EXIT_CODE},
                {"allocated = +1.4%", GATE_EXIT_CODE},
                {"allocated != +1.4%", 0},
                {"allocated > +1.3999%", GATE_EXIT_CODE},
                {"allocated >= +1.4001%", 0}};
    struct measures measures;
    CU_ASSERT_TRUE_FATAL(measures_init(&measures, 2));
    measures.run_count = 2;
    measures.runs[0].side = SIDE_BEFORE;
    measures.runs[1].side = SIDE_AFTER;
    measures.runs[0].has_sizes = measures.runs[1].has_sizes = true;
    add_allocated(&measures, AXIS_PROGRAM, "", 170000);
    measures_sums(&measures, AXIS_PROGRAM, 1, 1)[SUM_ALLOCATED_BYTES] = 172380;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct gates gates = {.is_quiet = true};
        const char *fault = NULL;
        int exit_code = 0;
        CU_ASSERT_TRUE_FATAL(take_fail_if(&gates, rows[i].text, &fault));
        CU_ASSERT_EQUAL(gates_judge(&gates, "compare", &measures, &exit_code), STEP_STATUS_OK);
        CU_ASSERT_EQUAL(exit_code, rows[i].exit_code);
        gates_reset(&gates);
    }
    measures_reset(&measures);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("rules of gates", NULL, NULL);
    CU_add_test(suite, "parsed", test_parsed);
    CU_add_test(suite, "faults", test_faults);
    CU_add_test(suite, "operators", test_operators);
    CU_add_test(suite, "judged", test_judged);
    CU_add_test(suite, "shares", test_shares);
}
