/* SPDX-License-Identifier: Apache-2.0 */
/* The command `nominal`: the statistics of a few objects by hand, how exact each is said to be, and
 * that the suite's YAML stays well formed. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/cli/verb.h"
#include "tests/unit/analyses/small_trace.h"
#include "tests/unit/analyses/verb_output.h"
#include "tests/unit/run_suite.h"
#include "tests/unit/scratch.h"

VERB(nominal);

/* The member of a statistic. */
static const char *statistic(const char *key, const char *member)
{
    char path[60];
    for (size_t i = 0, count = json_count("statistics"); i < count; i++) {
        snprintf(path, sizeof path, "statistics[%zu].key", i);
        if (strcmp(json_at(path), key) != 0)
            continue;
        snprintf(path, sizeof path, "statistics[%zu].%s", i, member);
        return json_at(path);
    }
    return "(none)";
}

static void read_nominal(const char *path, const char *option)
{
    CU_ASSERT_EQUAL(run_verb(verb_nominal, path, "--json", option, NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_EQUAL(json_count("statistics"), 12);
}

/* Ten objects: nine of 16 to 80 bytes, one of 2 MiB that dies; within 100 us. */
static char *write_objects(const char *name)
{
    static const uint64_t sizes[] = {16, 16, 24, 24, 32, 32, 40, 40, 80};
    small_trace_begin(name);
    uint64_t class_id = small_class("A");
    small_property("end", "vm-death");
    small_start();
    for (size_t i = 0; i < 9; i++) {
        small_now += 10;
        small_alloc(class_id, sizes[i], 0);
    }
    uint64_t large = small_alloc(class_id, 2 << 20, 0);
    small_now += 10;
    small_free(large);
    small_death();
    return small_trace_end();
}

static void test_values(void)
{
    char *path = write_objects("objects.step");
    read_nominal(path, NULL);
    CU_ASSERT_STRING_EQUAL(json_at("objects"), "10");
    CU_ASSERT_STRING_EQUAL(json_at("bytes"), "2097456");
    CU_ASSERT_STRING_EQUAL(json_at("most_live_bytes"), "2097456");
    CU_ASSERT_STRING_EQUAL(statistic("AOA", "value"), "209745"); /* rounded down */
    CU_ASSERT_STRING_EQUAL(statistic("AOA", "mark"), "exact");
    CU_ASSERT_STRING_EQUAL(statistic("AOS", "value"), "16");    /* the first of ten */
    CU_ASSERT_STRING_EQUAL(statistic("AOM", "value"), "32");    /* the fifth */
    CU_ASSERT_STRING_EQUAL(statistic("AOL", "value"), "80");    /* the ninth */
    CU_ASSERT_STRING_EQUAL(statistic("ARA", "value"), "20974"); /* in 100 us */
    CU_ASSERT_STRING_EQUAL(statistic("ARA", "mark"), "bound, at least");
    CU_ASSERT_STRING_EQUAL(statistic("GMD", "value"), "3"); /* MiB, rounded up */
    CU_ASSERT_STRING_EQUAL(statistic("GMD", "mark"), "bound, at most");
    CU_ASSERT_STRING_EQUAL(statistic("GMU", "value"), "5"); /* twice as many bytes */
    CU_ASSERT_STRING_EQUAL(statistic("GTO", "value"), "0");
    CU_ASSERT_STRING_EQUAL(statistic("GTO", "mark"), "bound, at least");
    CU_ASSERT_STRING_EQUAL(statistic("BAS", "value"), "null");
    CU_ASSERT_STRING_EQUAL(statistic("BUF", "mark"), "unknown");
    CU_ASSERT_STRING_EQUAL(statistic("GLK", "mark"), "unknown");
    CU_ASSERT_STRING_EQUAL(statistic("ALD", "mark"), "estimate");
    read_nominal(path, "--min-heap=512k");
    CU_ASSERT_STRING_EQUAL(statistic("GTO", "value"), "4");
    CU_ASSERT_STRING_EQUAL(statistic("GTO", "mark"), "exact");
    read_nominal(path, "--run-time=50us");
    CU_ASSERT_STRING_EQUAL(statistic("ARA", "value"), "41949");
    CU_ASSERT_STRING_EQUAL(statistic("ARA", "mark"), "exact");
}

/* Uncompressed pointers: what is compressed takes half of it at least. */
static void test_uncompressed(void)
{
    small_trace_begin("wide.step");
    small_property("command-line", "java -XX:-UseCompressedOops -XX:-UseCompressedClassPointers A");
    small_start();
    uint64_t object = small_alloc(1, 4 << 20, 0);
    small_now = 10;
    small_free(object);
    read_nominal(small_trace_end(), NULL);
    CU_ASSERT_STRING_EQUAL(statistic("GMU", "value"), "4");
    CU_ASSERT_STRING_EQUAL(statistic("GMD", "value"), "4");
}

/* ---- phases ---- */

static void put_phase(const char *name, uint64_t begin, uint64_t end)
{
    static uint64_t names;
    struct step_writer *writer = small_trace_writer();
    if (begin == 0 || name[0] != 'w')
        CU_ASSERT_EQUAL(step_java_phase_name_define(
                            writer, &(struct step_java_phase_name){step_text(name)}, &names),
                        STEP_STATUS_OK);
    const struct step_java_phase_begin begins = {
        .time = begin, .thread = 1, .name = names, .depth = 1, .scope = 1};
    const struct step_java_phase_end ends = {
        .time = end, .thread = 1, .name = names, .depth = 1, .scope = 1};
    CU_ASSERT_EQUAL(step_java_phase_begin_put(writer, 3, &begins), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_java_phase_end_put(writer, 3, &ends), STEP_STATUS_OK);
}

/* Nine phases `warmup` and one `measure` of 10 us; 1,000 bytes are kept in each.  The heap of the
 * tenth is ten times that of the first: it leaks 900 per cent. */
static char *write_iterations(void)
{
    small_trace_begin("iterations.step");
    small_start();
    for (unsigned i = 0; i < 10; i++) {
        put_phase(i < 9 ? "warmup" : "measure", 10 * i, 10 * i + 9);
        small_now = 10 * i + 5;
        uint64_t object = small_alloc(1, 8, 0);
        small_alloc(1, 1000, 0);
        small_free(object);
    }
    return small_trace_end();
}

static void test_iterations(void)
{
    char *path = write_iterations();
    read_nominal(path, NULL);
    CU_ASSERT_STRING_EQUAL(json_at("iterations"), "10");
    CU_ASSERT_STRING_EQUAL(statistic("GLK", "mark"), "estimate");
    /* 10,008 bytes after 1,008 */
    CU_ASSERT_STRING_EQUAL(statistic("GLK", "value"), "892");
    read_nominal(path, "--phase=measure");
    CU_ASSERT_STRING_EQUAL(json_at("objects"), "2");
    CU_ASSERT_STRING_EQUAL(json_at("bytes"), "1008");
    CU_ASSERT_STRING_EQUAL(statistic("ARA", "value"), "112"); /* in 9 us */
    read_nominal(path, "--phase=none");
    CU_ASSERT_STRING_EQUAL(statistic("AOA", "value"), "null");
    CU_ASSERT_STRING_EQUAL(statistic("AOA", "reason"), "no allocations are counted");
}

/* ---- the forms ---- */

/* A line for each statistic, all of one form: null, or a number without a sign. */
static void test_yaml(void)
{
    CU_ASSERT_EQUAL(run_verb(verb_nominal, write_objects("a'b\n# c.step"), NULL), STEP_STATUS_OK);
    char *lines = strdup(run_out()), *rest = lines, *line;
    size_t count = 0;
    while ((line = strsep(&rest, "\n")) != NULL && *line != '\0') {
        if (*line == '#')
            continue;
        char key[4], value[32], text[300];
        CU_ASSERT_EQUAL(sscanf(line, "%3[A-Z]: [null, %31[^,], null, null, null, null, '%299[^']']",
                               key, value, text),
                        3);
        CU_ASSERT_TRUE(strcmp(value, "null") == 0 || strspn(value, "0123456789") == strlen(value));
        CU_ASSERT_EQUAL(line[strlen(line) - 1], ']');
        count++;
    }
    CU_ASSERT_EQUAL(count, 12);
    CU_ASSERT_TRUE(run_printed("AOA: [null, 209745, null, null, null, null, 'nominal average "
                               "object size (bytes); exact']\n"));
    free(lines);
}

/* What is missing is unknown with its reason, or an estimate; no value is made up. */
static void test_missing(void)
{
    small_trace_begin("empty.step");
    small_start();
    read_nominal(small_trace_end(), NULL);
    for (size_t i = 0; i < 12; i++) {
        char path[40];
        snprintf(path, sizeof path, "statistics[%zu].value", i);
        CU_ASSERT_STRING_EQUAL(json_at(path), "null");
    }
    small_trace_begin("immortal.step");
    small_property("events", "class+alloc+thread");
    small_start();
    small_alloc(1, 16, 0);
    read_nominal(small_trace_end(), NULL);
    CU_ASSERT_STRING_EQUAL(statistic("GMD", "reason"), "the trace has no deaths (events=free)");
    CU_ASSERT_STRING_EQUAL(statistic("ALD", "value"), "null");
    CU_ASSERT_STRING_EQUAL(statistic("AOA", "value"), "16");
    size_t length;
    char *bytes = scratch_read(write_objects("objects.step"), &length);
    char *cut = scratch_put("cut.step", bytes, length - 40);
    CU_ASSERT_EQUAL(run_verb(verb_nominal, cut, "--json", NULL), STEP_STATUS_CORRUPT);
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_STRING_EQUAL(statistic("AOA", "mark"), "estimate");
    CU_ASSERT_STRING_EQUAL(statistic("AOA", "reason"), "a part of the trace is missing");
    small_trace_begin("sizeless.step");
    small_start();
    small_alloc(1, 0, 0);
    CU_ASSERT_EQUAL(run_verb(verb_nominal, small_trace_end(), NULL), STEP_STATUS_CORRUPT);
    CU_ASSERT_EQUAL(run_verb(verb_nominal, scratch_path("gone.step"), NULL), STEP_STATUS_NOT_FOUND);
    CU_ASSERT_EQUAL(run_verb(verb_nominal, NULL), STEP_STATUS_INVALID);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("nominal", scratch_begin, scratch_end);
    CU_add_test(suite, "values", test_values);
    CU_add_test(suite, "uncompressed", test_uncompressed);
    CU_add_test(suite, "iterations", test_iterations);
    CU_add_test(suite, "YAML", test_yaml);
    CU_add_test(suite, "what is missing", test_missing);
}
