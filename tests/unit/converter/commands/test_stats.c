/* SPDX-License-Identifier: Apache-2.0 */
/* `stats`: its tables of small traces, and its gates. */
#include <CUnit/Basic.h>
#include <stdlib.h>
#include <string.h>

#include "converter/cli/verb.h"
#include "tests/unit/converter/commands/run_verb.h"
#include "tests/unit/run_suite.h"

static void test_tables(void)
{
    struct verb_result result = run_verb("stats", scratch_put_text("a.hatf.txt", heap_lines), NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_OK);
    static const char *const lines[] = {
        "allocated 4 objects, 240 B\n", "freed     2 objects, 116 B\n",
        "at end    2 objects, 124 B\n", "peak      3 objects, 208 B, at 2.40 us\n", "max 200 ns\n"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        CU_ASSERT(has_text(result.out, lines[i]));
    result = run_verb("stats", java_trace("a.step"), NULL);
    CU_ASSERT(has_text(result.out, "pack/Cart.main"));
    CU_ASSERT(has_text(result.out, "(the trace has no object sizes)"));
}

/* The order of the classes, and how many are shown. */
static void test_order(void)
{
    const char *path = java_trace("a.step");
    char *all = strdup(run_verb("stats", path, "--sort=objects", NULL).out);
    const char *ints = strstr(all, "[I\n"), *cart = strstr(all, "pack/Cart\n");
    CU_ASSERT(ints != NULL && cart != NULL && ints < cart);
    free(all);
    all = strdup(run_verb("stats", path, "--sort=live", NULL).out);
    ints = strstr(all, "[I\n"), cart = strstr(all, "pack/Cart\n");
    CU_ASSERT(ints != NULL && cart != NULL && ints > cart);
    free(all);
    struct verb_result result = run_verb("stats", path, "--top=1", "--sort=objects", NULL);
    CU_ASSERT(has_text(result.out, "[I\n") && !has_text(result.out, "pack/Cart\n"));
}

static void test_json(void)
{
    struct verb_result result =
        run_verb("stats", "--json", scratch_put_text("a.hatf.txt", heap_lines), NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_OK);
    CU_ASSERT(has_text(result.out, "240"));
    CU_ASSERT(has_text(result.out, "\"peak"));
}

/* Lifetimes in bytes: the first block of 32 bytes dies when 132 are allocated. */
static void test_lifetimes_in_bytes(void)
{
    const char *path = scratch_put_text("a.hatf.txt", heap_lines);
    struct verb_result result = run_verb("stats", path, "--lifetimes=bytes", NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_OK);
    CU_ASSERT(has_text(result.out, "max 132 B"));
}

/* The exit status of a rule that holds is the gate's, and the message names it. */
static void test_gates(void)
{
    const char *path = scratch_put_text("a.hatf.txt", heap_lines);
    struct verb_result result =
        run_verb("stats", path, "--quiet", "--fail-if", "allocated > 239", NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_OK);
    CU_ASSERT_EQUAL(verb_exit_code, 4);
    CU_ASSERT(has_text(result.err, "allocated > 239"));
    CU_ASSERT_STRING_EQUAL(result.out, "");
    result = run_verb("stats", path, "--quiet", "--fail-if", "allocated > 240", NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_OK);
    CU_ASSERT_EQUAL(verb_exit_code, 0);
}

/* A rule about a change needs what it changed from, and then goes by both. */
static void test_baseline(void)
{
    const char *path = scratch_put_text("a.hatf.txt", heap_lines);
    struct verb_result result = run_verb("stats", path, "--fail-if", "allocated > +5%", NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_INVALID);
    CU_ASSERT(has_text(result.err, "--baseline"));
    const char *before =
        scratch_put_text("before.hatf.txt", "# HATF 1.0, by hand\nalloc 4096 220 0 0 0 1\n");
    result =
        run_verb("stats", path, "-q", "--fail-if", "allocated > +5%", "--baseline", before, NULL);
    CU_ASSERT_EQUAL(verb_exit_code, 4);
    result =
        run_verb("stats", path, "-q", "--fail-if", "allocated > +10%", "--baseline", before, NULL);
    CU_ASSERT_EQUAL(verb_exit_code, 0);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_OK);
    result = run_verb("stats", path, "-q", "--fail-if", "allocated > +10%", "--baseline",
                      scratch_path("none.step"), NULL);
    CU_ASSERT_NOT_EQUAL(result.status, STEP_STATUS_OK);
}

static void test_bad_rule(void)
{
    const char *path = scratch_put_text("a.hatf.txt", heap_lines);
    static const char *const rules[] = {"allocated", "allocated >", "allocatet > 1",
                                        "allocated > -", "class: > 1"};
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        struct verb_result result = run_verb("stats", path, "--fail-if", rules[i], NULL);
        CU_ASSERT_EQUAL(result.status, STEP_STATUS_INVALID);
        CU_ASSERT_STRING_EQUAL(result.out, "");
    }
}

/* A damaged trace: the numbers of the rest, and the status of the damage. */
static void test_cut(void)
{
    size_t length;
    const char *bytes = scratch_read(java_trace("a.step"), &length);
    struct verb_result result = run_verb("stats", scratch_put("c.step", bytes, length - 8), NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_CORRUPT);
    CU_ASSERT(has_text(result.out, "allocated 4 objects"));
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("stats", scratch_begin, scratch_end);
    CU_add_test(suite, "tables", test_tables);
    CU_add_test(suite, "order", test_order);
    CU_add_test(suite, "JSON", test_json);
    CU_add_test(suite, "lifetimes in bytes", test_lifetimes_in_bytes);
    CU_add_test(suite, "gates", test_gates);
    CU_add_test(suite, "baseline", test_baseline);
    CU_add_test(suite, "bad rules", test_bad_rule);
    CU_add_test(suite, "a cut trace", test_cut);
}
