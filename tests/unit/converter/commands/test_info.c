/* SPDX-License-Identifier: Apache-2.0 */
/* `info` and `dump`: what a trace contains, and its events as text. */
#include <CUnit/Basic.h>
#include <string.h>

#include "tests/unit/converter/commands/run_verb.h"
#include "tests/unit/run_suite.h"

/* The same numbers, of the index of a STEP trace and of events that are counted. */
static void test_counts(void)
{
    static const char *const lines[] = {"events         20\n",
                                        "  OA               4  object allocation\n",
                                        "  OF               2  object free\n",
                                        "  FP               1  frame popped\n",
                                        "classes        3\n",
                                        "methods        2\n",
                                        "threads        2\n",
                                        "time           0 to 4000 ns (4.00 us)\n",
                                        "state          whole\n"};
    const char *paths[] = {java_trace("a.step"), scratch_put_text("a.txt", java_lines)};
    for (int i = 0; i < 2; i++) {
        struct verb_result result = run_verb("info", paths[i], NULL);
        CU_ASSERT_EQUAL(result.status, STEP_STATUS_OK);
        CU_ASSERT_STRING_EQUAL(result.err, "");
        for (size_t k = 0; k < sizeof lines / sizeof lines[0]; k++)
            CU_ASSERT(has_text(result.out, lines[k]));
    }
}

static void test_json(void)
{
    struct verb_result result = run_verb("info", "--json", java_trace("a.step"), NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_OK);
    static const char *const members[] = {
        "\"whole\": true",      "\"running\": false",    "\"events\": 20",    "\"OA\": 4",
        "\"damage\": []",       "\"classes\": 3",        "\"last_ns\": 4000", "\"not_probed\": []",
        "\"resolution_ns\": 1", "\"java.ObjectFree\": 2"};
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        CU_ASSERT(has_text(result.out, members[i]));
}

/* The figures of a heap trace: an address that is used again is one block, and what is live is
 * greatest before the last free. */
static void test_allocs(void)
{
    const char *path = scratch_put_text("a.hatf.txt", heap_lines);
    struct verb_result result = run_verb("info", path, NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_OK);
    static const char *const lines[] = {"records        8\n",
                                        "comments       1\n",
                                        "bytes          240\n",
                                        "most objects   3\n",
                                        "most bytes     208\n",
                                        "mean size      60.0 bytes\n",
                                        "time           1000 to 2600 ns (1.60 us)\n"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        CU_ASSERT(has_text(result.out, lines[i]));
    result = run_verb("info", "--json", path, NULL);
    CU_ASSERT(has_text(result.out, "\"most_bytes\": 208"));
    CU_ASSERT(has_text(result.out, "\"free\": 2"));
}

/* In place, a block is only resized; with its heap, all its blocks go. */
static void test_blocks_that_change(void)
{
    const char *path = scratch_put_text("b.hatf.txt", "# HATF 1.0, by hand\n"
                                                      "createHeap 0 0 0 1 7 5\n"
                                                      "alloc 64 10 0 1 7 10\n"
                                                      "alloc 128 10 0 1 7 10\n"
                                                      "realloc/none 64 30 64 1 7 11\n"
                                                      "destroyHeap 0 0 0 1 7 12\n"
                                                      "alloc 64 39 0 1 0 13\n");
    struct verb_result result = run_verb("info", path, NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_OK);
    CU_ASSERT(has_text(result.out, "most objects   2\n"));
    CU_ASSERT(has_text(result.out, "most bytes     40\n"));
    CU_ASSERT(has_text(result.out, "heaps          2\n"));
}

/* A trace without its last bytes is read as far as it goes, and is said to be damaged. */
static void test_cut(void)
{
    size_t length;
    const char *bytes = scratch_read(java_trace("a.step"), &length);
    CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
    struct verb_result result = run_verb("info", scratch_put("cut.step", bytes, length - 8), NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_CORRUPT);
    CU_ASSERT(has_text(result.out, "state          damaged in 1 place\n"));
    CU_ASSERT(has_text(result.out, "events         20\n"));
    CU_ASSERT(has_text(result.err, "cut.step: offset"));
}

static void test_not_there(void)
{
    struct verb_result result = run_verb("info", scratch_path("none.step"), NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_NOT_FOUND);
    CU_ASSERT_STRING_EQUAL(result.out, "");
    CU_ASSERT(has_text(result.err, "none.step"));
    result = run_verb("info", scratch_put_text("empty.step", ""), NULL);
    CU_ASSERT_NOT_EQUAL(result.status, STEP_STATUS_OK);
    CU_ASSERT(has_text(result.err, "empty.step"));
    CU_ASSERT_EQUAL(run_verb("info", NULL).status, STEP_STATUS_INVALID);
}

static void test_definition(void)
{
    struct verb_result result = run_verb("info", "--definition", java_trace("a.step"), NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_OK);
    CU_ASSERT(has_text(result.out, "ObjectAlloc"));
    result = run_verb("info", "--definition", scratch_put_text("a.txt", java_lines), NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_CORRUPT);
    CU_ASSERT_STRING_EQUAL(result.out, "");
}

/* What a trace was made of comes out again, of the file and of what was chosen of it. */
static void test_dump(void)
{
    const char *path = java_trace("a.step");
    struct verb_result result = run_verb("dump", path, NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_OK);
    CU_ASSERT_STRING_EQUAL(result.out, java_lines);
    result = run_verb("dump", path, "--kind=OF", NULL);
    CU_ASSERT_STRING_EQUAL(result.out, "OF:3000:[I:3\nOF:3000:[I:4\n");
    result = run_verb("dump", path, "--record=ObjectFree", "--where=object=4", NULL);
    CU_ASSERT(has_text(result.out, "object=4"));
    CU_ASSERT_FALSE(has_text(result.out, "object=3"));
    result = run_verb("dump", path, "--json", "--record=MethodEntry", NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_OK);
    CU_ASSERT(has_text(result.out, "\"time\":2000") && has_text(result.out, "\"time\":2600"));
    result = run_verb("dump", path, "--entries", NULL);
    CU_ASSERT(has_text(result.out, "java.Class#3 name=\"pack/Cart\""));
}

static void test_dump_allocs(void)
{
    struct verb_result result = run_verb("dump", scratch_put_text("a.hatf.txt", heap_lines), NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_OK);
    CU_ASSERT(has_text(result.out, "alloc 16384 84 0 1 0 2400\n"));
    CU_ASSERT(has_text(result.out, "free 16384 0 0 1 0 2500\n"));
}

/* Records are chosen by few things, and types that nobody defined are refused. */
static void test_dump_refuses(void)
{
    const char *path = java_trace("a.step");
    struct verb_result result = run_verb("dump", path, "--record=ObjectFrei", NULL);
    CU_ASSERT_NOT_EQUAL(result.status, STEP_STATUS_OK);
    CU_ASSERT(has_text(result.err, "ObjectFrei"));
    result = run_verb("dump", path, "--records", "--kind=OA", NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_INVALID);
    result = run_verb("dump", path, "--json", "--entries", NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_INVALID);
    CU_ASSERT_STRING_EQUAL(result.out, "");
}

/* A line that is none ends the output where it stands, and says so. */
static void test_bad_line(void)
{
    const char *path = scratch_put_text("bad.txt", "VS:0\nVI:10\nnonsense\nVD:20\n");
    struct verb_result result = run_verb("dump", path, NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_CORRUPT);
    CU_ASSERT_STRING_EQUAL(result.out, "VS:0\nVI:10\n");
    CU_ASSERT(has_text(result.err, "bad.txt"));
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("info and dump", scratch_begin, scratch_end);
    CU_add_test(suite, "counts", test_counts);
    CU_add_test(suite, "JSON", test_json);
    CU_add_test(suite, "heap traces", test_allocs);
    CU_add_test(suite, "blocks that change", test_blocks_that_change);
    CU_add_test(suite, "cut", test_cut);
    CU_add_test(suite, "not there", test_not_there);
    CU_add_test(suite, "definition", test_definition);
    CU_add_test(suite, "dump", test_dump);
    CU_add_test(suite, "dump of a heap trace", test_dump_allocs);
    CU_add_test(suite, "what dump refuses", test_dump_refuses);
    CU_add_test(suite, "a bad line", test_bad_line);
}
