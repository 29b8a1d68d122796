/* SPDX-License-Identifier: Apache-2.0 */
/* `recover` and `pack`: the same records in a whole file, or in a smaller one. */
#include <CUnit/Basic.h>
#include <string.h>

#include "tests/unit/converter/commands/run_verb.h"
#include "tests/unit/run_suite.h"

static bool has_events(const char *path, enum step_status status)
{
    struct verb_result result = run_verb("dump", path, NULL);
    return result.status == status && strcmp(result.out, java_lines) == 0;
}

static const char *cut_trace(const char *name)
{
    size_t length;
    const char *bytes = scratch_read(java_trace("a.step"), &length);
    CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
    return scratch_put(name, bytes, length - 8);
}

/* In place: all events are there, and the damage is not any more; what it may have lost stays
 * said. */
static void test_recover_in_place(void)
{
    const char *path = cut_trace("cut.step");
    struct verb_result result = run_verb("recover", path, NULL);
    CU_ASSERT(has_text(result.err, "20 records"));
    CU_ASSERT(has_events(path, STEP_STATUS_CORRUPT));
    CU_ASSERT(has_text(run_verb("info", path, NULL).out, "state          whole\n"));
    result = run_verb("recover", path, NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_CORRUPT);
    CU_ASSERT(has_text(result.err, "nothing to repair"));
    CU_ASSERT(has_text(result.err, "what followed is missing"));
    path = java_trace("whole.step");
    result = run_verb("recover", path, NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_OK);
    CU_ASSERT(has_text(result.err, "nothing to repair"));
}

static void test_recover_to(void)
{
    const char *path = cut_trace("cut.step"), *to = scratch_path("mended.step");
    run_verb("recover", path, "-o", to, NULL);
    CU_ASSERT(has_events(to, STEP_STATUS_CORRUPT));
    CU_ASSERT(has_text(run_verb("info", path, NULL).out, "damaged in 1 place")); /* as it was */
}

/* A live file that cannot be read: neither file is touched. */
static void test_unread_live(void)
{
    const char *path = java_trace("b.step"), *live = scratch_put_text("b.step.live", "nonsense");
    struct verb_result result = run_verb("recover", path, NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_CORRUPT);
    CU_ASSERT(has_text(result.err, "both files are left as they are"));
    CU_ASSERT_STRING_EQUAL(scratch_read(live, NULL), "nonsense");
}

static void test_recover_refuses(void)
{
    CU_ASSERT_EQUAL(run_verb("recover", scratch_path("none.step"), NULL).status,
                    STEP_STATUS_NOT_FOUND);
    const char *path = scratch_put_text("text.step", "no trace at all");
    CU_ASSERT_EQUAL(run_verb("recover", path, NULL).status, STEP_STATUS_CORRUPT);
    CU_ASSERT_STRING_EQUAL(scratch_read(path, NULL), "no trace at all");
    CU_ASSERT_EQUAL(run_verb("recover", NULL).status, STEP_STATUS_INVALID);
}

static void test_pack(void)
{
    const char *path = java_trace("a.step"), *to = scratch_path("packed.step");
    struct verb_result result = run_verb("pack", path, "-o", to, NULL);
    size_t before = 0, after = 0;
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_OK);
    CU_ASSERT(has_text(result.err, "20 records"));
    CU_ASSERT(has_events(to, STEP_STATUS_OK));
    scratch_read(path, &before);
    scratch_read(to, &after);
    CU_ASSERT(after > 0 && after <= before);
    /* blocks of one record hold the same */
    result = run_verb("pack", path, "-o", to, "--block=1", "--together=1", NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_OK);
    CU_ASSERT(has_events(to, STEP_STATUS_OK));
}

static void test_pack_allocs(void)
{
    const char *path = scratch_put_text("a.hatf.txt", heap_lines), *to = scratch_path("h.step");
    struct verb_result result = run_verb("pack", path, "-o", to, NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_OK);
    CU_ASSERT(has_text(result.err, "9 records"));
    result = run_verb("check", to, NULL);
    CU_ASSERT_STRING_EQUAL(result.out, "9 records: consistent, 2 objects live at the end\n");
    const char *again = scratch_path("again.step"); /* a heap trace that is STEP already */
    CU_ASSERT_EQUAL(run_verb("pack", to, "-o", again, NULL).status, STEP_STATUS_OK);
    result = run_verb("check", again, NULL);
    CU_ASSERT_STRING_EQUAL(result.out, "9 records: consistent, 2 objects live at the end\n");
}

static void test_pack_refuses(void)
{
    const char *path = java_trace("a.step"), *to = scratch_path("no.step");
    static const char *const blocks[] = {"--block=0", "--block=16777217"};
    for (int i = 0; i < 2; i++) {
        struct verb_result result = run_verb("pack", path, "-o", to, blocks[i], NULL);
        CU_ASSERT_EQUAL(result.status, STEP_STATUS_INVALID);
        CU_ASSERT(has_text(result.err, "--block is 1 to 16777216"));
    }
    CU_ASSERT(has_text(run_verb("pack", path, NULL).err, "it needs -o OUT"));
    const char *lines = scratch_put_text("a.txt", java_lines);
    struct verb_result result = run_verb("pack", lines, "-o", to, NULL);
    CU_ASSERT_NOT_EQUAL(result.status, STEP_STATUS_OK);
    CU_ASSERT(has_text(result.err, "neither a STEP trace"));
    CU_ASSERT_PTR_NULL(scratch_read(to, NULL));
    result = run_verb("pack", scratch_put_text("text.step", "no trace"), "-o", to, NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_CORRUPT);
}

/* The damage of the input is said, and what is left of it is written. */
static void test_pack_damaged(void)
{
    const char *path = cut_trace("cut.step"), *to = scratch_path("of_cut.step");
    struct verb_result result = run_verb("pack", path, "-o", to, NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_CORRUPT);
    CU_ASSERT(has_events(to, STEP_STATUS_CORRUPT));
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("recover and pack", scratch_begin, scratch_end);
    CU_add_test(suite, "recover in place", test_recover_in_place);
    CU_add_test(suite, "recover to another file", test_recover_to);
    CU_add_test(suite, "a live file that cannot be read", test_unread_live);
    CU_add_test(suite, "what recover refuses", test_recover_refuses);
    CU_add_test(suite, "pack", test_pack);
    CU_add_test(suite, "pack of heap traces", test_pack_allocs);
    CU_add_test(suite, "what pack refuses", test_pack_refuses);
    CU_add_test(suite, "pack of a damaged trace", test_pack_damaged);
}
