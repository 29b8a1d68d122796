/* SPDX-License-Identifier: Apache-2.0 */
/* The order of leaks, and their growth: steady ones, steps, caches, objects without a stack. */
#include <CUnit/Basic.h>
#include <string.h>

#include "analyses/leaks/leak_rows.h"
#include "tests/unit/run_suite.h"

enum { NO_STACK, STEADY, BIG, CACHE, SITES };
#define TURNS UINT64_C(20)

struct program {
    struct event_source source;
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

static void begin(struct program *program, uint64_t sample_interval_bytes)
{
    trace_names_init(&program->source.names);
    program->number = 0;
    for (uint32_t id = 1; id < SITES; id++) {
        struct trace_frame *frame = id_table_get(&program->source.names.frames, id);
        CU_ASSERT_PTR_NOT_NULL_FATAL(frame);
        *frame = (struct trace_frame){.method_id = id, .known = true};
    }
    CU_ASSERT_FATAL(leak_tracker_init(&program->tracker, &program->source, false, NULL));
    static struct sampling sampling;
    if (sample_interval_bytes != 0)
        sample_weights_init(&program->tracker.heap.samples.weights, sample_interval_bytes,
                            &sampling);
}

/* Each turn ends in a collection.  The cache replaces its entry each time. */
static void run_program(struct program *program, uint64_t sample_interval_bytes)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    begin(program, sample_interval_bytes);
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
    CU_ASSERT_EQUAL_FATAL(heap_tracker_finish(&program->tracker.heap, &error), STEP_STATUS_OK);
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
    run_program(&program, 0);
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
    trace_names_reset(&program.source.names);
}

/* With an interval of a byte nearly each object is surely sampled: estimates are the numbers. */
static void test_sure_samples(void)
{
    static struct program program;
    struct suppressions none = {.count = 0};
    struct leak_limits limits = {.survived = 0};
    struct leak_rows rows;
    run_program(&program, 1);
    CU_ASSERT_FATAL(leak_rows_make(&program.tracker, &limits, HEAP_BY_SITE, &none, &rows));
    CU_ASSERT_EQUAL_FATAL(rows.count, SITES);
    const struct leak_row *steady = &rows.rows[0], *no_stack = &rows.rows[SITES - 1];
    CU_ASSERT_EQUAL(site_of(&program, steady), STEADY);
    CU_ASSERT_DOUBLE_EQUAL(steady->slope, 10, 1e-2);
    CU_ASSERT_TRUE(steady->growth.low < steady->slope && steady->slope < steady->growth.high);
    CU_ASSERT_DOUBLE_EQUAL(steady->growth.high - steady->growth.low, 0, 0.1);
    CU_ASSERT_EQUAL(steady->old.objects, TURNS);
    CU_ASSERT_EQUAL(steady->old_samples.samples, TURNS);
    CU_ASSERT_DOUBLE_EQUAL(no_stack->slope, 1000, 1e-6);
    for (size_t i = 1; i < SITES - 1; i++)
        CU_ASSERT_EQUAL(rows.rows[i].rank, 0);
    leak_rows_reset(&rows);
    leak_tracker_reset(&program.tracker);
    trace_names_reset(&program.source.names);
}

/* Each object is a sample that stands for many: a cache whose entries are replaced has no growth
 * beyond noise. */
static void test_few_samples(void)
{
    static struct program program;
    struct suppressions none = {.count = 0};
    struct leak_limits limits = {.survived = 0};
    struct leak_rows rows;
    run_program(&program, 100000);
    CU_ASSERT_FATAL(leak_rows_make(&program.tracker, &limits, HEAP_BY_SITE, &none, &rows));
    for (size_t i = 0; i < rows.count; i++) {
        const struct leak_row *row = &rows.rows[i];
        CU_ASSERT_TRUE(row->growth.low <= row->growth.value);
        CU_ASSERT_TRUE(row->growth.value <= row->growth.high);
        if (site_of(&program, row) == CACHE)
            CU_ASSERT_TRUE(estimate_contains(row->growth, 0));
        if (site_of(&program, row) != STEADY && row->key.site != 0)
            CU_ASSERT_EQUAL(row->rank, 0);
    }
    leak_rows_reset(&rows);
    leak_tracker_reset(&program.tracker);
    trace_names_reset(&program.source.names);
}

/* A cache is filled at one site and its entries are replaced at another, one a turn. */
static void run_cache(struct program *program, uint64_t sample_interval_bytes)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    begin(program, sample_interval_bytes);
    for (uint64_t i = 0; i < TURNS; i++)
        make(program, BIG, 50, 1000000);
    for (uint64_t turn = 1; turn <= TURNS; turn++) {
        make(program, CACHE, 50, turn * 1000000 + 100000);
        drop(program, turn, turn * 1000000 + 500000);
    }
    CU_ASSERT_EQUAL_FATAL(heap_tracker_finish(&program->tracker.heap, &error), STEP_STATUS_OK);
}

/* The row of a class has the objects of all its sites, also of those of which nothing survived. */
static void test_other_sites(void)
{
    static struct program program;
    struct suppressions none = {.count = 0};
    struct leak_limits limits = {.survived = 0};
    struct leak_rows rows;
    for (uint64_t interval_bytes = 0; interval_bytes < 2; interval_bytes++) {
        run_cache(&program, interval_bytes);
        CU_ASSERT_FATAL(leak_rows_make(&program.tracker, &limits, HEAP_BY_CLASS, &none, &rows));
        CU_ASSERT_EQUAL_FATAL(rows.count, 1);
        CU_ASSERT_DOUBLE_EQUAL(rows.rows[0].slope, 0, 1e-6);
        for (size_t i = 0; i < program.tracker.sample_count; i++)
            CU_ASSERT_EQUAL(rows.rows[0].series[i], TURNS * 50);
        leak_rows_reset(&rows);
        CU_ASSERT_FATAL(leak_rows_make(&program.tracker, &limits, HEAP_BY_SITE, &none, &rows));
        CU_ASSERT_EQUAL_FATAL(rows.count, 1);
        CU_ASSERT_EQUAL(site_of(&program, &rows.rows[0]), CACHE);
        CU_ASSERT_DOUBLE_EQUAL(rows.rows[0].slope, 50, 1e-6);
        leak_rows_reset(&rows);
        leak_tracker_reset(&program.tracker);
        trace_names_reset(&program.source.names);
    }
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("leaks", NULL, NULL);
    CU_add_test(suite, "order", test_order);
    CU_add_test(suite, "sure samples", test_sure_samples);
    CU_add_test(suite, "few samples", test_few_samples);
    CU_add_test(suite, "other sites", test_other_sites);
}
