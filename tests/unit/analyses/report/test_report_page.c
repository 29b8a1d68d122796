/* SPDX-License-Identifier: Apache-2.0 */
/* The page of a report: its figures of a few objects, worked out by hand, and names of the trace,
 * none of which ends the page's data. */
#include <CUnit/Basic.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "converter/cli/verb.h"
#include "tests/unit/analyses/small_trace.h"
#include "tests/unit/analyses/verb_output.h"
#include "tests/unit/run_suite.h"
#include "tests/unit/scratch.h"

VERB(report);

#define DATA "<script type=\"application/json\" id=\"data\">"

/* Parses the data of a page.  Nothing of the trace may have ended it. */
static void read_page(const char *path)
{
    char *page = scratch_read(path, NULL), *data = strstr(page, DATA);
    CU_ASSERT_PTR_NOT_NULL_FATAL(data);
    data += strlen(DATA);
    char *end = strchr(data, '<');
    CU_ASSERT_PTR_NOT_NULL_FATAL(end);
    CU_ASSERT_EQUAL(strncmp(end, "</script>\n<script>", 18), 0);
    *end = '\0';
    CU_ASSERT_TRUE_FATAL(json_parse(data));
}

static void put_phase(uint64_t begin, uint64_t end)
{
    uint64_t name;
    struct step_writer *writer = small_trace_writer();
    CU_ASSERT_EQUAL(step_java_phase_name_define(
                        writer, &(struct step_java_phase_name){step_text(HOSTILE_NAME)}, &name),
                    STEP_STATUS_OK);
    const struct step_java_phase_begin begins = {.time = begin, .thread = 1, .name = name};
    const struct step_java_phase_end ends = {.time = end, .thread = 1, .name = name};
    CU_ASSERT_EQUAL(step_java_phase_begin_put(writer, 3, &begins), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_java_phase_end_put(writer, 3, &ends), STEP_STATUS_OK);
}

/* At the peak, 30 us after the start, 200 bytes in 3 objects live; at the end 80 in 2. */
static char *write_trace(void)
{
    small_trace_begin("page.step");
    uint64_t hostile = small_class(HOSTILE_NAME), main_class = small_class("app/Main");
    uint64_t run = small_method(main_class, "run"), odd = small_method(main_class, HOSTILE_NAME);
    uint64_t outer = small_frame(0, run, 10), inner = small_frame(outer, odd, 20);
    small_property("stack", "2");
    small_property("command-line", "java </script><script>alert(1)</script> \"'&");
    small_start();
    small_now = 10;
    uint64_t first = small_alloc(hostile, 100, inner);
    small_now = 20;
    uint64_t second = small_alloc(main_class, 50, outer);
    small_now = 30;
    small_alloc(main_class, 50, outer);
    small_now = 40;
    small_free(first);
    small_now = 50;
    small_alloc(hostile, 30, inner);
    small_now = 60;
    small_free(second);
    put_phase(20, 45);
    small_now = 100;
    small_death();
    return small_trace_end();
}

/* Whether a row has the number, in whichever column. */
static bool row_has(const char *row, const char *number)
{
    char path[64];
    bool has = false;
    for (size_t i = 0, count = json_count(row); i < count; i++) {
        snprintf(path, sizeof path, "%s[%zu]", row, i);
        has = has || strcmp(json_at(path), number) == 0;
    }
    return has;
}

static void test_figures(void)
{
    char *trace = write_trace(), *page = scratch_path("page.html");
    CU_ASSERT_EQUAL(run_verb(verb_report, trace, "-o", page, NULL), STEP_STATUS_OK);
    CU_ASSERT_STRING_EQUAL(run_err(), "");
    read_page(page);
    CU_ASSERT_STRING_EQUAL(json_at("title"), "page.step");
    CU_ASSERT_STRING_EQUAL(json_at("source_url"), "null");
    CU_ASSERT_STRING_EQUAL(json_at("summary.allocated_bytes"), "230");
    CU_ASSERT_STRING_EQUAL(json_at("summary.allocated_objects"), "4");
    CU_ASSERT_STRING_EQUAL(json_at("summary.freed_bytes"), "150");
    CU_ASSERT_STRING_EQUAL(json_at("summary.live_bytes"), "80");
    CU_ASSERT_STRING_EQUAL(json_at("summary.peak_bytes"), "200");
    CU_ASSERT_STRING_EQUAL(json_at("summary.peak_ns"), "30000");
    CU_ASSERT_STRING_EQUAL(json_at("summary.collections"), "2");
    CU_ASSERT_STRING_EQUAL(json_at("moment.label"), "the peak");
    CU_ASSERT_STRING_EQUAL(json_at("moment.live_objects"), "3");
    CU_ASSERT_EQUAL(json_count("classes"), 2);
    CU_ASSERT_STRING_EQUAL(json_at("classes[0][0]"), HOSTILE_NAME);
    CU_ASSERT_TRUE(row_has("classes[0]", "130")); /* allocated, alive, alive at the peak */
    CU_ASSERT_TRUE(row_has("classes[0]", "30"));
    CU_ASSERT_TRUE(row_has("classes[0]", "100"));
    CU_ASSERT_TRUE(row_has("classes[1]", "50"));
    CU_ASSERT_FALSE(row_has("classes[1]", "130"));
    CU_ASSERT_STRING_EQUAL(json_at("threads[0].name"), "main");
    CU_ASSERT_STRING_EQUAL(json_at("phases[0].name"), HOSTILE_NAME);
    CU_ASSERT_STRING_EQUAL(json_at("phases[0].total_ns"), "25000");
    CU_ASSERT_STRING_EQUAL(json_at("phases_left"), "0");
}

/* The tree of sites: root, the outer frame, the inner one. */
static void test_sites(void)
{
    char *trace = write_trace(), *page = scratch_path("page.html");
    CU_ASSERT_EQUAL(run_verb(verb_report, trace, "-o", page, "--at=end", NULL), STEP_STATUS_OK);
    read_page(page);
    CU_ASSERT_STRING_EQUAL(json_at("moment.label"), "the end");
    CU_ASSERT_EQUAL_FATAL(json_count("sites.parent"), 3);
    CU_ASSERT_STRING_EQUAL(json_at("sites.parent[1]"), "0");
    CU_ASSERT_STRING_EQUAL(json_at("sites.parent[2]"), "1");
    CU_ASSERT_STRING_EQUAL(json_at("sites.allocated_bytes[0]"), "0");
    uint64_t outer = json_number_at("sites.name[1]"), inner = json_number_at("sites.name[2]");
    char path[64];
    snprintf(path, sizeof path, "sites.names[%d]", (int) outer);
    CU_ASSERT_STRING_EQUAL(json_at(path), "app/Main.run:10");
    snprintf(path, sizeof path, "sites.names[%d]", (int) inner);
    CU_ASSERT_STRING_EQUAL(json_at(path), "app/Main." HOSTILE_NAME ":20");
    CU_ASSERT_STRING_EQUAL(json_at("sites.allocated_bytes[1]"), "100");
    CU_ASSERT_STRING_EQUAL(json_at("sites.allocated_bytes[2]"), "130");
    CU_ASSERT_STRING_EQUAL(json_at("sites.live_bytes[1]"), "50");
    CU_ASSERT_STRING_EQUAL(json_at("sites.live_objects[2]"), "1");
    /* stacks of two frames may be cut, but others begin in the same method */
    CU_ASSERT_STRING_EQUAL(json_at("sites.stack_limit"), "2");
    CU_ASSERT_EQUAL(json_count("sites.cut"), 0);
    /* leaf, class, allocated objects and bytes, live objects and bytes; the outer one has 5 / 8 of
     * what lives, the inner one 13 / 23 of what was allocated */
    CU_ASSERT_EQUAL(json_count("places"), 2);
    CU_ASSERT_EQUAL(json_number_at("places[0][0]"), outer);
    CU_ASSERT_STRING_EQUAL(json_at("places[1][1]"), HOSTILE_NAME);
    CU_ASSERT_STRING_EQUAL(json_at("places[1][3]"), "130");
    CU_ASSERT_STRING_EQUAL(json_at("places[0][5]"), "50");
}

/* The bins of a site add up to what was allocated there, and to what is alive. */
static void test_bins(void)
{
    char *trace = write_trace(), *page = scratch_path("page.html"), path[64];
    uint64_t bytes[3] = {0};
    double grown[3] = {0};
    CU_ASSERT_EQUAL(run_verb(verb_report, trace, "-o", page, NULL), STEP_STATUS_OK);
    read_page(page);
    for (size_t i = 0, lists = json_count("bins.lists"); i < lists; i++) {
        snprintf(path, sizeof path, "bins.lists[%zu]", i);
        for (size_t k = 0, numbers = json_count(path); k < numbers; k += 6) {
            snprintf(path, sizeof path, "bins.lists[%zu][%zu]", i, k);
            uint64_t site = json_number_at(path);
            CU_ASSERT_FATAL(site < 3);
            snprintf(path, sizeof path, "bins.lists[%zu][%zu]", i, k + 3);
            bytes[site] += json_number_at(path);
            snprintf(path, sizeof path, "bins.lists[%zu][%zu]", i, k + 5);
            grown[site] += json_real_at(path);
            snprintf(path, sizeof path, "bins.lists[%zu]", i);
        }
    }
    CU_ASSERT_EQUAL(bytes[0], 0);
    CU_ASSERT_EQUAL(bytes[1], 100);
    CU_ASSERT_EQUAL(bytes[2], 130);
    CU_ASSERT_DOUBLE_EQUAL(grown[1], 50, 0);
    CU_ASSERT_DOUBLE_EQUAL(grown[2], 30, 0);
}

/* Stacks as deep as the agent's limit, none of which is known to be whole. */
static void test_cut_stacks(void)
{
    char *page = scratch_path("page.html");
    for (unsigned limit = 0; limit <= 3; limit++) {
        char text[12];
        snprintf(text, sizeof text, "%u", limit);
        small_trace_begin("cut.step");
        uint64_t main_class = small_class("app/Main"), run = small_method(main_class, "run");
        uint64_t outer = small_frame(0, run, 10);
        if (limit > 0)
            small_property("stack", text);
        small_start();
        small_alloc(main_class, 50, small_frame(outer, run, 20));
        CU_ASSERT_EQUAL(run_verb(verb_report, small_trace_end(), "-o", page, NULL), STEP_STATUS_OK);
        read_page(page);
        CU_ASSERT_EQUAL(json_number_at("sites.stack_limit"), limit);
        CU_ASSERT_EQUAL(json_count("sites.cut"), limit == 1 || limit == 2);
    }
}

/* Three objects that stay of each of five collections' time: rows of leaks, with their series. */
static void test_leaks(void)
{
    char *page = scratch_path("page.html");
    small_trace_begin("leaks.step");
    uint64_t kept = small_class(HOSTILE_NAME), rest = small_class("[B");
    uint64_t frame = small_frame(0, small_method(kept, "keep"), 7);
    small_start();
    for (unsigned i = 0; i < 5; i++) {
        small_now += 10;
        small_alloc(kept, 40, frame);
        uint64_t dead = small_alloc(rest, 16, 0);
        small_now += 10;
        small_free(dead);
    }
    char *trace = small_trace_end();
    CU_ASSERT_EQUAL(run_verb(verb_report, trace, "-o", page, NULL), STEP_STATUS_OK);
    read_page(page);
    CU_ASSERT_STRING_EQUAL(json_at("leaks.collections"), "5");
    CU_ASSERT_STRING_EQUAL(json_at("leaks.survived[0]"), "3"); /* of the first three, that saw 3 */
    CU_ASSERT_STRING_EQUAL(json_at("leaks.survived[1]"), "120");
    CU_ASSERT_EQUAL_FATAL(json_count("leaks.rows"), 1);
    CU_ASSERT_STRING_EQUAL(json_at("leaks.rows[0][0]"), "3");
    CU_ASSERT_DOUBLE_EQUAL(json_real_at("leaks.rows[0][3]"), 40, 1e-9); /* with each collection */
    CU_ASSERT_DOUBLE_EQUAL(json_real_at("leaks.rows[0][4]"), 1, 1e-9);
    CU_ASSERT_STRING_EQUAL(json_at("leaks.rows[0][7][4]"), "200");
    CU_ASSERT_STRING_EQUAL(json_at("leaks.frames[1]"), HOSTILE_NAME ".keep:7");
    CU_ASSERT_EQUAL(run_verb(verb_report, trace, "-o", page, "--thread=main", NULL),
                    STEP_STATUS_OK);
    read_page(page); /* a part of a trace has no leaks, no advice, no collectors */
    CU_ASSERT_STRING_EQUAL(json_at("leaks"), "null");
    CU_ASSERT_STRING_EQUAL(json_at("advice"), "null");
    CU_ASSERT_STRING_EQUAL(json_at("collectors"), "null");
}

static void test_options(void)
{
    char *trace = write_trace(), *page = scratch_path("page.html"), *gone = scratch_path("no.html");
    CU_ASSERT_EQUAL(run_verb(verb_report, trace, "-o", page, "--top=1", "--title", "</title>&\"<b>",
                             "--source-url=https://x/{path}#{line}", NULL),
                    STEP_STATUS_OK);
    read_page(page);
    CU_ASSERT_STRING_EQUAL(json_at("title"), "</title>&\"<b>");
    CU_ASSERT_STRING_EQUAL(json_at("source_url"), "https://x/{path}#{line}");
    CU_ASSERT_EQUAL(json_count("classes"), 1);
    CU_ASSERT_STRING_EQUAL(json_at("classes_left"), "1");
    CU_ASSERT_EQUAL(json_count("places"), 1);
    const char *const scripts[] = {"javascript:alert('{path}')", "https://x/y", "HTTPS://x/{path}",
                                   "data:text/html,{path}", ""};
    for (size_t i = 0; i < sizeof scripts / sizeof scripts[0]; i++) {
        char option[80] = "--source-url=";
        strcat(option, scripts[i]);
        CU_ASSERT_EQUAL(run_verb(verb_report, trace, "-o", gone, option, NULL),
                        STEP_STATUS_INVALID);
        CU_ASSERT_TRUE(run_reported("an address such as"));
    }
    CU_ASSERT_EQUAL(run_verb(verb_report, trace, NULL), STEP_STATUS_INVALID);
    CU_ASSERT_TRUE(run_reported("-o FILE is needed"));
    CU_ASSERT_EQUAL(run_verb(verb_report, trace, "-o", gone, "--at=gc:3", NULL),
                    STEP_STATUS_INVALID);
    CU_ASSERT_PTR_NULL(fopen(gone, "r")); /* and no page was begun */
}

/* ---- a sampled trace ---- */

/* Each object of 1,000 bytes, of which one in 1,000 bytes is drawn, stands for 1 / (1 - 1 / e). */
static void test_sampled(void)
{
    char *page = scratch_path("page.html");
    small_trace_begin("sampled.step");
    uint64_t hostile = small_class(HOSTILE_NAME);
    uint64_t frame = small_frame(0, small_method(hostile, HOSTILE_NAME), 7);
    small_property("engine", "sampled");
    small_property("sample", "1000");
    small_start();
    for (unsigned i = 0; i < 3; i++) {
        small_now += 10;
        uint64_t object = small_alloc(hostile, 1000, frame);
        if (i == 2) {
            small_now += 10;
            small_free(object);
        }
    }
    char *trace = small_trace_end();
    CU_ASSERT_EQUAL(run_verb(verb_report, trace, "-o", page, NULL), STEP_STATUS_OK);
    read_page(page);
    CU_ASSERT_STRING_EQUAL(json_at("allocated[0]"), "3");
    CU_ASSERT_DOUBLE_EQUAL(json_real_at("allocated[1][0]"), 3 * 1.582, 0.3);
    CU_ASSERT_DOUBLE_EQUAL(json_real_at("allocated[2][0]"), 3 * 1581.98, 1);
    CU_ASSERT_TRUE(json_real_at("allocated[2][1]") < 3 * 1581.98);
    CU_ASSERT_TRUE(json_real_at("allocated[2][2]") > 3 * 1581.98);
    CU_ASSERT_STRING_EQUAL(json_at("freed[0]"), "1");
    CU_ASSERT_STRING_EQUAL(json_at("live[0]"), "2");
    CU_ASSERT_STRING_EQUAL(json_at("moment"), "end");
    CU_ASSERT_STRING_EQUAL(json_at("classes[0].name"), HOSTILE_NAME);
    CU_ASSERT_STRING_EQUAL(json_at("classes[0].live[0]"), "2");
    CU_ASSERT_STRING_EQUAL(json_at("sites[0].site[0]"), HOSTILE_NAME "." HOSTILE_NAME ":7");
    CU_ASSERT_STRING_EQUAL(json_at("growth"), "null"); /* one collection has no line */
    CU_ASSERT_STRING_EQUAL(json_at("threads[0].name"), "main");
    CU_ASSERT_EQUAL(run_verb(verb_report, trace, "-o", page, "--at=peak", NULL),
                    STEP_STATUS_CORRUPT);
    CU_ASSERT_TRUE(run_reported("the moment 'peak'"));
}

/* A trace of which nothing is read again leaves the caller's standard input open. */
static void test_standard_input(void)
{
    small_trace_begin("selected.step");
    small_start();
    char *trace = small_trace_end(), *page = scratch_path("page.html");
    int usual = dup(STDIN_FILENO), null = open("/dev/null", O_RDONLY);
    CU_ASSERT_FATAL(null >= 0 && (null == STDIN_FILENO || dup2(null, STDIN_FILENO) >= 0));
    CU_ASSERT_EQUAL(run_verb(verb_report, trace, "-o", page, "--thread=main", NULL),
                    STEP_STATUS_OK);
    CU_ASSERT_TRUE(fcntl(STDIN_FILENO, F_GETFD) >= 0);
    if (null != STDIN_FILENO)
        close(null);
    if (usual >= 0) {
        dup2(usual, STDIN_FILENO);
        close(usual);
    }
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("the page of a report", scratch_begin, scratch_end);
    CU_add_test(suite, "figures", test_figures);
    CU_add_test(suite, "sites", test_sites);
    CU_add_test(suite, "bins", test_bins);
    CU_add_test(suite, "cut stacks", test_cut_stacks);
    CU_add_test(suite, "leaks", test_leaks);
    CU_add_test(suite, "options", test_options);
    CU_add_test(suite, "sampled", test_sampled);
    CU_add_test(suite, "standard input", test_standard_input);
}
