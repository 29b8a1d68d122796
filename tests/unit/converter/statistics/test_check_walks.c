/* SPDX-License-Identifier: Apache-2.0 */
/* Records of two walks that break no rule, and what each change of them breaks. */
#include <CUnit/Basic.h>
#include <string.h>

#include "converter/statistics/check_walks.h"
#include "steptrace/live.h"
#include "tests/unit/run_suite.h"

enum { KNOWN, SURVIVED, UNKNOWN, AGE, WALK, NEXT_CLASS, NEXT_WALK, FACTS };

static const struct trace_fact good[FACTS] = {
    [KNOWN] = {.kind = TRACE_EDEN_CLASS,
               .collection = 1,
               .class_id = 1,
               .is_of_class = true,
               .objects = 5,
               .bytes = 120},
    [SURVIVED] = {.kind = TRACE_EDEN_CLASS,
                  .collection = 1,
                  .class_id = 2,
                  .is_of_class = true,
                  .objects = 10,
                  .bytes = 160,
                  .has_survivors = true,
                  .survived = 10,
                  .survived_bytes = 160},
    [UNKNOWN] = {.kind = TRACE_EDEN_CLASS, .collection = 1, .bytes = 1000},
    [AGE] =
        {.kind = TRACE_EDEN_AGE, .collection = 1, .class_id = 2, .is_of_class = true, .age = 15},
    [WALK] = {.kind = TRACE_EDEN_WALK, .collection = 1, .counted = 1280, .bytes = 280},
    [NEXT_CLASS] = {.kind = TRACE_EDEN_CLASS, .collection = 2, .bytes = 7},
    [NEXT_WALK] = {.kind = TRACE_EDEN_WALK,
                   .collection = 2,
                   .how = STEP_LIVE_EDEN_COUNTED,
                   .counted = 7},
};

struct breach_log {
    unsigned count, rule;
    char text[256];
};

static void note_breach(void *user, const struct check_breach *breach)
{
    struct breach_log *log = user;
    if (log->count++ > 0)
        return;
    log->rule = breach->rule;
    strncpy(log->text, breach->text, sizeof log->text - 1);
}

static struct breach_log check_facts(const struct trace_fact *facts, size_t count, bool is_cut)
{
    struct breach_log log = {.count = 0};
    struct trace_names names;
    struct check_rules rules;
    struct check_walks walks;
    trace_names_init(&names);
    check_rules_init(&rules, &names, note_breach, &log);
    rules.is_cut = is_cut;
    check_walks_init(&walks, &rules);
    for (size_t i = 0; i < count; i++)
        check_walks_put(&walks, &facts[i]);
    check_walks_finish(&walks);
    check_rules_reset(&rules);
    trace_names_reset(&names);
    return log;
}

static void expect_breach(size_t at, struct trace_fact fact, const char *text)
{
    struct trace_fact facts[FACTS];
    memcpy(facts, good, sizeof facts);
    facts[at] = fact;
    struct breach_log log = check_facts(facts, FACTS, false);
    CU_ASSERT_EQUAL(log.rule, 10);
    CU_ASSERT_STRING_EQUAL(log.text, text);
}

static struct trace_fact with_bytes(size_t at, uint64_t bytes)
{
    struct trace_fact fact = good[at];
    fact.bytes = bytes;
    return fact;
}

static void test_good(void)
{
    struct trace_fact ring[2 * FACTS];
    memcpy(ring, good, sizeof good);
    memcpy(ring + FACTS, good, sizeof good);
    CU_ASSERT_EQUAL(check_facts(good, FACTS, false).count, 0);
    CU_ASSERT_EQUAL(check_facts(ring, 2 * FACTS, false).count, 0);
    CU_ASSERT_EQUAL(check_facts(good, NEXT_WALK, true).count, 0);
    CU_ASSERT_EQUAL(check_facts(good, 0, false).count, 0);
}

static void test_survivors(void)
{
    struct trace_fact fact = good[SURVIVED];
    fact.survived = 11;
    expect_breach(SURVIVED, fact,
                  "of a class of collection 1, 11 objects (160 bytes) survived of 10 (160)");
    fact.survived = 10;
    fact.survived_bytes = 168;
    expect_breach(SURVIVED, fact,
                  "of a class of collection 1, 10 objects (168 bytes) survived of 10 (160)");
    fact = good[UNKNOWN];
    fact.objects = 3;
    expect_breach(UNKNOWN, fact, "3 objects of collection 1 have no class");
    fact = good[AGE];
    fact.age = 0;
    expect_breach(AGE, fact, "objects in the survivor space after collection 1 have the age 0");
    fact.age = 200;
    expect_breach(AGE, fact, "objects in the survivor space after collection 1 have the age 200");
}

static void test_sums(void)
{
    expect_breach(KNOWN, with_bytes(KNOWN, 121),
                  "the classes of collection 1 have 1281 bytes, 281 of them known; its walk says "
                  "1280 and 280");
    expect_breach(WALK, with_bytes(WALK, 281),
                  "the classes of collection 1 have 1280 bytes, 280 of them known; its walk says "
                  "1280 and 281");
    expect_breach(UNKNOWN, with_bytes(UNKNOWN, UINT64_MAX),
                  "the classes of collection 1 have 2^64 + 279 bytes, 280 of them known; its walk "
                  "says 1280 and 280");
}

static void test_numbers(void)
{
    struct trace_fact fact = good[NEXT_CLASS];
    fact.collection = 3;
    expect_breach(NEXT_CLASS, fact, "a record of collection 3 follows the walk of collection 1");
    fact = good[NEXT_WALK];
    fact.how = 5;
    expect_breach(NEXT_WALK, fact, "the walk of collection 2 is of the unknown kind 5");
    struct breach_log log = check_facts(good, NEXT_WALK, false);
    CU_ASSERT_EQUAL(log.rule, 10);
    CU_ASSERT_STRING_EQUAL(log.text, "the trace ends within the records of a walk");
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("rules of walks", NULL, NULL);
    CU_add_test(suite, "none broken", test_good);
    CU_add_test(suite, "survivors and ages", test_survivors);
    CU_add_test(suite, "sums", test_sums);
    CU_add_test(suite, "numbers", test_numbers);
}
