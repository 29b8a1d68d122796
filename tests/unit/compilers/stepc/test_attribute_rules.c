/* SPDX-License-Identifier: Apache-2.0 */
/* Which attributes are known, and the values that each may have. */
#include <CUnit/Basic.h>
#include <string.h>

#include "compilers/stepc/stepc.h"
#include "tests/unit/run_suite.h"

/* NULL: right; "?": the key is not known; else the fault. */
static const char *fault_of(const char *group, const char *text)
{
    struct step_rule rule;
    struct attribute_rule known;
    const char *nearest, *at = text;
    if (!step_rule_next(&at, text + strlen(text), &rule))
        return "no rule";
    return attribute_rule_find(group, &rule, &known, &nearest)
               ? attribute_value_fault(&known, &rule)
               : "?";
}

static void test_values(void)
{
    static const char *const good[] = {"identifier",
                                       "size=1",
                                       "size=8",
                                       "size=4..",
                                       "size=4+",
                                       "size=creep",
                                       "resolution=2",
                                       "resolution=9223372036854775807",
                                       "type=variable",
                                       "type=constant",
                                       "charset=utf-8",
                                       "delta",
                                       "delta=0",
                                       "stride=-9223372036854775808",
                                       "stride=18446744073709551615",
                                       "linked=a+A.b"};
    static const char *const bad[][2] = {
        {"identifier=1", "is not expected here"},
        {"identifier=", "is not expected here"},
        {"size", "is missing"},
        {"size=", "is missing"},
        {"size=0", "is not one of 1 to 8"},
        {"size=9", "is not one of 1 to 8"},
        {"size=4.", "is not one of 1 to 8"},
        {"size=44", "is not one of 1 to 8"},
        {"resolution=1", "is not one of 2 to 2^63 - 1"},
        {"resolution=9223372036854775808", "is not one of 2 to 2^63 - 1"},
        {"resolution=18446744073709551616", "is not a decimal number"},
        {"resolution=-2", "is not a decimal number"},
        {"resolution=0x10", "is not a decimal number"},
        {"type=some", "is not one of variable"},
        {"stride=-9223372036854775809", "is not a decimal number from -2^63"},
        {"stride=18446744073709551616", "is not a decimal number from -2^63"},
        {"stride=-", "is not a decimal number from -2^63"},
        {"stride=1e3", "is not a decimal number from -2^63"}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        CU_ASSERT_PTR_NULL(fault_of("encoding", good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const char *fault = fault_of("encoding", bad[i][0]);
        CU_ASSERT(fault != NULL && strncmp(fault, bad[i][1], strlen(bad[i][1])) == 0);
    }
}

/* A key belongs to its group. */
static void test_groups(void)
{
    const char *nearest;
    CU_ASSERT_PTR_NULL(fault_of("property", "time"));
    CU_ASSERT_STRING_EQUAL(fault_of("encoding", "time"), "?");
    CU_ASSERT_STRING_EQUAL(fault_of("property", "delta"), "?");
    CU_ASSERT_TRUE(attribute_group_is_known("encoding", &nearest));
    CU_ASSERT_FALSE(attribute_group_is_known("encodin", &nearest));
    CU_ASSERT_STRING_EQUAL(nearest, "encoding");
    CU_ASSERT_FALSE(attribute_group_is_known("something", &nearest));
    CU_ASSERT_PTR_NULL(nearest);
}

static const char *nearest_of(const char *group, const char *text)
{
    struct step_rule rule;
    struct attribute_rule known;
    const char *nearest, *at = text;
    CU_ASSERT_TRUE_FATAL(step_rule_next(&at, text + strlen(text), &rule));
    CU_ASSERT_FALSE(attribute_rule_find(group, &rule, &known, &nearest));
    return nearest;
}

static void test_nearest(void)
{
    CU_ASSERT_STRING_EQUAL(nearest_of("encoding", "identifixer"), "identifier");
    CU_ASSERT_STRING_EQUAL(nearest_of("encoding", "detla"), "delta");
    CU_ASSERT_STRING_EQUAL(nearest_of("property", "addrxess"), "address");
    CU_ASSERT_STRING_EQUAL(nearest_of("encoding", "delta;size=4"), "delta");
    CU_ASSERT_PTR_NULL(nearest_of("encoding", "somethingelse"));
}

static void test_places(void)
{
    struct step_rule rule;
    struct attribute_rule known;
    const char *nearest, *at = "charset=x";
    CU_ASSERT_TRUE_FATAL(step_rule_next(&at, at + 9, &rule));
    CU_ASSERT_TRUE_FATAL(attribute_rule_find("encoding", &rule, &known, &nearest));
    CU_ASSERT(known.places == AT_STRING && known.value == VALUE_CHARSET && known.required);
    at = "delta";
    CU_ASSERT_TRUE_FATAL(step_rule_next(&at, at + 5, &rule));
    CU_ASSERT_TRUE_FATAL(attribute_rule_find("encoding", &rule, &known, &nearest));
    CU_ASSERT_EQUAL(known.places, AT_INT | AT_ENTRY | AT_LENGTH);
    CU_ASSERT_FALSE(known.required);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("rules of attributes", NULL, NULL);
    CU_add_test(suite, "values", test_values);
    CU_add_test(suite, "groups", test_groups);
    CU_add_test(suite, "the nearest", test_nearest);
    CU_add_test(suite, "places", test_places);
}
