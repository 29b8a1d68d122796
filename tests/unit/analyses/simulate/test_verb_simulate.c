/* SPDX-License-Identifier: Apache-2.0 */
/* The command `simulate`: models whose collections can be counted by hand, the forms of its output
 * against each other, and options that no model has. */
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

VERB(simulate);

/* 100 blocks of 100 KiB: the first `kept` live until the end, each other is freed before the next
 * is allocated.  A native program's frees are exact. */
static char *write_blocks(unsigned kept)
{
    char *text = malloc(100 * 100), *at = text;
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    at += sprintf(at, "createThread 0 0 0 1 0 1\n");
    for (unsigned i = 0; i < 100; i++) {
        at += sprintf(at, "alloc %u 102400 0 1 0 %u\n", 4096 + i * 200000, 10 + 2 * i);
        if (i >= kept)
            at += sprintf(at, "free %u 0 0 1 0 %u\n", 4096 + i * 200000, 11 + 2 * i);
    }
    char *path = scratch_put_text("blocks.hatf.txt", text);
    free(text);
    return path;
}

/* 10 blocks fit into 1 MiB: an 11th, a 21st and so on begin with a collection. */
static void test_one_space(void)
{
    char *path = write_blocks(0);
    CU_ASSERT_EQUAL(
        run_verb(verb_simulate, path, "--semi-space=2m", "--mark-compact=1m", "--json", NULL),
        STEP_STATUS_OK);
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_STRING_EQUAL(json_at("objects"), "100");
    CU_ASSERT_STRING_EQUAL(json_at("allocated"), "10240000");
    CU_ASSERT_STRING_EQUAL(json_at("minimum_heap"), "102400");
    CU_ASSERT_STRING_EQUAL(json_at("is_exact"), "true");
    CU_ASSERT_EQUAL(json_count("generations"), 0);
    CU_ASSERT_STRING_EQUAL(json_at("semi_space[0].heap"), "2097152");
    CU_ASSERT_STRING_EQUAL(json_at("semi_space[0].fits"), "true");
    CU_ASSERT_STRING_EQUAL(json_at("semi_space[0].collections"), "9");
    CU_ASSERT_STRING_EQUAL(json_at("semi_space[0].copied"), "0"); /* all are dead */
    CU_ASSERT_STRING_EQUAL(json_at("mark_compact[0].collections"), "9");
    CU_ASSERT_STRING_EQUAL(json_at("mark_compact[0].marked"), "0");
    /* five stay: five are new until each collection, which copies five */
    CU_ASSERT_EQUAL(run_verb(verb_simulate, write_blocks(5), "--semi-space=2m", "--json", NULL),
                    STEP_STATUS_OK);
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_STRING_EQUAL(json_at("minimum_heap"), "614400"); /* and one more */
    CU_ASSERT_STRING_EQUAL(json_at("semi_space[0].collections"), "18");
    CU_ASSERT_STRING_EQUAL(json_at("semi_space[0].copied"), "9216000");
    CU_ASSERT_DOUBLE_EQUAL(json_real_at("semi_space[0].mark_cons"), 0.9, 1e-9);
}

/* A heap that is too small says so, and has no figures. */
static void test_too_small(void)
{
    char *path = write_blocks(11);
    CU_ASSERT_EQUAL(run_verb(verb_simulate, path, "--mark-compact=1m,2m", "--json", NULL),
                    STEP_STATUS_OK);
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_STRING_EQUAL(json_at("mark_compact[0].fits"), "false");
    CU_ASSERT_STRING_EQUAL(json_at("mark_compact[0].collections"), "(none)");
    CU_ASSERT_STRING_EQUAL(json_at("mark_compact[1].fits"), "true");
    CU_ASSERT_EQUAL(run_verb(verb_simulate, path, "--mark-compact=1m,2m", NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE(run_printed("  1.00 MiB too small after 1000 KiB of births\n"));
    CU_ASSERT_EQUAL(run_verb(verb_simulate, path, "--mark-compact=1m", "--csv", NULL),
                    STEP_STATUS_OK);
    CU_ASSERT_TRUE(run_printed("\nmark-compact,exact,1048576,false,,,,,,,,,,,,,\n"));
}

/* The row of `name` and `size` in CSV: its field with this title. */
static const char *csv_field(const char *name, const char *size, const char *title)
{
    static char text[32];
    char *lines = strdup(run_out()), *rest = lines, *line, head[512];
    text[0] = '\0';
    snprintf(head, sizeof head, "%s", strsep(&rest, "\n"));
    while ((line = strsep(&rest, "\n")) != NULL) {
        char *titles = head, fields[512], *at = fields, copy[512], *head_at = copy;
        snprintf(fields, sizeof fields, "%s", line);
        snprintf(copy, sizeof copy, "%s", titles);
        char *found = NULL, *first = NULL, *third = NULL;
        for (unsigned i = 0; at != NULL && head_at != NULL; i++) {
            char *field = strsep(&at, ","), *column = strsep(&head_at, ",");
            first = i == 0 ? field : first;
            third = i == 2 ? field : third;
            if (strcmp(column, title) == 0)
                found = field;
        }
        if (found != NULL && third != NULL && strcmp(first, name) == 0 && strcmp(third, size) == 0)
            snprintf(text, sizeof text, "%s", found);
    }
    free(lines);
    return text;
}

/* Text, JSON and CSV are the same numbers. */
static void test_forms(void)
{
    static const char *const members[] = {"collections", "survived", "copied",    "promoted",
                                          "overflows",   "dead_old", "peak",      "heap",
                                          "marked",      "fits",     "least_heap"};
    char *path = write_blocks(20), member[60];
    CU_ASSERT_EQUAL(run_verb(verb_simulate, path, "--young=1m,4m", "--heap=64m", "--csv", NULL),
                    STEP_STATUS_OK);
    char *csv = strdup(run_out());
    CU_ASSERT_EQUAL(run_verb(verb_simulate, path, "--young=1m,4m", "--heap=64m", "--json", NULL),
                    STEP_STATUS_OK);
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_EQUAL_FATAL(json_count("generations"), 2);
    CU_ASSERT_STRING_EQUAL(json_at("generations[0].young"), "1048576");
    CU_ASSERT_TRUE(json_number_at("generations[0].collections") >
                   json_number_at("generations[1].collections"));
    char values[2][sizeof members / sizeof members[0]][32];
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < sizeof members / sizeof members[0]; k++) {
            snprintf(member, sizeof member, "generations[%zu].%s", i, members[k]);
            snprintf(values[i][k], sizeof values[i][k], "%s",
                     strcmp(json_at(member), "(none)") == 0 ? "" : json_at(member));
        }
    CU_ASSERT_EQUAL(run_verb(verb_simulate, path, "--young=1m,4m", "--heap=64m", "--csv", NULL),
                    STEP_STATUS_OK);
    CU_ASSERT_STRING_EQUAL(run_out(), csv);
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < sizeof members / sizeof members[0]; k++)
            CU_ASSERT_STRING_EQUAL(
                csv_field("generations", i == 0 ? "1048576" : "4194304", members[k]), values[i][k]);
    CU_ASSERT_EQUAL(run_verb(verb_simulate, path, "--young=1m,4m", "--heap=64m", NULL),
                    STEP_STATUS_OK);
    CU_ASSERT_TRUE(run_printed("minimum    2.05 MiB: the most live bytes at one time\n"));
    CU_ASSERT_TRUE(run_printed("\n  1.00 MiB "));
    CU_ASSERT_TRUE(run_printed("64.0 MiB"));
    free(csv);
}

/* Deaths that collections found are later than the objects died: bounds are marked. */
static void test_delayed(void)
{
    small_trace_begin("delayed.step");
    small_start();
    for (unsigned i = 0; i < 20; i++) {
        small_now += 10;
        uint64_t object = small_alloc(1, 102400, 0);
        small_now += 10;
        small_free(object);
    }
    char *path = small_trace_end();
    CU_ASSERT_EQUAL(run_verb(verb_simulate, path, "--semi-space=2m", "--json", NULL),
                    STEP_STATUS_OK);
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_STRING_EQUAL(json_at("is_exact"), "false");
    CU_ASSERT_STRING_EQUAL(json_at("is_upper_bound"), "true");
    CU_ASSERT_STRING_EQUAL(json_at("semi_space[0].collections"), "1");
    CU_ASSERT_EQUAL(run_verb(verb_simulate, path, "--semi-space=2m", NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE(run_printed("minimum    <= 100 KiB"));
    CU_ASSERT_TRUE(run_printed("  2.00 MiB           <=1"));
    /* without deaths all objects stay */
    small_trace_begin("immortal.step");
    small_property("events", "class+alloc+thread");
    small_start();
    small_alloc(1, 102400, 0);
    path = small_trace_end();
    CU_ASSERT_EQUAL(run_verb(verb_simulate, path, "--csv", "--young=1m", NULL), STEP_STATUS_OK);
    CU_ASSERT_STRING_EQUAL(csv_field("generations", "1048576", "deaths"), "none");
    CU_ASSERT_STRING_EQUAL(csv_field("generations", "1048576", "collections"), "0");
}

static void test_picture(void)
{
    char *path = write_blocks(3), *svg = scratch_path("picture.svg"), option[80] = "--svg=";
    strcat(option, svg);
    CU_ASSERT_EQUAL(
        run_verb(verb_simulate, path, "--young=1m..8m", "--semi-space=2m", option, "--csv", NULL),
        STEP_STATUS_OK);
    char *text = scratch_read(svg, NULL);
    CU_ASSERT_EQUAL(strncmp(text, "<svg", 4), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "promoted"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "semi-space"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "blocks.hatf.txt"));
    CU_ASSERT_PTR_NULL(strstr(text, "nan"));
    CU_ASSERT_PTR_NULL(strstr(text, "inf"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "</svg>"));
}

/* An empty trace has models without collections, and no division by nothing. */
static void test_empty(void)
{
    small_trace_begin("empty.step");
    small_start();
    char *path = small_trace_end();
    CU_ASSERT_EQUAL(run_verb(verb_simulate, path, "--json", NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_STRING_EQUAL(json_at("objects"), "0");
    CU_ASSERT_EQUAL(json_count("generations"), 8); /* 4m..512m */
    CU_ASSERT_STRING_EQUAL(json_at("generations[7].young"), "536870912");
    CU_ASSERT_STRING_EQUAL(json_at("generations[0].mark_cons"), "0");
}

static void test_faults(void)
{
    static const char *const options[][2] = {
        {"--survivor-ratio=0", "1 to 1000000"}, {"--survivor-ratio=1000001", "1 to 1000000"},
        {"--max-tenuring=16", "0 to 15"},       {"--target-survivor=101", "0 to 100"},
        {"--region-size=3m", "a power of two"}, {"--region-size=512k", "a power of two"},
        {"--region-size=1g", "a power of two"}, {"--young=191k", "192k is the least"},
        {"--young-regions=1m", "two regions"},  {"--young=8m..4m", "--young"},
        {"--semi-space=x", "--semi-space"},     {"--heap=1m", "--heap"}};
    char *path = write_blocks(0), *gone = scratch_path("gone.svg");
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        CU_ASSERT_EQUAL(run_verb(verb_simulate, path, options[i][0], NULL), STEP_STATUS_INVALID);
        if (!run_reported(options[i][1]))
            fprintf(stderr, "%s: %s\n", options[i][0], run_err());
        CU_ASSERT_TRUE(run_reported(options[i][1]));
        CU_ASSERT_STRING_EQUAL(run_out(), "");
    }
    CU_ASSERT_EQUAL(run_verb(verb_simulate, path, "--csv", "--json", NULL), STEP_STATUS_INVALID);
    CU_ASSERT_EQUAL(run_verb(verb_simulate, path, "--young=1m", "--heap=8m", "--svg", gone, NULL),
                    STEP_STATUS_INVALID);
    CU_ASSERT_EQUAL(access(gone, F_OK), -1);
    CU_ASSERT_EQUAL(run_verb(verb_simulate, path, "--young=192k", NULL), STEP_STATUS_OK);
    small_trace_begin("sizeless.step");
    small_start();
    small_alloc(1, 0, 0);
    CU_ASSERT_EQUAL(run_verb(verb_simulate, small_trace_end(), NULL), STEP_STATUS_CORRUPT);
    CU_ASSERT_TRUE(run_reported("the objects have no sizes"));
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("simulate", scratch_begin, scratch_end);
    CU_add_test(suite, "one space", test_one_space);
    CU_add_test(suite, "too small", test_too_small);
    CU_add_test(suite, "text, JSON and CSV", test_forms);
    CU_add_test(suite, "delayed deaths", test_delayed);
    CU_add_test(suite, "picture", test_picture);
    CU_add_test(suite, "empty", test_empty);
    CU_add_test(suite, "faults", test_faults);
}
