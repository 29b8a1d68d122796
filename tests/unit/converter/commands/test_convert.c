/* SPDX-License-Identifier: Apache-2.0 */
/* `convert`: there and back, what of a trace is written, and what is refused before anything is. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/converter/commands/run_verb.h"
#include "tests/unit/run_suite.h"

static enum step_status convert(const char *from, const char *to)
{
    return run_verb("convert", from, "-o", to, NULL).status;
}

/* Events that come back from each format are those that went in. */
static void test_round_trips(void)
{
    static const char *const names[] = {"a.step", "a.zip", "a.mtf"};
    const char *lines = scratch_put_text("in.txt", java_lines), *back = scratch_path("back.txt");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *path = scratch_path(names[i]);
        CU_ASSERT_EQUAL(convert(lines, path), STEP_STATUS_OK);
        CU_ASSERT_EQUAL(convert(path, back), STEP_STATUS_OK);
        const char *text = scratch_read(back, NULL);
        CU_ASSERT(text != NULL && strcmp(text, java_lines) == 0);
    }
}

static void test_allocs_round_trips(void)
{
    static const char *const names[] = {"a.hatf", "a.hatf.zip", "a.step", "a.hatf.txt.gz"};
    const char *lines = scratch_put_text("in.hatf.txt", heap_lines);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *path = scratch_path(names[i]);
        CU_ASSERT_EQUAL(convert(lines, path), STEP_STATUS_OK);
        struct verb_result result = run_verb("info", path, NULL);
        CU_ASSERT_EQUAL(result.status, STEP_STATUS_OK);
        CU_ASSERT(has_text(result.out, "bytes          240\n"));
        CU_ASSERT(has_text(result.out, "most bytes     208\n"));
    }
}

/* A slice has the events of its time and the names of all. */
static void test_slice(void)
{
    const char *path = java_trace("a.step"), *part = scratch_path("part.txt");
    CU_ASSERT_EQUAL(run_verb("convert", path, "-o", part, "--from=2500ns", "--to=txt", NULL).status,
                    STEP_STATUS_INVALID); /* --from is a time or a format, --to a format */
    struct verb_result result =
        run_verb("convert", path, "-o", part, "--kind=OA", "--time=2500ns..2750ns", NULL);
    const char *text = scratch_read(part, NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_OK);
    CU_ASSERT(text != NULL && strcmp(text, "OA:2700:[I:3\n") == 0);
}

static void test_json_answer(void)
{
    const char *path = java_trace("a.step"), *out = scratch_path("out.txt");
    struct verb_result result = run_verb("convert", path, "-o", out, "--json", NULL);
    char size[64];
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_OK);
    snprintf(size, sizeof size, "\"file_bytes\": %zu", strlen(java_lines));
    CU_ASSERT(has_text(result.out, size));
    CU_ASSERT(has_text(result.out, "\"format\": \"lines\""));
    CU_ASSERT(has_text(result.out, "\"whole\": true"));
    CU_ASSERT_EQUAL(run_verb("convert", path, "-o", "-", "--to=lines", "--json", NULL).status,
                    STEP_STATUS_INVALID);
}

static void test_standard_output(void)
{
    struct verb_result result =
        run_verb("convert", java_trace("a.step"), "-o", "-", "--to=lines", NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_OK);
    CU_ASSERT_STRING_EQUAL(result.out, java_lines);
}

/* Each is refused with its reason, and leaves no file. */
static void test_refused(void)
{
    static const struct {
        const char *name, *option, *reason;
    } cases[] = {
        {"x.nothing", NULL, "names no format"},
        {"x.txt", "--to=nothing", "nothing"},
        {"x.pb.gz", "--kind=OA", "a heap needs events of all kinds"},
        {"x.txt", "--level=19", "--level is an option of"},
        {"x.hprof", "--kind=OA", "accepts no selection"},
        {"x.csv", "--kind=OA", "records are selected by"},
    };
    const char *path = java_trace("a.step");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *to = scratch_path(cases[i].name);
        struct verb_result result = run_verb("convert", path, "-o", to, cases[i].option, NULL);
        CU_ASSERT_EQUAL(result.status, STEP_STATUS_INVALID);
        CU_ASSERT(has_text(result.err, cases[i].reason));
        CU_ASSERT_PTR_NULL(scratch_read(to, NULL));
    }
    CU_ASSERT_EQUAL(run_verb("convert", path, NULL).status, STEP_STATUS_INVALID);
}

/* What precedes the damage is written, and the copy says itself that it lacks the rest. */
static void test_damaged(void)
{
    const char *bad = scratch_put_text("bad.txt", "VS:0\nVI:5\nnonsense\n");
    const char *to = scratch_path("of_bad.step");
    struct verb_result result = run_verb("convert", bad, "-o", to, NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_CORRUPT);
    CU_ASSERT(has_text(result.err, "bad.txt: offset 10: line 3"));
    result = run_verb("dump", to, NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_CORRUPT);
    CU_ASSERT_STRING_EQUAL(result.out, "VS:0\nVI:5\n");
    CU_ASSERT(has_text(result.err, "the trace is incomplete"));
    size_t length;
    const char *bytes = scratch_read(java_trace("a.step"), &length);
    const char *cut = scratch_put("cut.step", bytes, length - 8);
    to = scratch_path("of_cut.txt");
    result = run_verb("convert", cut, "-o", to, NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_CORRUPT);
    const char *text = scratch_read(to, NULL);
    CU_ASSERT(text != NULL && strcmp(text, java_lines) == 0);
}

/* The limit of an output ends the conversion, says how to raise it, and leaves no part. */
static void test_limit(void)
{
    const char *to = scratch_path("limited.txt");
    struct verb_result result =
        run_verb("convert", java_trace("a.step"), "-o", to, "--limit-output=100", NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_CORRUPT);
    CU_ASSERT(has_text(result.err, "--limit-output"));
    CU_ASSERT_PTR_NULL(scratch_read(to, NULL));
    result = run_verb("convert", java_trace("a.step"), "-o", to, NULL); /* the limit is gone */
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_OK);
}

/* The heap at a moment, as lines of stacks: what is not freed at the end, all at the peak. */
static void test_heap(void)
{
    const char *path = scratch_put_text("in.hatf.txt", heap_lines);
    const char *to = scratch_path("heap.collapsed");
    struct verb_result result = run_verb("convert", path, "-o", to, NULL);
    const char *text = scratch_read(to, NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_OK);
    CU_ASSERT(text != NULL && has_text(text, " 208"));
    result = run_verb("convert", path, "-o", to, "--at=end", NULL);
    text = scratch_read(to, NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_OK);
    CU_ASSERT(text != NULL && has_text(text, " 124"));
}

/* Calls end where an exception ends them. */
static void test_calls(void)
{
    const char *to = scratch_path("calls.trace.json");
    struct verb_result result = run_verb("convert", java_trace("a.step"), "-o", to, NULL);
    const char *text = scratch_read(to, NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_OK);
    CU_ASSERT(text != NULL && has_text(text, "\"ts\":2.600,\"name\":\"pack/Cart.main\""));
    CU_ASSERT(text != NULL && has_text(text, "\"ts\":2.900,\"args\":{\"exception\":true}}"));
}

/* ---- heap dumps of other tools ---- */

/* Two dumps of a process: 3 blocks of 24 bytes each of one stack, then 5. */
static const char dumps[] =
    "{\"traceEvents\":["
    "{\"ph\":\"v\",\"pid\":4,\"ts\":1000,\"name\":\"detailed\",\"id\":\"1\",\"args\":{\"dumps\":"
    "{\"heaps_v2\":{\"maps\":{\"nodes\":[{\"id\":1,\"name_sid\":1}],"
    "\"types\":[{\"id\":1,\"name_sid\":2}],"
    "\"strings\":[{\"id\":1,\"string\":\"main\"},{\"id\":2,\"string\":\"Cart\"}]},"
    "\"allocators\":{\"malloc\":{\"counts\":[3],\"sizes\":[72],\"types\":[1],\"nodes\":[1]}}}}}},"
    "{\"ph\":\"v\",\"pid\":4,\"ts\":2000,\"name\":\"detailed\",\"id\":\"2\",\"args\":{\"dumps\":"
    "{\"heaps_v2\":{\"maps\":{},"
    "\"allocators\":{\"malloc\":{\"counts\":[5],\"sizes\":[120],\"types\":[1],\"nodes\":[1]}}}}}}"
    "]}";

static void test_dumps(void)
{
    const char *path = scratch_put_text("d.memory-infra.json", dumps);
    const char *to = scratch_path("d.collapsed");
    struct verb_result result = run_verb("convert", path, "-o", to, NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_OK);
    const char *text = scratch_read(to, NULL);
    CU_ASSERT(text != NULL && has_text(text, "main") && has_text(text, " 120"));
    result = run_verb("convert", path, "-o", to, "--at=gc:1", NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_OK);
    text = scratch_read(to, NULL);
    CU_ASSERT(text != NULL && has_text(text, " 72"));
    result = run_verb("convert", path, "-o", to, "--at=gc:3", NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_NOT_FOUND);
    CU_ASSERT(has_text(result.err, "no such dump"));
    result = run_verb("convert", path, "-o", scratch_path("d.step"), NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_INVALID);
    CU_ASSERT(has_text(result.err, "heap dumps become"));
}

static void test_damaged_dumps(void)
{
    const char *path = scratch_put("e.memory-infra.json", dumps, sizeof dumps - 40);
    const char *to = scratch_path("e.collapsed");
    struct verb_result result = run_verb("convert", path, "-o", to, NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_CORRUPT);
    CU_ASSERT(has_text(result.err, "e.memory-infra.json"));
    const char *text = scratch_read(to, NULL); /* the dump that is whole */
    CU_ASSERT(text != NULL && has_text(text, " 72"));
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("convert", scratch_begin, scratch_end);
    CU_add_test(suite, "round trips", test_round_trips);
    CU_add_test(suite, "round trips of heap traces", test_allocs_round_trips);
    CU_add_test(suite, "slices", test_slice);
    CU_add_test(suite, "JSON", test_json_answer);
    CU_add_test(suite, "standard output", test_standard_output);
    CU_add_test(suite, "what is refused", test_refused);
    CU_add_test(suite, "damaged inputs", test_damaged);
    CU_add_test(suite, "limit of the output", test_limit);
    CU_add_test(suite, "heaps", test_heap);
    CU_add_test(suite, "calls", test_calls);
    CU_add_test(suite, "dumps", test_dumps);
    CU_add_test(suite, "damaged dumps", test_damaged_dumps);
}
