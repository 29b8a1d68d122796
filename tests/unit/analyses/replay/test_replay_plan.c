/* SPDX-License-Identifier: Apache-2.0 */
/* Records of a heap trace become operations on slots, by thread; what a program cannot do is
 * counted or refused (docs/replay.md). */
#include <CUnit/Basic.h>
#include <stdlib.h>
#include <string.h>

#include "analyses/replay/replay_plan.h"
#include "tests/unit/run_suite.h"

static struct replay_piece *piece;
static struct replay_plan *plan;

static struct replay_piece *give_piece(void *user)
{
    (void) user;
    return piece;
}

static void end_piece(void *user)
{
    ++*(unsigned *) user;
}

static unsigned pieces;

static void begin_plan(bool is_threaded, bool refuses)
{
    const struct replay_plan_options options = {.is_threaded = is_threaded,
                                                .refuses = refuses,
                                                .begin_piece = give_piece,
                                                .end_piece = end_piece,
                                                .user = &pieces};
    pieces = 0;
    piece = calloc(1, REPLAY_PIECE_BYTES);
    plan = replay_plan_create(&options);
    CU_ASSERT_FATAL(piece != NULL && plan != NULL);
}

static enum step_status put_record(enum hatf_tag tag, uint64_t thread, uint64_t address,
                                   uint64_t size, uint64_t new_address, const char *attributes)
{
    static struct step_error error;
    const struct hatf_record record = {.tag = tag,
                                       .thread = thread,
                                       .address = address,
                                       .size = size,
                                       .new_address = new_address,
                                       .attributes = step_text(attributes)};
    return replay_plan_put(plan, &record, &error);
}

static void alloc_block(uint64_t thread, uint64_t address, uint64_t size)
{
    CU_ASSERT_EQUAL(put_record(HATF_ALLOC, thread, address, size, 0, ""), STEP_STATUS_OK);
}

static void free_block(uint64_t thread, uint64_t address)
{
    CU_ASSERT_EQUAL(put_record(HATF_FREE, thread, address, 0, 0, ""), STEP_STATUS_OK);
}

static void finish_plan(uint32_t sections)
{
    struct step_error error;
    CU_ASSERT_EQUAL(replay_plan_finish(plan, &error), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(pieces, 1);
    CU_ASSERT_EQUAL_FATAL(piece->section_count, sections);
}

static void end_plan(void)
{
    replay_plan_destroy(plan);
    free(piece);
}

static void expect_ops(uint32_t section, const struct replay_op *wanted, uint32_t count)
{
    const struct replay_section *found = &piece->sections[section];
    CU_ASSERT_EQUAL(found->thread, section);
    CU_ASSERT_EQUAL_FATAL(found->count, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct replay_op *op = &replay_piece_ops(piece)[found->first + i];
        CU_ASSERT_EQUAL(op->size_kind, wanted[i].size_kind);
        CU_ASSERT_EQUAL(op->slot, wanted[i].slot);
        CU_ASSERT_EQUAL(op->extra, wanted[i].extra);
    }
}

/* A thread that frees another's object waits until that has done its first operation. */
static void test_threads(void)
{
    begin_plan(true, false);
    alloc_block(7, 1000, 16);
    alloc_block(9, 2000, 32);
    free_block(9, 1000);
    alloc_block(9, 3000, 8); /* in the slot that it freed */
    finish_plan(2);
    const struct replay_op first[] = {replay_op_make(REPLAY_MALLOC, 16, 0, 0)};
    const struct replay_op second[] = {
        replay_op_make(REPLAY_MALLOC, 32, 1, 0), replay_op_make(REPLAY_WAIT, 1, 0, 0),
        replay_op_make(REPLAY_FREE, 0, 0, 0), replay_op_make(REPLAY_MALLOC, 8, 0, 0)};
    expect_ops(0, first, 1);
    expect_ops(1, second, 4);
    CU_ASSERT_EQUAL(plan->counts.operations, 4); /* a wait is none */
    CU_ASSERT_EQUAL(plan->counts.peak_live_bytes, 48);
    CU_ASSERT_EQUAL(plan->counts.final_live_bytes, 40);
    CU_ASSERT_EQUAL(plan->counts.peak_objects, 2);
    CU_ASSERT_EQUAL(plan->counts.slots, 2);
    end_plan();
}

/* The records that a realloc made itself are part of it. */
static void test_realloc(void)
{
    begin_plan(false, false);
    alloc_block(1, 1000, 16);
    CU_ASSERT_EQUAL(put_record(HATF_REALLOC_ALLOC_FREE, 1, 1000, 64, 5000, ""), STEP_STATUS_OK);
    free_block(1, 1000);
    alloc_block(1, 5000, 64);
    free_block(1, 5000);
    finish_plan(1);
    const struct replay_op wanted[] = {replay_op_make(REPLAY_MALLOC, 16, 0, 0),
                                       replay_op_make(REPLAY_REALLOC, 64, 0, 0),
                                       replay_op_make(REPLAY_FREE, 0, 0, 0)};
    expect_ops(0, wanted, 3);
    CU_ASSERT_EQUAL(plan->counts.final_live_bytes, 0);
    for (unsigned fault = 0; fault < REPLAY_FAULT_COUNT; fault++)
        CU_ASSERT_EQUAL(plan->counts.faults[fault], 0);
    end_plan();
}

/* Which function was called is in the attributes; no alignment is that is no power of two. */
static void test_functions(void)
{
    static const char *const attributes[] = {"calloc", "align=64", "align=48", "align=4", ""};
    static const uint32_t extras[] = {REPLAY_AS_CALLOC, REPLAY_ALIGNED + 6, REPLAY_AS_MALLOC,
                                      REPLAY_AS_MALLOC, REPLAY_AS_MALLOC};
    struct replay_op wanted[5];
    begin_plan(false, false);
    for (uint32_t i = 0; i < 5; i++) {
        CU_ASSERT_EQUAL(put_record(HATF_ALLOC, 1, 1000 * (i + 1), 8, 0, attributes[i]),
                        STEP_STATUS_OK);
        wanted[i] = replay_op_make(REPLAY_MALLOC, 8, i, extras[i]);
    }
    finish_plan(1);
    expect_ops(0, wanted, 5);
    end_plan();
}

/* Faults are skipped, and counted by their kinds. */
static void test_faults(void)
{
    begin_plan(false, false);
    alloc_block(1, 1000, 16);
    alloc_block(1, 1008, 16); /* over the first */
    free_block(1, 1000);
    free_block(1, 1000);
    free_block(1, 9000);
    CU_ASSERT_EQUAL(put_record(HATF_REALLOC_NO_ALLOC, 1, 7000, 64, 7000, ""), STEP_STATUS_OK);
    finish_plan(1);
    CU_ASSERT_EQUAL(plan->counts.faults[REPLAY_OVERLAP], 1);
    CU_ASSERT_EQUAL(plan->counts.faults[REPLAY_DOUBLE_FREE], 1);
    CU_ASSERT_EQUAL(plan->counts.faults[REPLAY_UNKNOWN_FREE], 1);
    CU_ASSERT_EQUAL(plan->counts.faults[REPLAY_UNKNOWN_REALLOC], 1);
    CU_ASSERT_EQUAL(plan->counts.operations, 2);
    CU_ASSERT_EQUAL(plan->counts.records, 6);
    end_plan();
}

static void test_refused(void)
{
    struct step_error error;
    const struct hatf_record second = {.tag = HATF_FREE, .thread = 1, .address = 1000};
    begin_plan(false, true);
    alloc_block(1, 1000, 16);
    free_block(1, 1000);
    CU_ASSERT_EQUAL(replay_plan_put(plan, &second, &error), STEP_STATUS_CORRUPT);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "record 3: address 1000 is freed twice"));
    end_plan();
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("plans of replays", NULL, NULL);
    CU_add_test(suite, "threads", test_threads);
    CU_add_test(suite, "realloc", test_realloc);
    CU_add_test(suite, "functions", test_functions);
    CU_add_test(suite, "faults", test_faults);
    CU_add_test(suite, "refused", test_refused);
}
