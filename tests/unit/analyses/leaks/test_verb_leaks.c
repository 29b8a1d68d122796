/* SPDX-License-Identifier: Apache-2.0 */
/* The command `leaks`: survivors and their growth of a program of a few objects, what is left out
 * by a list, a baseline or a rule, and names that want to be something else. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/cli/verb.h"
#include "tests/unit/analyses/small_trace.h"
#include "tests/unit/analyses/verb_output.h"
#include "tests/unit/run_suite.h"
#include "tests/unit/scratch.h"

VERB(leaks);

/* Before each of `turns` collections an object of `size` bytes is made at the line 7 and stays; one
 * of 16 bytes, made at the line 9, dies. */
static char *write_growth(const char *name, unsigned turns, uint64_t size)
{
    small_trace_begin(name);
    uint64_t kept = small_class(HOSTILE_NAME), rest = small_class("[B");
    uint64_t method = small_method(small_class("app/Main"), "run");
    uint64_t keep = small_frame(0, method, 7), drop = small_frame(0, method, 9);
    small_property("end", "vm-death");
    small_start();
    for (unsigned i = 0; i < turns; i++) {
        small_now += 10;
        small_alloc(kept, size, keep);
        uint64_t dead = small_alloc(rest, 16, drop);
        small_now += 10;
        small_free(dead);
    }
    small_death();
    return small_trace_end();
}

/* Three of five saw three collections; the oldest ages are 90, 70 and 50 us. */
static void test_rows(void)
{
    char *path = write_growth("growth.step", 5, 40);
    CU_ASSERT_EQUAL(run_verb(verb_leaks, path, "--json", NULL), STEP_STATUS_OK);
    CU_ASSERT_STRING_EQUAL(run_err(), "");
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_STRING_EQUAL(json_at("collections"), "5");
    CU_ASSERT_STRING_EQUAL(json_at("least_survived"), "3");
    CU_ASSERT_STRING_EQUAL(json_at("at_end.objects"), "5");
    CU_ASSERT_STRING_EQUAL(json_at("at_end.bytes"), "200");
    CU_ASSERT_STRING_EQUAL(json_at("survived.objects"), "3");
    CU_ASSERT_STRING_EQUAL(json_at("survived.bytes"), "120");
    CU_ASSERT_EQUAL_FATAL(json_count("rows"), 1);
    CU_ASSERT_STRING_EQUAL(json_at("rows[0].objects"), "3");
    CU_ASSERT_STRING_EQUAL(json_at("rows[0].at_end_objects"), "5");
    CU_ASSERT_STRING_EQUAL(json_at("rows[0].growth_bytes_per_collection"), "40");
    CU_ASSERT_STRING_EQUAL(json_at("rows[0].fit"), "1");
    CU_ASSERT_STRING_EQUAL(json_at("rows[0].mean_age_ns"), "70000");
    CU_ASSERT_STRING_EQUAL(json_at("rows[0].site[0]"), "app/Main.run:7");
    CU_ASSERT_EQUAL(json_count("rows[0].live"), 5);
    CU_ASSERT_STRING_EQUAL(json_at("rows[0].live[0]"), "40");
    CU_ASSERT_STRING_EQUAL(json_at("rows[0].live[4]"), "200");
    CU_ASSERT_STRING_EQUAL(json_at("rows[0].class"), "(none)");
    CU_ASSERT_EQUAL(run_verb(verb_leaks, path, "--json", "--by=class+site", "--survived=6", NULL),
                    STEP_STATUS_OK);
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_EQUAL(json_count("rows"), 0);
    CU_ASSERT_EQUAL(run_verb(verb_leaks, path, "--json", "--by=class", "--survived=0", NULL),
                    STEP_STATUS_OK);
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_STRING_EQUAL(json_at("rows[0].class"), HOSTILE_NAME);
    CU_ASSERT_STRING_EQUAL(json_at("rows[0].objects"), "5");
    CU_ASSERT_STRING_EQUAL(json_at("rows[0].site"), "(none)");
    CU_ASSERT_EQUAL(run_verb(verb_leaks, path, "--json", "--older-than=60us", "--survived=0", NULL),
                    STEP_STATUS_OK);
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_STRING_EQUAL(json_at("survived.objects"), "2");
}

static void test_text(void)
{
    char *path = write_growth("growth.step", 5, 40);
    CU_ASSERT_EQUAL(run_verb(verb_leaks, path, "--by=class+site", NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE(run_printed(HOSTILE_SHOWN ", app/Main.run:7\n"));
    CU_ASSERT_TRUE(run_printed("survivors"));
    CU_ASSERT_FALSE(run_printed("\x1b"));
    CU_ASSERT_FALSE(run_printed("app/Main.run:9"));
    CU_ASSERT_EQUAL(run_verb(verb_leaks, path, "--survived=9", NULL), STEP_STATUS_OK);
    CU_ASSERT_FALSE(run_printed("survivors  ")); /* no rows, no titles */
}

/* With two collections nothing can have survived three: what lived for half of the time is shown,
 * if the user did not ask for another number. */
static void test_few_collections(void)
{
    char *path = write_growth("few.step", 2, 40);
    CU_ASSERT_EQUAL(run_verb(verb_leaks, path, "--json", NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_STRING_EQUAL(json_at("least_survived"), "0");
    CU_ASSERT_STRING_EQUAL(json_at("least_age_ns"), "20000"); /* of 40 us */
    CU_ASSERT_STRING_EQUAL(json_at("survived.objects"), "1"); /* made at 10 us, not at 30 */
    CU_ASSERT_EQUAL(run_verb(verb_leaks, path, NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE(run_printed("older"));
    CU_ASSERT_EQUAL(run_verb(verb_leaks, path, "--json", "--survived=3", NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_STRING_EQUAL(json_at("survived.objects"), "0");
}

/* ---- suppressions ---- */

static void test_suppressions(void)
{
    char *path = write_growth("growth.step", 5, 40);
    char *list = scratch_put_text("list.txt", "# known\n\n  site:app/Main.run:7   # kept\n"
                                              "class:none/*\n");
    CU_ASSERT_EQUAL(run_verb(verb_leaks, path, "--json", "--suppress", list, NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_EQUAL(json_count("rows"), 0);
    CU_ASSERT_STRING_EQUAL(json_at("suppressed.objects"), "3");
    CU_ASSERT_STRING_EQUAL(json_at("suppressed.bytes"), "120");
    CU_ASSERT_STRING_EQUAL(json_at("survived.objects"), "3"); /* with those */
    CU_ASSERT_TRUE(run_reported("'class:none/*' matches nothing that survived"));
    CU_ASSERT_FALSE(run_reported("run:7'"));
    /* a method without its line, and a caller, name the site as well */
    list = scratch_put_text("list.txt", "site:app/Main.run\n");
    CU_ASSERT_EQUAL(run_verb(verb_leaks, path, "--json", "--suppress", list, NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_STRING_EQUAL(json_at("suppressed.objects"), "3");
    list = scratch_put_text("list.txt", "site:app/Main.run:8\n");
    CU_ASSERT_EQUAL(run_verb(verb_leaks, path, "--json", "--suppress", list, NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_STRING_EQUAL(json_at("suppressed.objects"), "0");
}

static void test_suppression_faults(void)
{
    static const struct {
        const char *text, *fault;
    } rows[] = {{"class:a\n klass:b\n", "line 2, column 2: class: or site: is expected"},
                {"class:\n", "line 1, column 7: a pattern is expected"},
                {"site:\n", "line 1, column 6: a pattern is expected"},
                {"nothing", "line 1, column 1: class: or site: is expected"}};
    char *path = write_growth("growth.step", 5, 40), longest[3000];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *list = scratch_put_text("list.txt", rows[i].text);
        CU_ASSERT_EQUAL(run_verb(verb_leaks, path, "--suppress", list, NULL), STEP_STATUS_INVALID);
        CU_ASSERT_TRUE(run_reported(rows[i].fault));
        CU_ASSERT_STRING_EQUAL(run_out(), "");
    }
    CU_ASSERT_EQUAL(run_verb(verb_leaks, path, "--suppress", scratch_path("gone.txt"), NULL),
                    STEP_STATUS_INVALID);
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    memcpy(longest, "class:", 6);
    CU_ASSERT_EQUAL(
        run_verb(verb_leaks, path, "--suppress", scratch_put_text("list.txt", longest), NULL),
        STEP_STATUS_INVALID);
}

/* ---- a baseline, and rules ---- */

static void test_baseline(void)
{
    char *before = strdup(write_growth("before.step", 5, 40));
    char *after = write_growth("after.step", 5, 100);
    CU_ASSERT_EQUAL(run_verb(verb_leaks, after, "--json", "--baseline", before, NULL),
                    STEP_STATUS_OK);
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_EQUAL_FATAL(json_count("baseline.changes"), 1);
    CU_ASSERT_STRING_EQUAL(json_at("baseline.changes[0].before_bytes"), "120");
    CU_ASSERT_STRING_EQUAL(json_at("baseline.changes[0].bytes"), "300");
    CU_ASSERT_EQUAL(run_verb(verb_leaks, after, "--baseline", before, NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE(run_printed("120 B survived, now 300 B"));
    CU_ASSERT_EQUAL(run_verb(verb_leaks, after, "--baseline", after, "--json", NULL),
                    STEP_STATUS_OK);
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_EQUAL(json_count("baseline.changes"), 0);
    CU_ASSERT_EQUAL(run_verb(verb_leaks, after, "--baseline", scratch_path("gone.step"), NULL),
                    STEP_STATUS_NOT_FOUND);
    free(before);
}

static void test_gates(void)
{
    char *path = write_growth("growth.step", 5, 40);
    verb_exit_code = 0;
    CU_ASSERT_EQUAL(run_verb(verb_leaks, path, "-q", "--fail-if", "leaked > 120", NULL),
                    STEP_STATUS_OK);
    CU_ASSERT_EQUAL(verb_exit_code, 0);
    CU_ASSERT_STRING_EQUAL(run_out(), "");
    CU_ASSERT_EQUAL(run_verb(verb_leaks, path, "-q", "--fail-if", "leaked >= 120", NULL),
                    STEP_STATUS_OK);
    CU_ASSERT_EQUAL(verb_exit_code, 4);
    CU_ASSERT_TRUE(run_reported("leaked >= 120"));
    verb_exit_code = 0;
    CU_ASSERT_EQUAL(run_verb(verb_leaks, path, "-q", "--fail-if", "growth > 39", NULL),
                    STEP_STATUS_OK);
    CU_ASSERT_EQUAL(verb_exit_code, 4);
    verb_exit_code = 0;
    CU_ASSERT_EQUAL(run_verb(verb_leaks, path, "--fail-if", "leaked > +5%", NULL),
                    STEP_STATUS_INVALID);
    CU_ASSERT_TRUE(run_reported("--baseline=TRACE"));
    /* two collections say nothing of survivors of three: the rule is not passed */
    CU_ASSERT_EQUAL(run_verb(verb_leaks, write_growth("few.step", 2, 40), "-q", "--fail-if",
                             "leaked > 0", NULL),
                    STEP_STATUS_CORRUPT);
    CU_ASSERT_EQUAL(verb_exit_code, 0);
}

static void test_faults(void)
{
    char *path = write_growth("growth.step", 5, 40);
    CU_ASSERT_EQUAL(run_verb(verb_leaks, path, "--by=thread", NULL), STEP_STATUS_INVALID);
    CU_ASSERT_TRUE(run_reported("site, class or class+site is expected"));
    CU_ASSERT_EQUAL(run_verb(verb_leaks, NULL), STEP_STATUS_INVALID);
    size_t length;
    char *bytes = scratch_read(path, &length);
    char *cut = scratch_put("cut.step", bytes, length - 40);
    CU_ASSERT_EQUAL(run_verb(verb_leaks, cut, "--json", NULL), STEP_STATUS_CORRUPT);
    CU_ASSERT_TRUE_FATAL(run_json()); /* what is there is printed whole */
    CU_ASSERT_STRING_EQUAL(json_at("survived.objects"), "3");
    CU_ASSERT_TRUE(run_reported("cut.step"));
}

/* Of a sample, survivors are estimates with their intervals. */
static void test_sampled(void)
{
    small_trace_begin("sampled.step");
    uint64_t kept = small_class("app/Kept"), rest = small_class("[B");
    small_property("engine", "sampled");
    small_property("sample", "1000");
    small_start();
    for (unsigned i = 0; i < 4; i++) {
        small_now += 10;
        small_alloc(kept, 1000, 0);
        uint64_t dead = small_alloc(rest, 1000, 0);
        small_now += 10;
        small_free(dead);
    }
    CU_ASSERT_EQUAL(run_verb(verb_leaks, small_trace_end(), "--json", NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_STRING_EQUAL(json_at("survived.samples"), "2");
    CU_ASSERT_DOUBLE_EQUAL(json_real_at("survived.bytes"), 2 * 1581.98, 1);
    CU_ASSERT_TRUE(json_real_at("survived.bytes_low") < 2 * 1581.98);
    CU_ASSERT_TRUE(json_real_at("survived.bytes_high") > 2 * 1581.98);
    CU_ASSERT_STRING_EQUAL(json_at("rows[0].samples"), "2");
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("leaks", scratch_begin, scratch_end);
    CU_add_test(suite, "rows", test_rows);
    CU_add_test(suite, "text", test_text);
    CU_add_test(suite, "few collections", test_few_collections);
    CU_add_test(suite, "suppressions", test_suppressions);
    CU_add_test(suite, "faults of suppressions", test_suppression_faults);
    CU_add_test(suite, "baseline", test_baseline);
    CU_add_test(suite, "rules", test_gates);
    CU_add_test(suite, "faults", test_faults);
    CU_add_test(suite, "sampled", test_sampled);
}
