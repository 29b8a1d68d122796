/* SPDX-License-Identifier: Apache-2.0 */
/* The command `compare`: what changed between two programs of a few objects, in each form; hostile
 * names, of which none ends the page's data; sets of runs; rules. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "converter/cli/verb.h"
#include "tests/unit/analyses/small_trace.h"
#include "tests/unit/analyses/verb_output.h"
#include "tests/unit/run_suite.h"
#include "tests/unit/scratch.h"

VERB(compare);

#define DATA "<script type=\"application/json\" id=\"data\">"

/* `count` objects of 100 bytes of a hostile name at the inner frame, and two of 50 at the outer. */
static char *write_run(const char *name, unsigned count)
{
    static char paths[4][128];
    static unsigned next;
    small_trace_begin(name);
    uint64_t hostile = small_class(HOSTILE_NAME), main_class = small_class("app/Main");
    uint64_t outer = small_frame(0, small_method(main_class, "run"), 10);
    uint64_t inner = small_frame(outer, small_method(main_class, HOSTILE_NAME), 20);
    small_property("java-command", "app.Main 1");
    small_property("end", "vm-death");
    small_start();
    for (unsigned i = 0; i < count + 2; i++) {
        small_now += 10;
        small_alloc(i < count ? hostile : main_class, i < count ? 100 : 50,
                    i < count ? inner : outer);
    }
    small_now += 10;
    small_free(1);
    small_death();
    return strcpy(paths[next++ % 4], small_trace_end());
}

/* The line of CSV that begins like this, without its end. */
static const char *csv_line(const char *start)
{
    static char line[512];
    const char *at = strstr(run_out(), start);
    line[0] = '\0';
    if (at != NULL)
        snprintf(line, sizeof line, "%.*s", (int) strcspn(at, "\n"), at);
    return line;
}

static void test_csv(void)
{
    char *before = write_run("before.step", 3), *after = write_run("after.step", 5);
    CU_ASSERT_EQUAL(run_verb(verb_compare, before, after, "--csv", NULL), STEP_STATUS_OK);
    CU_ASSERT_STRING_EQUAL(run_err(), "");
    CU_ASSERT_PTR_NOT_NULL(strstr(csv_line("class,\"a</script>\"\"\\x0a\\x1b[2J,'&\""), "300"));
    CU_ASSERT_PTR_NOT_NULL(strstr(csv_line("class,\"a</script>\"\"\\x0a\\x1b[2J,'&\""), "500"));
    CU_ASSERT_FALSE(run_printed("\x1b"));
}

static void test_text(void)
{
    char *before = write_run("before.step", 3), *after = write_run("after.step", 5);
    CU_ASSERT_EQUAL(run_verb(verb_compare, before, after, "--by=all", NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE(run_printed("400 B"));
    CU_ASSERT_TRUE(run_printed("600 B"));
    CU_ASSERT_TRUE(run_printed("+50"));
    CU_ASSERT_TRUE(run_printed(HOSTILE_SHOWN));
    CU_ASSERT_FALSE(run_printed("\x1b"));
    CU_ASSERT_EQUAL(run_verb(verb_compare, before, after, "--tree", "--by=site", NULL),
                    STEP_STATUS_OK);
    CU_ASSERT_TRUE(run_printed("app/Main.run"));
    CU_ASSERT_EQUAL(run_verb(verb_compare, before, before, "--by=all", NULL), STEP_STATUS_OK);
    CU_ASSERT_FALSE(run_printed("+50"));
}

/* JSON, and the page's data, are whole, whatever the names are. */
static void test_json_and_page(void)
{
    char *before = write_run("before.step", 3), *after = write_run("after.step", 5);
    char *page = scratch_path("page.html");
    CU_ASSERT_EQUAL(run_verb(verb_compare, before, after, "--json", "--by=all", NULL),
                    STEP_STATUS_OK);
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_TRUE(run_printed("\\n\\u001b[2J"));
    CU_ASSERT_EQUAL(run_verb(verb_compare, before, after, "--html", page, NULL), STEP_STATUS_OK);
    char *text = scratch_read(page, NULL), *data = strstr(text, DATA);
    CU_ASSERT_PTR_NOT_NULL_FATAL(data);
    data += strlen(DATA);
    char *end = strchr(data, '<');
    CU_ASSERT_PTR_NOT_NULL_FATAL(end);
    CU_ASSERT_EQUAL(strncmp(end, "</script>\n<script>", 18), 0);
    *end = '\0';
    CU_ASSERT_TRUE(json_parse(data));
}

/* Medians of sets: 3, 5 and 9 objects before, 5 after. */
static void test_sets(void)
{
    char set[400], *a = write_run("a.step", 3), *b = write_run("b.step", 5);
    char *c = write_run("c.step", 9), *after = write_run("after.step", 5);
    snprintf(set, sizeof set, "%s,%s,%s", a, b, c);
    verb_exit_code = 0;
    CU_ASSERT_EQUAL(run_verb(verb_compare, set, after, "-q", "--fail-if", "allocated > +0%", NULL),
                    STEP_STATUS_OK);
    CU_ASSERT_EQUAL(run_verb(verb_compare, after, set, "-q", "--fail-if", "allocated > +0%", NULL),
                    STEP_STATUS_OK);
    CU_ASSERT_EQUAL(verb_exit_code, 0);
    CU_ASSERT_EQUAL(run_verb(verb_compare, set, after, "--json", NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE_FATAL(run_json());
}

/* 400 bytes before, 600 after. */
static void test_rules(void)
{
    char *before = write_run("before.step", 3), *after = write_run("after.step", 5);
    verb_exit_code = 0;
    CU_ASSERT_EQUAL(
        run_verb(verb_compare, before, after, "-q", "--fail-if", "allocated > +50%", NULL),
        STEP_STATUS_OK);
    CU_ASSERT_EQUAL(verb_exit_code, 0);
    CU_ASSERT_STRING_EQUAL(run_out(), "");
    CU_ASSERT_EQUAL(
        run_verb(verb_compare, before, after, "-q", "--fail-if", "allocated > +49%", NULL),
        STEP_STATUS_OK);
    CU_ASSERT_EQUAL(verb_exit_code, 4);
    CU_ASSERT_TRUE(run_reported("allocated > +49%"));
    verb_exit_code = 0;
}

static void test_notes(void)
{
    char *before = write_run("before.step", 3);
    small_trace_begin("other.step");
    small_property("java-command", "other.Program");
    small_property("events", "class+thread");
    small_start();
    CU_ASSERT_EQUAL(run_verb(verb_compare, before, small_trace_end(), NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE(run_reported("are of different programs: 'app.Main 1', 'other.Program'"));
    CU_ASSERT_TRUE(run_reported("were not recorded with the same events"));
}

static void test_faults(void)
{
    char *path = write_run("before.step", 3), *page = scratch_path("none.html");
    CU_ASSERT_EQUAL(run_verb(verb_compare, path, NULL), STEP_STATUS_INVALID);
    CU_ASSERT_EQUAL(run_verb(verb_compare, path, path, "--csv", "--json", NULL),
                    STEP_STATUS_INVALID);
    CU_ASSERT_EQUAL(run_verb(verb_compare, path, path, "--tree", "--html", page, NULL),
                    STEP_STATUS_INVALID);
    CU_ASSERT_EQUAL(access(page, F_OK), -1);
    CU_ASSERT_EQUAL(run_verb(verb_compare, path, path, "--by=colour", NULL), STEP_STATUS_INVALID);
    CU_ASSERT_EQUAL(run_verb(verb_compare, path, path, "--by=program", NULL), STEP_STATUS_INVALID);
    CU_ASSERT_EQUAL(run_verb(verb_compare, path, path, "--sort=leaked", NULL), STEP_STATUS_INVALID);
    CU_ASSERT_NOT_EQUAL(run_verb(verb_compare, path, scratch_path("gone.step"), NULL),
                        STEP_STATUS_OK);
    CU_ASSERT_TRUE(run_reported("gone.step"));
    CU_ASSERT_STRING_EQUAL(run_out(), "");
    size_t length;
    char *bytes = scratch_read(path, &length);
    char *cut = scratch_put("cut.step", bytes, length - 40);
    CU_ASSERT_EQUAL(run_verb(verb_compare, path, cut, "--json", NULL), STEP_STATUS_CORRUPT);
    CU_ASSERT_TRUE(run_json()); /* with what is there */
    CU_ASSERT_TRUE(run_reported("cut.step"));
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("compare", scratch_begin, scratch_end);
    CU_add_test(suite, "CSV", test_csv);
    CU_add_test(suite, "text", test_text);
    CU_add_test(suite, "JSON and the page", test_json_and_page);
    CU_add_test(suite, "sets", test_sets);
    CU_add_test(suite, "rules", test_rules);
    CU_add_test(suite, "notes", test_notes);
    CU_add_test(suite, "faults", test_faults);
}
