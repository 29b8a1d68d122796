/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of allocation sites: their numbers of a trace of a few objects, worked out by hand,
 * and names that want to be something else. */
#include <CUnit/Basic.h>
#include <string.h>

#include "converter/cli/verb.h"
#include "tests/unit/analyses/small_trace.h"
#include "tests/unit/analyses/verb_output.h"
#include "tests/unit/run_suite.h"
#include "tests/unit/scratch.h"

VERB(lifetimes);
VERB(advise);
VERB(escape);

/* 20 objects of 600 bytes, of which each dies before the next is made (pool), and four of 100 that
 * live until the end (kept), two of these under a name that is hostile. */
static char *write_sites(void)
{
    small_trace_begin("sites.step");
    uint64_t hostile = small_class(HOSTILE_NAME), main_class = small_class("app/Main");
    uint64_t method = small_method(main_class, "run");
    uint64_t pool = small_frame(0, method, 10), kept = small_frame(pool, method, 20);
    small_start();
    for (unsigned i = 0; i < 20; i++) {
        small_now += 10;
        uint64_t object = small_alloc(main_class, 600, pool);
        if (i % 5 == 0)
            small_alloc(i < 10 ? hostile : main_class, 100, kept);
        small_now += 10;
        small_free(object);
    }
    small_death();
    return small_trace_end();
}

static void test_lifetimes(void)
{
    char *path = write_sites();
    CU_ASSERT_EQUAL(run_verb(verb_lifetimes, path, "--json", NULL), STEP_STATUS_OK);
    CU_ASSERT_STRING_EQUAL(run_err(), "");
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_STRING_EQUAL(json_at("objects"), "24");
    CU_ASSERT_STRING_EQUAL(json_at("bytes"), "12400");
    CU_ASSERT_STRING_EQUAL(json_at("site_count"), "3");
    CU_ASSERT_EQUAL(json_count("sites"), 3); /* those with most bytes first; then as they came */
    CU_ASSERT_STRING_EQUAL(json_at("sites[0].class"), "app/Main");
    CU_ASSERT_STRING_EQUAL(json_at("sites[0].objects"), "20");
    CU_ASSERT_STRING_EQUAL(json_at("sites[0].dead_objects"), "20");
    CU_ASSERT_STRING_EQUAL(json_at("sites[0].dead_bytes"), "12000");
    CU_ASSERT_STRING_EQUAL(json_at("sites[0].most_living"), "1");
    CU_ASSERT_STRING_EQUAL(json_at("sites[0].lifetimes"), "upper_bound");
    /* 16 live while only they are made (600 bytes), 4 while 100 more are; 10 us each */
    CU_ASSERT_STRING_EQUAL(json_at("sites[0].lifetime_bytes.most"), "700");
    CU_ASSERT_DOUBLE_EQUAL(json_real_at("sites[0].lifetime_bytes.mean"), 620, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(json_real_at("sites[0].lifetime_ns.mean"), 10000, 1e-9);
    CU_ASSERT_STRING_EQUAL(json_at("sites[1].class"), HOSTILE_NAME);
    CU_ASSERT_STRING_EQUAL(json_at("sites[1].dead_objects"), "0");
    CU_ASSERT_STRING_EQUAL(json_at("sites[1].lifetime_bytes"), "null");
    CU_ASSERT_STRING_EQUAL(json_at("sites[2].class"), "app/Main");
}

/* Names of a trace do not reach the terminal as they are, nor end a line. */
static void test_lifetimes_text(void)
{
    char *path = write_sites();
    CU_ASSERT_EQUAL(run_verb(verb_lifetimes, path, "--histogram", "--top=2", NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE(run_printed("allocated  24 objects, 12.1 KiB, at 3 sites\n"));
    CU_ASSERT_TRUE(run_printed("collected  20 times, after 620 B allocated on average\n"));
    CU_ASSERT_TRUE(run_printed("lifetimes, marked <=, are upper bounds"));
    CU_ASSERT_TRUE(run_printed(" 11.7 KiB           20    0.0%      <=600 B      <=600 B "));
    CU_ASSERT_TRUE(run_printed("   100.0 % < 1.00 KiB\n"));
    CU_ASSERT_TRUE(run_printed(HOSTILE_SHOWN "  app/Main.run:20 <- app/Main.run:10\n"));
    CU_ASSERT_TRUE(run_printed("   100.0 % alive\n"));
    CU_ASSERT_TRUE(run_printed("and 1 more"));
    CU_ASSERT_FALSE(run_printed("\x1b"));
    CU_ASSERT_EQUAL(run_verb(verb_lifetimes, path, "--depth=1", "--top=0", NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE(run_printed("app/Main.run:20 <- ...\n"));
    CU_ASSERT_FALSE(run_printed("more"));
}

/* Two sites of 100 objects that live alike, and one whose objects stay. */
static void test_clusters(void)
{
    small_trace_begin("clusters.step");
    uint64_t a = small_class("A"), b = small_class("B"), c = small_class("C");
    small_start();
    for (unsigned i = 0; i < 100; i++) {
        small_now += 10;
        uint64_t one = small_alloc(a, 32, 0), two = small_alloc(b, 16, 0);
        small_alloc(c, 8, 0);
        small_now += 10;
        small_free(one);
        small_free(two);
    }
    char *path = small_trace_end();
    CU_ASSERT_EQUAL(run_verb(verb_lifetimes, path, "--json", NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_EQUAL(json_count("clusters"), 3);
    CU_ASSERT_STRING_EQUAL(json_at("sites[0].cluster"), "A");
    CU_ASSERT_STRING_EQUAL(json_at("clusters[2].objects"), "100");
    CU_ASSERT_STRING_EQUAL(json_at("clusters[2].bytes"), "800");
    CU_ASSERT_EQUAL(run_verb(verb_lifetimes, path, NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE(run_printed("The trace has no call stacks: each row is a class.\n"));
    CU_ASSERT_TRUE(run_printed("      C            1          100        800 B  C\n"));
}

static void test_advise(void)
{
    char *path = write_sites();
    CU_ASSERT_EQUAL(run_verb(verb_advise, path, "--least=11400", "--json", NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_EQUAL(json_count("advice"), 1);
    CU_ASSERT_STRING_EQUAL(json_at("advice[0].advice"), "duplicate");
    CU_ASSERT_STRING_EQUAL(json_at("advice[0].bytes"), "11400"); /* all but the first */
    CU_ASSERT_STRING_EQUAL(json_at("advice[0].site[0]"), "app/Main.run:10");
    CU_ASSERT_STRING_EQUAL(json_at("advice[0].evidence.objects"), "19");
    CU_ASSERT_STRING_EQUAL(json_at("advice[0].evidence.site_objects"), "20");
    CU_ASSERT_STRING_EQUAL(json_at("advice[0].evidence.late_deaths"), "20");
    CU_ASSERT_STRING_EQUAL(json_at("unknown[0]"), "scalar");
    CU_ASSERT_STRING_EQUAL(json_at("unknown[1]"), "presize");
    CU_ASSERT_EQUAL(json_count("unknown"), 2);
    CU_ASSERT_EQUAL(run_verb(verb_advise, path, "--least=11401", NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE(run_printed("(no advice)\n"));
    CU_ASSERT_EQUAL(run_verb(verb_advise, path, "--least=1", NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE(run_printed("    11.1 KiB duplicate  app/Main  app/Main.run:10\n"));
    CU_ASSERT_TRUE(run_printed("19 of 20 objects were allocated after the thread's previous one of "
                               "that size had died\n"));
}

/* 16 objects survive two collections of a model that collects after each 1,000 bytes. */
static void test_pretenure(void)
{
    small_trace_begin("pretenure.step");
    uint64_t kept = small_class("Kept"), rest = small_class("[B");
    small_property("events", "class+alloc+thread");
    small_start();
    for (unsigned i = 0; i < 16; i++)
        small_alloc(kept, 24, 0);
    for (unsigned i = 0; i < 4; i++)
        small_alloc(rest, 1000, 0);
    char *path = small_trace_end();
    CU_ASSERT_EQUAL(run_verb(verb_advise, path, "--least=1", "--young=1000", NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE(run_printed("by a model: after each 1000 B allocated\n"));
    CU_ASSERT_TRUE(run_printed("reuse, duplicate: unknown, as the trace has no deaths\n"));
    CU_ASSERT_TRUE(run_printed("       384 B pretenure  Kept\n"));
    CU_ASSERT_TRUE(run_printed("16 of 16 objects survived 2 collections or more\n"));
    CU_ASSERT_EQUAL(run_verb(verb_advise, path, "--least=1", "--json", NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_EQUAL(json_count("advice"), 0);
    CU_ASSERT_EQUAL(json_count("unknown"), 5); /* all of them */
}

static void store(uint64_t holder, uint64_t index, uint64_t target)
{
    const struct step_java_element_store element = {
        .time = small_now, .thread = 1, .holder = holder, .target = target, .index = index};
    CU_ASSERT_EQUAL(step_java_element_store_put(small_trace_writer(), 2, &element), STEP_STATUS_OK);
}

/* Of 40 objects of two classes those of one are never stored. */
static void test_scalar(void)
{
    small_trace_begin("scalar.step");
    uint64_t loose = small_class("Loose"), held = small_class("Held");
    uint64_t array_class = small_class("[LHeld;");
    small_property("events", "class+alloc+free+thread+reference");
    small_start();
    uint64_t array = small_alloc(array_class, 200, 0);
    for (unsigned i = 0; i < 20; i++) {
        small_now++;
        small_alloc(loose, 16, 0);
        store(array, i, small_alloc(held, 16, 0));
    }
    char *path = small_trace_end();
    CU_ASSERT_EQUAL(run_verb(verb_advise, path, "--least=1", "--json", NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_EQUAL_FATAL(json_count("advice"), 1);
    CU_ASSERT_STRING_EQUAL(json_at("advice[0].advice"), "scalar");
    CU_ASSERT_STRING_EQUAL(json_at("advice[0].class"), "Loose");
    CU_ASSERT_STRING_EQUAL(json_at("advice[0].bytes"), "320");
    CU_ASSERT_EQUAL(run_verb(verb_advise, path, "--least=1", NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE(run_printed("none of 20 objects was stored in a field, an array or a static "
                               "field\n"));
}

/* ---- escape ---- */

#define LOG_HEAD "<?xml version='1.0' encoding='UTF-8'?>\n<hotspot_log version='160 1'>\n"
#define LOG_NAMES                                                                                  \
    "<klass id='2' name='app.Main'/>\n<type id='1' name='void'/>\n"                                \
    "<method id='3' holder='2' name='run' return='1' iicount='12'/>\n<parse method='3'>\n"
#define LOG_REMOVAL                                                                                \
    "<eliminate_allocation type='2'>\n<jvms bci='7' method='3'/>\n</eliminate_allocation>\n"

static uint64_t indexed_frame(uint64_t method, uint64_t line, uint64_t bytecode)
{
    uint64_t id;
    const struct step_java_frame frame = {.method = method, .line = line, .bytecode = bytecode + 1};
    CU_ASSERT_EQUAL(step_java_frame_define(small_trace_writer(), &frame, &id), STEP_STATUS_OK);
    return id;
}

/* Main.run makes 100 objects of 16 bytes at the index 7, 10 at 20, and 5 without a stack. */
static char *write_indexes(const char *engine)
{
    small_trace_begin("indexes.step");
    uint64_t main_class = small_class("app/Main"), method = small_method(main_class, "run");
    uint64_t seven = indexed_frame(method, 30, 7), twenty = indexed_frame(method, 31, 20);
    small_property("engine", engine);
    small_property("options", "engine=jvmti,stack=4,places=bytecode");
    small_property("command-line", "java -XX:TieredStopAtLevel=1 app.Main");
    small_start();
    for (unsigned i = 0; i < 115; i++)
        small_alloc(main_class, 16, i < 100 ? seven : i < 110 ? twenty : 0);
    return small_trace_end();
}

static void test_escape(void)
{
    char *log = scratch_put_text(
        "jit.log", LOG_HEAD "<task compile_id='1' method='app.Main run ()V' level='4' iicount='30' "
                            "backedge_count='5'>\n" LOG_NAMES LOG_REMOVAL
                            "<task_done success='1' backedge_count='10'/>\n</hotspot_log>\n");
    char *path = write_indexes("jvmti"), option[160] = "--jit-log=";
    strcat(option, log);
    CU_ASSERT_EQUAL(run_verb(verb_escape, path, option, "--json", NULL), STEP_STATUS_OK);
    CU_ASSERT_STRING_EQUAL(run_err(), "");
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_STRING_EQUAL(json_at("is_lower_bound"), "false");
    CU_ASSERT_STRING_EQUAL(json_at("objects"), "115");
    CU_ASSERT_STRING_EQUAL(json_at("removed_at_most"), "100");
    CU_ASSERT_STRING_EQUAL(json_at("removed_bytes_at_most"), "1600");
    CU_ASSERT_STRING_EQUAL(json_at("not_estimated"), "0");
    /* 30 calls and 10 rounds were outside C2's code */
    CU_ASSERT_DOUBLE_EQUAL(json_real_at("removed_about"), 60, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(json_real_at("removed_bytes_about"), 960, 1e-9);
    CU_ASSERT_STRING_EQUAL(json_at("compilations"), "1");
    CU_ASSERT_STRING_EQUAL(json_at("unmatched_places"), "0");
    CU_ASSERT_STRING_EQUAL(json_at("sites[0].bytecode"), "7");
    CU_ASSERT_STRING_EQUAL(json_at("sites[0].line"), "30");
    CU_ASSERT_STRING_EQUAL(json_at("sites[0].removed"), "1");
    CU_ASSERT_STRING_EQUAL(json_at("sites[0].in_code_of[0]"), "app/Main run ()V");
    CU_ASSERT_STRING_EQUAL(json_at("sites[1].bytecode"), "20");
    CU_ASSERT_STRING_EQUAL(json_at("sites[1].removed_at_most"), "0");
    CU_ASSERT_STRING_EQUAL(json_at("sites[2].bytecode"), "null");
    CU_ASSERT_EQUAL(run_verb(verb_escape, path, option, NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE(run_printed("removed    100 objects, 1.56 KiB at most; about 60, 960 B\n"));
    CU_ASSERT_TRUE(run_printed("5 objects from native methods or without a call stack.\n"));
    CU_ASSERT_TRUE(run_printed("app/Main.run:30@7\n"));
    CU_ASSERT_FALSE(run_printed("@20")); /* nothing was removed there */
}

/* What does not fit ends with a reason; a log whose end is missing is used as far as it goes. */
static void test_escape_faults(void)
{
    char cut[160] = "--jit-log=", none[160] = "--jit-log=", gone[160] = "--jit-log=";
    strcat(cut, scratch_put_text("cut.log", LOG_HEAD));
    strcat(none, scratch_put_text("none.log", "<a>\n<b>\n<hotspot_log>\n"));
    strcat(gone, scratch_path("gone.log"));
    char *path = write_indexes("jvmti");
    CU_ASSERT_EQUAL(run_verb(verb_escape, path, NULL), STEP_STATUS_INVALID);
    CU_ASSERT_TRUE(run_reported("--jit-log=FILE is needed"));
    CU_ASSERT_EQUAL(run_verb(verb_escape, path, gone, NULL), STEP_STATUS_IO);
    CU_ASSERT_TRUE(run_reported("gone.log: cannot open"));
    CU_ASSERT_EQUAL(run_verb(verb_escape, path, none, NULL), STEP_STATUS_CORRUPT);
    CU_ASSERT_TRUE(run_reported("none.log: offset 0: not a log of -XX:+LogCompilation"));
    CU_ASSERT_EQUAL(run_verb(verb_escape, path, cut, NULL), STEP_STATUS_CUT);
    CU_ASSERT_TRUE(run_reported("cut.log: offset 69: the end of the log is missing"));
    CU_ASSERT_TRUE(run_printed("allocated  115 objects"));
    CU_ASSERT_EQUAL(run_verb(verb_escape, write_indexes("bytecode"), cut, NULL),
                    STEP_STATUS_CORRUPT);
    CU_ASSERT_TRUE(run_reported("its call stacks have no bytecode indexes"));
    CU_ASSERT_STRING_EQUAL(run_out(), "");
}

/* Objects without sizes have no lifetimes in bytes; a trace without an object is no error. */
static void test_faults(void)
{
    small_trace_begin("nothing.step");
    small_start();
    char *path = small_trace_end();
    CU_ASSERT_EQUAL(run_verb(verb_lifetimes, path, "--json", NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_EQUAL(json_count("sites"), 0);
    small_trace_begin("sizeless.step");
    small_alloc(1, 0, 0);
    path = small_trace_end();
    CU_ASSERT_EQUAL(run_verb(verb_lifetimes, path, NULL), STEP_STATUS_CORRUPT);
    CU_ASSERT_TRUE(run_reported("the objects have no sizes"));
    CU_ASSERT_EQUAL(run_verb(verb_lifetimes, scratch_path("gone.step"), NULL),
                    STEP_STATUS_NOT_FOUND);
    CU_ASSERT_EQUAL(run_verb(verb_lifetimes, path, path, NULL), STEP_STATUS_INVALID);
    CU_ASSERT_EQUAL(run_verb(verb_advise, path, "--within=-1", NULL), STEP_STATUS_INVALID);
    CU_ASSERT_TRUE(run_reported("--within"));
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("commands of sites", scratch_begin, scratch_end);
    CU_add_test(suite, "lifetimes", test_lifetimes);
    CU_add_test(suite, "lifetimes as text", test_lifetimes_text);
    CU_add_test(suite, "clusters", test_clusters);
    CU_add_test(suite, "advise", test_advise);
    CU_add_test(suite, "pretenure", test_pretenure);
    CU_add_test(suite, "scalar", test_scalar);
    CU_add_test(suite, "escape", test_escape);
    CU_add_test(suite, "faults of escape", test_escape_faults);
    CU_add_test(suite, "faults", test_faults);
}
