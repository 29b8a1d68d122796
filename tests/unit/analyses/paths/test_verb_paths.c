/* SPDX-License-Identifier: Apache-2.0 */
/* The commands `paths` and `deaths` on a list of three nodes that a static field holds until it is
 * cut: who holds what, and when what became unreachable. */
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

VERB(paths);
VERB(deaths);

static uint64_t fields[2]; /* app/Main.list, static; app/Node.next */

static uint64_t define_field(uint64_t class_id, const char *name, uint64_t modifiers)
{
    uint64_t id;
    const struct step_java_field field = {class_id, step_text(name), step_text("Lapp/Node;"),
                                          modifiers};
    CU_ASSERT_EQUAL(step_java_field_define(small_trace_writer(), &field, &id), STEP_STATUS_OK);
    return id;
}

static void store(uint64_t holder, uint64_t target, uint64_t field)
{
    const struct step_java_field_store record = {
        .time = small_now, .thread = 1, .holder = holder, .target = target, .field = field};
    CU_ASSERT_EQUAL(step_java_field_store_put(small_trace_writer(), 2, &record), STEP_STATUS_OK);
}

/* Main.list = 1 at 11 us, 1.next = 2 at 21 us, 2.next = 3 at 31 us; at 50 us 1.next = null; at 80
 * us a collection finds 2 and 3 dead. */
static char *write_list(const char *name, bool is_cut)
{
    small_trace_begin(name);
    uint64_t main_class = small_class("app/Main"), node = small_class("app/Node");
    small_property("events", "class+alloc+free+thread+reference");
    fields[0] = define_field(main_class, "list", 8);
    fields[1] = define_field(node, "next", 0);
    small_start();
    uint64_t nodes[3];
    for (unsigned i = 0; i < 3; i++) {
        small_now = 10 + 10 * i;
        nodes[i] = small_alloc(node, 24, 0);
        small_now++;
        store(i == 0 ? 0 : nodes[i - 1], nodes[i], i == 0 ? fields[0] : fields[1]);
    }
    small_now = 50;
    if (is_cut)
        store(nodes[0], 0, fields[1]);
    small_now = 80;
    if (is_cut) {
        small_free(nodes[1]);
        small_free(nodes[2]);
    }
    small_now = 100;
    small_death();
    return small_trace_end();
}

static void test_paths(void)
{
    char *path = write_list("list.step", false);
    CU_ASSERT_EQUAL(run_verb(verb_paths, path, "3", "--json", NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_TRUE(run_printed("list"));
    CU_ASSERT_EQUAL(run_verb(verb_paths, path, "3", NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE(run_printed("app/Main.list"));
    CU_ASSERT_TRUE(run_printed("app/Node.next"));
    CU_ASSERT_EQUAL(run_verb(verb_paths, path, "--class=app/Node", NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE(run_printed("app/Main.list"));
    CU_ASSERT_NOT_EQUAL(run_verb(verb_paths, path, "--class=none/*", "--json", NULL),
                        STEP_STATUS_OK);
    CU_ASSERT_STRING_EQUAL(run_out(), "");
    CU_ASSERT_STRING_NOT_EQUAL(run_err(), "");
}

/* After the cut the first node is held, the others are not. */
static void test_moments(void)
{
    char *path = write_list("cut.step", true);
    CU_ASSERT_EQUAL(run_verb(verb_paths, path, "2", "--at=40us", NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE(run_printed("app/Main.list"));
    CU_ASSERT_EQUAL(run_verb(verb_paths, path, "2", "--at=60us", NULL), STEP_STATUS_OK);
    CU_ASSERT_FALSE(run_printed("app/Main.list"));
    CU_ASSERT_EQUAL(run_verb(verb_paths, path, "1", "--at=60us", NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE(run_printed("app/Main.list"));
}

static void test_faults_of_paths(void)
{
    char *path = write_list("list.step", false);
    CU_ASSERT_EQUAL(run_verb(verb_paths, path, NULL), STEP_STATUS_INVALID);
    CU_ASSERT_TRUE(run_reported("an object's number or --class=GLOB is expected"));
    CU_ASSERT_EQUAL(run_verb(verb_paths, path, "1", "--class=a", NULL), STEP_STATUS_INVALID);
    CU_ASSERT_EQUAL(run_verb(verb_paths, path, "0", NULL), STEP_STATUS_INVALID);
    CU_ASSERT_EQUAL(run_verb(verb_paths, path, "x", NULL), STEP_STATUS_INVALID);
    CU_ASSERT_EQUAL(run_verb(verb_paths, path, "18446744073709551616", NULL), STEP_STATUS_INVALID);
    CU_ASSERT_TRUE(run_reported("is not an object's number"));
    CU_ASSERT_NOT_EQUAL(run_verb(verb_paths, path, "18446744073709551615", NULL), STEP_STATUS_OK);
    CU_ASSERT_NOT_EQUAL(run_verb(verb_paths, path, "1", "--at=gc:1", NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE(run_reported("no such moment"));
    small_trace_begin("plain.step");
    small_start();
    small_alloc(1, 16, 0);
    CU_ASSERT_NOT_EQUAL(run_verb(verb_paths, small_trace_end(), "1", NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE(run_reported("references"));
    CU_ASSERT_STRING_EQUAL(run_out(), "");
}

/* 2 and 3 died with the store at 50 us that cut them off, not at the collection. */
static void test_deaths(void)
{
    char *path = write_list("cut.step", true), *out = scratch_path("exact.step");
    CU_ASSERT_EQUAL(run_verb(verb_deaths, path, "-o", out, "--json", NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_STRING_EQUAL(json_at("deaths.exact"), "2");
    CU_ASSERT_STRING_EQUAL(json_at("deaths.bound"), "0");
    CU_ASSERT_STRING_EQUAL(json_at("deaths.by_collection"), "0");
    CU_ASSERT_STRING_EQUAL(json_at("living"), "1");
    CU_ASSERT_STRING_EQUAL(json_at("collections"), "1");
    CU_ASSERT_STRING_EQUAL(json_at("stores"), "4");
    CU_ASSERT_STRING_EQUAL(json_at("has_references"), "true");
    CU_ASSERT_STRING_EQUAL(json_at("unknown.holders"), "0");
    struct step_java_trace_reader reader;
    struct step_record_view view;
    struct step_java_object_death death;
    unsigned found = 0;
    CU_ASSERT_EQUAL_FATAL(step_java_trace_open(out, &reader, NULL), STEP_STATUS_OK);
    while (step_java_trace_next(&reader, &view, NULL) == STEP_STATUS_OK)
        if (step_java_object_death_get(&reader.binding, &view, &death)) {
            CU_ASSERT_EQUAL(death.time, 50);
            CU_ASSERT_EQUAL(death.collected, 80);
            CU_ASSERT_EQUAL(death.how, 0);
            CU_ASSERT_TRUE(death.object == 2 || death.object == 3);
            found++;
        }
    step_java_trace_close(&reader);
    CU_ASSERT_EQUAL(found, 2);
    CU_ASSERT_EQUAL(run_verb(verb_deaths, path, "-o", scratch_path("text.step"), NULL),
                    STEP_STATUS_OK);
    CU_ASSERT_TRUE(run_reported("2 deaths exact, 0 bounds, 0 by the collection only; 1 objects"));
}

/* Objects that are named without an allocation are counted, and said. */
static void test_unknown(void)
{
    char *path = NULL, *out = scratch_path("unknown.step");
    small_trace_begin("odd.step");
    uint64_t node = small_class("app/Node");
    small_property("events", "class+alloc+free+thread+reference");
    uint64_t next = define_field(node, "next", 0);
    small_start();
    small_now = 10;
    uint64_t known = small_alloc(node, 24, 0);
    store(known, 77, next);
    store(88, known, next);
    small_now = 20;
    small_free(99);
    path = small_trace_end();
    CU_ASSERT_EQUAL(run_verb(verb_deaths, path, "-o", out, "--json", NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_STRING_EQUAL(json_at("unknown.holders"), "1");
    CU_ASSERT_STRING_EQUAL(json_at("unknown.targets"), "1");
    CU_ASSERT_STRING_EQUAL(json_at("unknown.frees"), "1");
    CU_ASSERT_EQUAL(run_verb(verb_deaths, path, "-o", out, NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE(run_reported("1 holders, 1 targets, 0 sources of copies, 1 frees"));
}

static void test_faults_of_deaths(void)
{
    char *path = write_list("cut.step", true), *out = scratch_path("none.step");
    CU_ASSERT_EQUAL(run_verb(verb_deaths, path, NULL), STEP_STATUS_INVALID);
    CU_ASSERT_TRUE(run_reported("-o OUT is missing"));
    CU_ASSERT_EQUAL(run_verb(verb_deaths, path, "-o", "-", "--json", NULL), STEP_STATUS_INVALID);
    CU_ASSERT_NOT_EQUAL(run_verb(verb_deaths, scratch_path("gone.step"), "-o", out, NULL),
                        STEP_STATUS_OK);
    CU_ASSERT_NOT_EQUAL(
        run_verb(verb_deaths, scratch_put_text("text.step", "no trace"), "-o", out, NULL),
        STEP_STATUS_OK);
    CU_ASSERT_EQUAL(access(out, F_OK), -1); /* nothing is left behind */
    CU_ASSERT_STRING_EQUAL(run_out(), "");
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("paths and deaths", scratch_begin, scratch_end);
    CU_add_test(suite, "paths", test_paths);
    CU_add_test(suite, "moments", test_moments);
    CU_add_test(suite, "faults of paths", test_faults_of_paths);
    CU_add_test(suite, "deaths", test_deaths);
    CU_add_test(suite, "unknown objects", test_unknown);
    CU_add_test(suite, "faults of deaths", test_faults_of_deaths);
}
