/* SPDX-License-Identifier: Apache-2.0 */
/* The command `heap`: what lives at each moment of a program of four objects, by what it is
 * grouped, the difference of two moments, and options that exclude each other. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/cli/verb.h"
#include "tests/unit/analyses/small_trace.h"
#include "tests/unit/analyses/verb_output.h"
#include "tests/unit/run_suite.h"
#include "tests/unit/scratch.h"

VERB(heap);

/* At 10 us A, 100 bytes, at the outer frame; at 20 and 30 us B, 50 and 70 bytes, at the inner one;
 * at 40 us A is found dead; at 50 us 10 bytes of a hostile name, without a stack. */
static char *write_heap(void)
{
    small_trace_begin("heap.step");
    uint64_t a = small_class("p/A"), b = small_class("p/B"), hostile = small_class(HOSTILE_NAME);
    uint64_t method = small_method(small_class("app/Main"), "run");
    uint64_t outer = small_frame(0, method, 10), inner = small_frame(outer, method, 20);
    small_property("end", "vm-death");
    small_start();
    small_now = 10;
    uint64_t dead = small_alloc(a, 100, outer);
    small_now = 20;
    small_alloc(b, 50, inner);
    small_now = 30;
    small_alloc(b, 70, inner);
    small_now = 40;
    small_free(dead);
    small_now = 50;
    small_alloc(hostile, 10, 0);
    small_now = 100;
    small_death();
    return small_trace_end();
}

static void test_moments(void)
{
    static const struct {
        const char *moment, *bytes, *objects, *time_ns;
    } rows[] = {{"peak", "220", "3", "30000"},
                {"end", "130", "3", "100000"},
                {"gc:1", "120", "2", "40000"},
                {"25us", "150", "2", "25000"},
                {"0.00002", "150", "2", "20000"},
                {"19999ns", "100", "1", "19999"},
                {"0", "0", "0", "0"}};
    char *path = write_heap(), option[32];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(option, sizeof option, "--at=%s", rows[i].moment);
        CU_ASSERT_EQUAL(run_verb(verb_heap, path, option, "--json", NULL), STEP_STATUS_OK);
        CU_ASSERT_STRING_EQUAL(run_err(), "");
        CU_ASSERT_TRUE_FATAL(run_json());
        CU_ASSERT_STRING_EQUAL(json_at("moment.live_bytes"), rows[i].bytes);
        CU_ASSERT_STRING_EQUAL(json_at("moment.live_objects"), rows[i].objects);
        CU_ASSERT_STRING_EQUAL(json_at("moment.time_ns"), rows[i].time_ns);
    }
    CU_ASSERT_EQUAL(run_verb(verb_heap, path, "--json", NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_STRING_EQUAL(json_at("moment.at"), "peak");
    CU_ASSERT_EQUAL(json_count("rows"), 2);
    CU_ASSERT_STRING_EQUAL(json_at("rows[0].class"), "p/B");
    CU_ASSERT_STRING_EQUAL(json_at("rows[0].bytes"), "120");
    CU_ASSERT_STRING_EQUAL(json_at("rows[0].mean_age_ns"), "5000"); /* 10 and 0 us */
    CU_ASSERT_STRING_EQUAL(json_at("rows[1].mean_age_ns"), "20000");
}

/* All that was allocated until then, dead or alive. */
static void test_allocated(void)
{
    char *path = write_heap();
    CU_ASSERT_EQUAL(run_verb(verb_heap, path, "--at=end", "--allocated", "--csv", NULL),
                    STEP_STATUS_OK);
    CU_ASSERT_STRING_EQUAL(run_out(), "objects,bytes,class\n"
                                      "2,120,\"p/B\"\n"
                                      "1,100,\"p/A\"\n"
                                      "1,10,\"a</script>\"\"\\x0a\\x1b[2J,'&\"\n");
    CU_ASSERT_EQUAL(
        run_verb(verb_heap, path, "--at=end", "--allocated", "--class=p/*", "--csv", NULL),
        STEP_STATUS_OK);
    CU_ASSERT_STRING_EQUAL(run_out(), "objects,bytes,class\n2,120,\"p/B\"\n1,100,\"p/A\"\n");
    CU_ASSERT_EQUAL(run_verb(verb_heap, path, "--size=51..100", "--csv", NULL), STEP_STATUS_OK);
    CU_ASSERT_STRING_EQUAL(run_out(), "objects,bytes,class\n1,100,\"p/A\"\n1,70,\"p/B\"\n");
}

static void test_sites(void)
{
    char *path = write_heap();
    CU_ASSERT_EQUAL(run_verb(verb_heap, path, "--by=site", "--at=end", "--json", NULL),
                    STEP_STATUS_OK);
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_EQUAL(json_count("rows"), 2);
    CU_ASSERT_STRING_EQUAL(json_at("rows[0].bytes"), "120");
    CU_ASSERT_STRING_EQUAL(json_at("rows[0].site[0]"), "app/Main.run:20");
    CU_ASSERT_STRING_EQUAL(json_at("rows[0].site[1]"), "app/Main.run:10");
    CU_ASSERT_STRING_EQUAL(json_at("rows[1].bytes"), "10");
    CU_ASSERT_EQUAL(json_count("rows[1].site"), 0);
    CU_ASSERT_EQUAL(run_verb(verb_heap, path, "--by=class+site+thread", "--json", NULL),
                    STEP_STATUS_OK);
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_STRING_EQUAL(json_at("rows[0].class"), "p/B");
    CU_ASSERT_EQUAL(json_count("rows[0].site"), 2);
    CU_ASSERT_EQUAL(run_verb(verb_heap, path, "--by=class", "--top=1", NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE(run_printed("p/B\n"));
    CU_ASSERT_FALSE(run_printed("p/A\n"));
    CU_ASSERT_TRUE(run_printed("1 more"));
}

/* Inclusive bytes: the outer frame has its own and those of the inner one. */
static void test_tree(void)
{
    char *path = write_heap();
    CU_ASSERT_EQUAL(run_verb(verb_heap, path, "--tree=top-down", "--least=0", "--by=site", NULL),
                    STEP_STATUS_OK);
    CU_ASSERT_TRUE(run_printed("           3            220  100.0  (all)\n"
                               "           3            220  100.0   app/Main.run:10\n"
                               "           1            100   45.5    <self>\n"
                               "           2            120   54.5    app/Main.run:20\n"));
    CU_ASSERT_EQUAL(run_verb(verb_heap, path, "--tree=bottom-up", "--least=50%", "--by=site", NULL),
                    STEP_STATUS_OK);
    CU_ASSERT_TRUE(run_printed("           3            220  100.0  (all)\n"
                               "           2            120   54.5   app/Main.run:20\n"
                               "           2            120   54.5    app/Main.run:10\n"
                               "           1            100   45.5   <other>\n"));
}

static void test_changes(void)
{
    char *path = write_heap();
    CU_ASSERT_EQUAL(run_verb(verb_heap, path, "--diff", "25us", "end", "--json", NULL),
                    STEP_STATUS_OK);
    CU_ASSERT_TRUE_FATAL(run_json());
    char *joined = strdup(run_out());
    CU_ASSERT_EQUAL(run_verb(verb_heap, path, "--diff=25us,end", "--json", NULL), STEP_STATUS_OK);
    CU_ASSERT_STRING_EQUAL(run_out(), joined);
    free(joined);
    CU_ASSERT_EQUAL(run_verb(verb_heap, path, "--diff=25us,end", "--csv", NULL), STEP_STATUS_OK);
    CU_ASSERT_STRING_EQUAL(run_out(), "objects,bytes,after_objects,after_bytes,class\n"
                                      "-1,-100,0,0,\"p/A\"\n"
                                      "1,70,2,120,\"p/B\"\n"
                                      "1,10,1,10,\"a</script>\"\"\\x0a\\x1b[2J,'&\"\n");
    CU_ASSERT_EQUAL(run_verb(verb_heap, path, "--diff=end,end", "--json", NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_EQUAL(json_count("rows"), 0);
}

static void test_ages(void)
{
    char *path = write_heap();
    CU_ASSERT_EQUAL(run_verb(verb_heap, path, "--ages", "--at=end", NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE(run_printed("3 objects"));
    CU_ASSERT_EQUAL(run_verb(verb_heap, path, "--ages", NULL), STEP_STATUS_OK); /* in two passes */
    CU_ASSERT_TRUE(run_printed("220 B"));
}

/* A rule of the difference: 120 bytes at the first collection, 130 at the end. */
static void test_rules(void)
{
    char *path = write_heap();
    verb_exit_code = 0;
    CU_ASSERT_EQUAL(
        run_verb(verb_heap, path, "--diff=gc:1,end", "-q", "--fail-if", "alive > +10", NULL),
        STEP_STATUS_OK);
    CU_ASSERT_EQUAL(verb_exit_code, 0);
    CU_ASSERT_EQUAL(
        run_verb(verb_heap, path, "--diff=gc:1,end", "-q", "--fail-if", "alive > +9", NULL),
        STEP_STATUS_OK);
    CU_ASSERT_EQUAL(verb_exit_code, 4);
    verb_exit_code = 0;
    CU_ASSERT_EQUAL(run_verb(verb_heap, path, "--fail-if", "alive > +9", NULL),
                    STEP_STATUS_INVALID);
    CU_ASSERT_TRUE(run_reported("--diff"));
}

static void test_faults(void)
{
    static const char *const options[][3] = {{"--at=noon", NULL},
                                             {"--at=gc:", NULL},
                                             {"--diff=end", NULL},
                                             {"--diff=end,noon", NULL},
                                             {"--by=object", NULL},
                                             {"--by=colour", NULL},
                                             {"--ages", "--json", NULL},
                                             {"--ages", "--diff=gc:1,end", NULL},
                                             {"--tree=top-down", "--csv", NULL},
                                             {"--tree=sideways", NULL},
                                             {"--retained", "--by=thread", NULL},
                                             {"--retained", "--class=p/A", NULL},
                                             {"--retained", "--ages", NULL},
                                             {"--retained", "--csv", NULL}};
    char *path = write_heap();
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        CU_ASSERT_EQUAL(run_verb(verb_heap, path, options[i][0], options[i][1], NULL),
                        STEP_STATUS_INVALID);
        CU_ASSERT_STRING_NOT_EQUAL(run_err(), "");
        CU_ASSERT_STRING_EQUAL(run_out(), "");
    }
    CU_ASSERT_EQUAL(run_verb(verb_heap, path, "--at=gc:2", NULL), STEP_STATUS_NOT_FOUND);
    CU_ASSERT_EQUAL(run_verb(verb_heap, path, "--at=101us", NULL), STEP_STATUS_NOT_FOUND);
    CU_ASSERT_STRING_EQUAL(run_out(), "");
    CU_ASSERT_NOT_EQUAL(run_verb(verb_heap, path, "--retained", NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE(run_reported("references")); /* which the trace lacks */
}

/* Sizes up to 2^64 - 1 are added up modulo 2^64 nowhere: the trace is refused, or is right. */
static void test_largest(void)
{
    small_trace_begin("largest.step");
    small_start();
    small_alloc(1, UINT64_C(1) << 62, 0);
    CU_ASSERT_EQUAL(run_verb(verb_heap, small_trace_end(), "--at=end", "--csv", NULL),
                    STEP_STATUS_OK);
    CU_ASSERT_STRING_EQUAL(run_out(), "objects,bytes,class\n1,4611686018427387904,"
                                      "\"java/lang/Class\"\n");
    small_trace_begin("empty.step");
    small_start();
    char *path = small_trace_end();
    CU_ASSERT_EQUAL(run_verb(verb_heap, path, "--json", NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_EQUAL(json_count("rows"), 0);
    CU_ASSERT_STRING_EQUAL(json_at("moment.live_bytes"), "0");
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("heap", scratch_begin, scratch_end);
    CU_add_test(suite, "moments", test_moments);
    CU_add_test(suite, "allocated", test_allocated);
    CU_add_test(suite, "sites", test_sites);
    CU_add_test(suite, "tree", test_tree);
    CU_add_test(suite, "changes", test_changes);
    CU_add_test(suite, "ages", test_ages);
    CU_add_test(suite, "rules", test_rules);
    CU_add_test(suite, "faults", test_faults);
    CU_add_test(suite, "largest and none", test_largest);
}
