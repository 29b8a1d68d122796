/* SPDX-License-Identifier: Apache-2.0 */
/* The order of leaks, and their growth: steady ones, steps, caches, objects without a stack. */
#include <CUnit/Basic.h>
#include <string.h>

#include "converter/numbers/leak_rows.h"
#include "tests/unit/run_suite.h"

enum { NO_STACK, STEADY, BIG, CACHE, SITES };
#define TURNS UINT64_C(20)

struct program {
    struct trace_names names;
    struct leak_tracker tracker;
    uint64_t number;
};

static void put(struct program *program, const struct trace_event *event)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    CU_ASSERT_EQUAL_FATAL(leak_tracker_put(&program->tracker, event, 1, &error), STEP_STATUS_OK);
}

static uint64_t make(struct program *program, uint32_t site, uint64_t size, uint64_t time_ns)
{
    const struct trace_event event = {.kind = EVENT_OBJECT_ALLOC,
                                      .time_ns = time_ns,
                                      .object = ++program->number,
                                      .size = size,
                                      .class_id = 1,
                                      .stack_id = site};
    put(program, &event);
    return event.object;
}

static void drop(struct program *program, uint64_t object, uint64_t time_ns)
{
    put(program,
        &(struct trace_event){.kind = EVENT_OBJECT_FREE, .time_ns = time_ns, .object = object});
}

/* Each turn ends in a collection.  The cache replaces its entry each time. */
static void run_program(struct program *program)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    trace_names_init(&program->names);
    program->number = 0;
    for (uint32_t id = 1; id < SITES; id++) {
        struct trace_frame *frame = id_table_get(&program->names.frames, id);
        CU_ASSERT_PTR_NOT_NULL_FATAL(frame);
        *frame = (struct trace_frame){.method_id = id, .known = true};
    }
    CU_ASSERT_FATAL(leak_tracker_init(&program->tracker, &program->names, false));
    for (uint64_t turn = 1; turn <= TURNS; turn++) {
        uint64_t time_ns = turn * 1000000, kept = program->number;
        make(program, NO_STACK, 1000, time_ns);
        make(program, STEADY, 10, time_ns);
        make(program, CACHE, 5000, time_ns);
        if (turn == TURNS - 5)
            make(program, BIG, 1 << 20, time_ns);
        if (turn > 1) /* the entry of the turn before */
            drop(program, turn == TURNS - 4 ? kept - 1 : kept, time_ns + 500000);
    }
    CU_ASSERT_EQUAL_FATAL(leak_tracker_finish(&program->tracker, &error), STEP_STATUS_OK);
}

static uint32_t site_of(const struct program *program, const struct leak_row *row)
{
    return program->tracker.heap.sites.items[row->key.site].method_id;
}

static void test_order(void)
{
    static struct program program;
    struct suppressions none = {.count = 0};
    struct leak_limits limits = {.survived = 0};
    struct leak_rows rows;
    run_program(&program);
    CU_ASSERT_FATAL(leak_rows_make(&program.tracker, &limits, HEAP_BY_SITE, &none, &rows));
    CU_ASSERT_EQUAL_FATAL(rows.count, SITES);
    CU_ASSERT_EQUAL(site_of(&program, &rows.rows[0]), STEADY);
    CU_ASSERT_DOUBLE_EQUAL(rows.rows[0].slope, 10, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(rows.rows[0].fit, 1, 1e-6);
    CU_ASSERT_EQUAL(rows.rows[SITES - 1].key.site, 0); /* though it grows most */
    CU_ASSERT_DOUBLE_EQUAL(rows.rows[SITES - 1].slope, 1000, 1e-6);
    for (size_t i = 1; i < SITES - 1; i++) {
        CU_ASSERT(rows.rows[i].slope <= 0);
        CU_ASSERT_EQUAL(rows.rows[i].rank, 0);
    }
    leak_rows_reset(&rows);
    leak_tracker_reset(&program.tracker);
    trace_names_reset(&program.names);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("leaks", NULL, NULL);
    CU_add_test(suite, "order", test_order);
}
