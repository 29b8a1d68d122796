/* SPDX-License-Identifier: Apache-2.0 */
/* A replay with the driver's process: how many calls it makes, what lives, what it must not pass
 * on, and the forms of the result. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyses/replay/replay_run.h"
#include "converter/cli/verb.h"
#include "tests/unit/analyses/verb_output.h"
#include "tests/unit/run_suite.h"
#include "tests/unit/scratch.h"

VERB(replay);

/* Two threads: 3 allocations, a realloc that moves, with its own records, and 2 frees; 60 bytes
 * stay.  Threads begin without a call. */
#define RECORDS                                                                                    \
    "createThread 0 0 0 1 0 1\n"                                                                   \
    "alloc 4096 100 0 1 0 10\n"                                                                    \
    "alloc 8192 50 0 1 0 20\n"                                                                     \
    "createThread 0 0 0 2 0 25\n"                                                                  \
    "alloc 12288 60 0 2 0 30\n"                                                                    \
    "realloc/both 8192 200 16384 1 0 40\n"                                                         \
    "alloc 16384 200 0 1 0 40\n"                                                                   \
    "free 8192 0 0 1 0 40\n"                                                                       \
    "free 4096 0 0 2 0 50\n"                                                                       \
    "free 16384 0 0 1 0 60\n"

static void test_figures(void)
{
    char *path = scratch_put_text("calls.hatf.txt", RECORDS);
    CU_ASSERT_EQUAL(run_verb(verb_replay, path, "-a", "glibc", "--json", NULL), STEP_STATUS_OK);
    CU_ASSERT_STRING_EQUAL(run_err(), "");
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_STRING_EQUAL(json_at("records"), "8");
    CU_ASSERT_STRING_EQUAL(json_at("calls"), "6");
    CU_ASSERT_STRING_EQUAL(json_at("threads"), "1");
    CU_ASSERT_STRING_EQUAL(json_at("peak_objects"), "3");
    CU_ASSERT_STRING_EQUAL(json_at("peak_live_bytes"), "360");
    CU_ASSERT_STRING_EQUAL(json_at("final_live_bytes"), "60");
    CU_ASSERT_STRING_EQUAL(json_at("skipped.double_frees"), "0");
    CU_ASSERT_EQUAL(json_count("allocators"), 1);
    CU_ASSERT_STRING_EQUAL(json_at("allocators[0].name"), "glibc");
    CU_ASSERT_STRING_EQUAL(json_at("allocators[0].failed"), "0");
    CU_ASSERT_EQUAL(json_count("allocators[0].loop_ns"), 1);
    CU_ASSERT_EQUAL(run_verb(verb_replay, path, "-a", "glibc", "--json", "--threads=trace",
                             "--repeat=2", "--touch=all", "--pace=trace", NULL),
                    STEP_STATUS_OK);
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_STRING_EQUAL(json_at("calls"), "6");
    CU_ASSERT_STRING_EQUAL(json_at("threads"), "2");
    CU_ASSERT_STRING_EQUAL(json_at("order"), "trace");
    CU_ASSERT_STRING_EQUAL(json_at("touch"), "all");
    CU_ASSERT_EQUAL(json_count("allocators[0].loop_ns"), 2);
}

static void test_forms(void)
{
    char *path = scratch_put_text("calls.hatf.txt", RECORDS), *svg = scratch_path("rss.svg");
    CU_ASSERT_EQUAL(run_verb(verb_replay, path, "-a", "glibc", "--svg", svg, NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE(run_printed("calls.hatf.txt, 8 records\n"));
    CU_ASSERT_TRUE(run_printed("calls     6 by 1 thread, 3 objects at most\n"));
    CU_ASSERT_TRUE(run_printed("live      360 B at most, 60 B at the end\n"));
    CU_ASSERT_TRUE(run_printed("\nglibc "));
    CU_ASSERT_FALSE(run_printed("blocked")); /* one thread that does not wait */
    char *picture = scratch_read(svg, NULL);
    CU_ASSERT_PTR_NOT_NULL(strstr(picture, "live bytes"));
    CU_ASSERT_PTR_NOT_NULL(strstr(picture, "</svg>"));
    CU_ASSERT_EQUAL(run_verb(verb_replay, path, "-a", "glibc,glibc", "--csv", NULL),
                    STEP_STATUS_OK);
    CU_ASSERT_TRUE(run_printed("\n\"glibc\",6,1,first,"));
    const char *line = strchr(run_out(), '\n');
    size_t fields[2] = {1, 1};
    for (const char *at = run_out(); at < line; at++)
        fields[0] += *at == ',';
    for (const char *at = line + 1; *at != '\n' && *at != '\0'; at++)
        fields[1] += *at == ',';
    CU_ASSERT_EQUAL(fields[0], 15);
    CU_ASSERT_EQUAL(fields[1], 15);
}

/* What a realloc moved lives from its own records on, also where the trace ends with them. */
static void test_moved_last(void)
{
    char *path = scratch_put_text("moved.hatf.txt", "createThread 0 0 0 1 0 1\n"
                                                    "alloc 4096 100 0 1 0 10\n"
                                                    "realloc/both 4096 5000 8192 1 0 20\n"
                                                    "free 4096 0 0 1 0 20\n"
                                                    "alloc 8192 5000 0 1 0 20\n");
    CU_ASSERT_EQUAL(run_verb(verb_replay, path, "-a", "glibc", "--json", NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_STRING_EQUAL(json_at("peak_live_bytes"), "5000");
    CU_ASSERT_STRING_EQUAL(json_at("final_live_bytes"), "5000");
    CU_ASSERT_STRING_EQUAL(json_at("peak_objects"), "1");
}

/* Bad calls of the program do not reach an allocator, or end the replay if that is wanted. */
static void test_faults_of_trace(void)
{
    char *path = scratch_put_text("faults.hatf.txt", RECORDS "free 4096 0 0 1 0 70\n"
                                                             "free 77 0 0 1 0 80\n"
                                                             "alloc 12300 8 0 1 0 90\n");
    CU_ASSERT_EQUAL(run_verb(verb_replay, path, "-a", "glibc", "--json", NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_STRING_EQUAL(json_at("calls"), "6");
    CU_ASSERT_STRING_EQUAL(json_at("skipped.double_frees"), "1");
    CU_ASSERT_STRING_EQUAL(json_at("skipped.unknown_frees"), "1");
    CU_ASSERT_STRING_EQUAL(json_at("skipped.overlaps"), "1");
    CU_ASSERT_EQUAL(run_verb(verb_replay, path, "-a", "glibc", NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE(run_printed("skipped   1 "));
    CU_ASSERT_EQUAL(run_verb(verb_replay, path, "-a", "glibc", "--on-error=refuse", NULL),
                    STEP_STATUS_CORRUPT);
    CU_ASSERT_TRUE(run_reported("faults.hatf.txt"));
    CU_ASSERT_STRING_EQUAL(run_out(), "");
}

/* What no allocator has: the call fails, is counted, and the others go on. */
static void test_failed_calls(void)
{
    char *path = scratch_put_text("huge.hatf.txt", "createThread 0 0 0 1 0 1\n"
                                                   "alloc 4096 576460752303423488 0 1 0 10\n"
                                                   "alloc 1152921504606846976 32 0 1 0 20\n"
                                                   "free 4096 0 0 1 0 30\n");
    CU_ASSERT_EQUAL(run_verb(verb_replay, path, "-a", "glibc", "--json", NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_STRING_EQUAL(json_at("calls"), "3");
    CU_ASSERT_STRING_EQUAL(json_at("allocators[0].failed"), "1");
}

/* More operations than the memory for them: the driver gets them in pieces while the trace is
 * read, and the figures are the same. */
static void test_streamed(void)
{
    enum { BLOCKS = 300000 };
    char *text = malloc((size_t) BLOCKS * 80 + 100), *at = text;
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    at += sprintf(at, "createThread 0 0 0 1 0 1\n");
    for (unsigned i = 0; i < BLOCKS; i++)
        at += sprintf(at, "alloc %u 16 0 1 0 %u\nfree %u 0 0 1 0 %u\n", 4096 + 32 * (i % 7), i,
                      4096 + 32 * (i % 7), i);
    char *path = scratch_put_text("many.hatf.txt", text);
    free(text);
    struct replay replay;
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct replay_settings settings = {
        .path = path, .name = path, .repeat = 1, .memory_bytes = 3 * REPLAY_PIECE_BYTES};
    strcpy(settings.driver, DRIVER);
    replay_init(&replay, &settings);
    CU_ASSERT_EQUAL(replay_allocators_add(&replay.allocators, "glibc", &error), STEP_STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(replay_run(&replay, &error), STEP_STATUS_OK);
    CU_ASSERT_TRUE(replay.pieces.is_streamed);
    CU_ASSERT_EQUAL(replay.trace.counts.peak_live_bytes, 16);
    CU_ASSERT_EQUAL(replay.allocators.items[0].best->operations, 2 * (uint64_t) BLOCKS);
    CU_ASSERT_EQUAL(replay.allocators.items[0].best->failures, 0);
    CU_ASSERT_TRUE(replay_ns_per_call(&replay, &replay.allocators.items[0]) >= 0);
    replay_reset(&replay);
}

/* ---- what cannot be run ---- */

static void test_allocators(void)
{
    struct replay_allocators allocators = {0};
    struct step_error error = {.offset = STEP_NO_OFFSET};
    CU_ASSERT_EQUAL(replay_allocators_add(&allocators, "glibcc", &error), STEP_STATUS_NOT_FOUND);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "no allocator is called 'glibcc'"));
    CU_ASSERT_EQUAL(replay_allocators_add(&allocators, "", &error), STEP_STATUS_NOT_FOUND);
    CU_ASSERT_EQUAL(replay_allocators_add(&allocators, scratch_path("gone.so"), &error),
                    STEP_STATUS_NOT_FOUND);
    /* LD_PRELOAD would read two libraries of it */
    CU_ASSERT_EQUAL(replay_allocators_add(&allocators, scratch_put_text("my lib.so", "x"), &error),
                    STEP_STATUS_UNSUPPORTED);
    CU_ASSERT_EQUAL(replay_allocators_add(&allocators, scratch_put_text("a:b.so", "x"), &error),
                    STEP_STATUS_UNSUPPORTED);
    CU_ASSERT_EQUAL(allocators.count, 0);
    CU_ASSERT_EQUAL(replay_allocators_add_installed(&allocators, &error), STEP_STATUS_OK);
    CU_ASSERT_TRUE(allocators.count >= 1);
    CU_ASSERT_STRING_EQUAL(allocators.items[0].name, "glibc");
    free(allocators.items);
}

/* A library that the loader ignores is not taken for an allocator. */
static void test_no_library(void)
{
    char *path = scratch_put_text("calls.hatf.txt", RECORDS);
    CU_ASSERT_EQUAL(run_verb(verb_replay, path, "-a", scratch_put_text("none.so", "no ELF"), NULL),
                    STEP_STATUS_INVALID);
    CU_ASSERT_TRUE(run_reported("this library has no malloc(), or cannot be loaded"));
    CU_ASSERT_STRING_EQUAL(run_out(), "");
}

/* A driver that ends without a result, or is not there, is an error with its reason. */
static void test_driver(void)
{
    char *path = scratch_put_text("calls.hatf.txt", RECORDS);
    setenv("STEPTRACE_REPLAY", "/bin/false", 1);
    CU_ASSERT_EQUAL(run_verb(verb_replay, path, "-a", "glibc", NULL), STEP_STATUS_IO);
    CU_ASSERT_TRUE(run_reported("the driver failed (exit code 1)"));
    setenv("STEPTRACE_REPLAY", "/bin/true", 1); /* has no result */
    CU_ASSERT_EQUAL(run_verb(verb_replay, path, "-a", "glibc", NULL), STEP_STATUS_IO);
    setenv("STEPTRACE_REPLAY", DRIVER, 1);
}

static void test_usage(void)
{
    static const char *const options[] = {"--repeat=0",  "--repeat=1001",  "--decoded=15",
                                          "--touch=two", "--threads=some", "--on-error=no"};
    char *path = scratch_put_text("calls.hatf.txt", RECORDS);
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        CU_ASSERT_EQUAL(run_verb(verb_replay, path, options[i], NULL), STEP_STATUS_INVALID);
    CU_ASSERT_EQUAL(run_verb(verb_replay, path, "--csv", "--json", NULL), STEP_STATUS_INVALID);
    CU_ASSERT_EQUAL(run_verb(verb_replay, scratch_path("gone.hatf"), "-a", "glibc", NULL),
                    STEP_STATUS_IO);
    CU_ASSERT_TRUE(run_reported("gone.hatf"));
}

/* The names of CSV are quoted, whatever they are. */
static void print_csv(const void *replay)
{
    replay_print_csv(replay);
}

static void test_hostile_name(void)
{
    struct replay_control *result = calloc(1, sizeof *result);
    CU_ASSERT_PTR_NOT_NULL_FATAL(result);
    struct replay_allocator item = {.name = "./a\",\n\x1b.so", .best = result};
    const struct replay replay = {.driver = {.best = result}, .allocators = {&item, 1, 1}};
    run_printing(print_csv, &replay);
    CU_ASSERT_TRUE(run_printed("\n\"./a\"\",\\x0a\\x1b.so\",0,0,none,0,0.000,"));
    free(result);
}

void add_suite(void)
{
    setenv("STEPTRACE_REPLAY", DRIVER, 1);
    CU_pSuite suite = CU_add_suite("replay", scratch_begin, scratch_end);
    CU_add_test(suite, "figures", test_figures);
    CU_add_test(suite, "forms", test_forms);
    CU_add_test(suite, "what was moved last", test_moved_last);
    CU_add_test(suite, "faults of the trace", test_faults_of_trace);
    CU_add_test(suite, "failed calls", test_failed_calls);
    CU_add_test(suite, "streamed", test_streamed);
    CU_add_test(suite, "allocators", test_allocators);
    CU_add_test(suite, "no library", test_no_library);
    CU_add_test(suite, "driver", test_driver);
    CU_add_test(suite, "usage", test_usage);
    CU_add_test(suite, "a hostile name", test_hostile_name);
}
