/* SPDX-License-Identifier: Apache-2.0 */
/* The counts behind the nominal statistics, and the dispersion of lifetimes (docs/nominal.md), of
 * programs of a few objects. */
#include <CUnit/Basic.h>

#include "analyses/nominal/nominal.h"
#include "tests/unit/run_suite.h"

static struct nominal nominal;

static void begin_nominal(bool of_phases)
{
    const struct nominal_options options = {.phases = {.count = of_phases}};
    CU_ASSERT_TRUE_FATAL(nominal_init(&nominal, &options));
}

static void birth(uint64_t object, uint64_t size, unsigned flags)
{
    const struct trace_event event = {.kind = EVENT_OBJECT_ALLOC,
                                      .time_ns = object * 10,
                                      .object = object,
                                      .size = size,
                                      .flags = (uint8_t) flags};
    CU_ASSERT_EQUAL(nominal_put(&nominal, &event, 1, NULL), STEP_STATUS_OK);
}

static void death(uint64_t object)
{
    const struct trace_event event = {.kind = EVENT_OBJECT_FREE, .time_ns = 1000, .object = object};
    CU_ASSERT_EQUAL(nominal_put(&nominal, &event, 1, NULL), STEP_STATUS_OK);
}

/* What existed before the trace lives, but was not allocated. */
static void test_counts(void)
{
    begin_nominal(false);
    birth(1, 50, TRACE_EXISTING);
    birth(2, 100, 0);
    birth(3, 300, 0);
    death(2);
    birth(4, 100, 0);
    birth(5, NOMINAL_SIZES, 0);
    death(77);
    CU_ASSERT_EQUAL(nominal.objects, 4);
    CU_ASSERT_EQUAL(nominal.bytes, 500 + NOMINAL_SIZES);
    CU_ASSERT_EQUAL(nominal.sizes[100], 2);
    CU_ASSERT_EQUAL(nominal.sizes[300], 1);
    CU_ASSERT_EQUAL(nominal.sizes[50], 0);
    CU_ASSERT_EQUAL(nominal.larger.count, 1);
    CU_ASSERT_EQUAL(nominal.living, 450 + NOMINAL_SIZES);
    CU_ASSERT_EQUAL(nominal.peak, 450 + NOMINAL_SIZES);
    CU_ASSERT_EQUAL(nominal.unknown_frees, 1);
    CU_ASSERT_EQUAL(nominal.first_ns, 10);
    CU_ASSERT_EQUAL(nominal.last_ns, 1000);
    nominal_reset(&nominal);
}

/* Two objects of 100 bytes that lived for 300 and 100: half of the mean difference of two lifetimes
 * is 50, their mean is 200.  The third object, which is in no phase, is only the clock. */
static void test_two_lifetimes(void)
{
    struct dispersion_result result;
    begin_nominal(true);
    CU_ASSERT_FALSE(dispersion_compute(&nominal.dispersion, &result));
    birth(1, 100, TRACE_IN_PHASE);
    birth(2, 100, TRACE_IN_PHASE);
    death(2);
    birth(3, 100, 0);
    death(1);
    nominal_finish(&nominal);
    CU_ASSERT_EQUAL(nominal.objects, 2);
    CU_ASSERT_TRUE_FATAL(dispersion_compute(&nominal.dispersion, &result));
    CU_ASSERT_DOUBLE_EQUAL(result.least, 0.25, 1e-12);
    /* of 300, in the bucket from 296 to 303, a part may have had either end */
    CU_ASSERT_DOUBLE_EQUAL(result.most - result.least, 1e4 * 4 * 3 / 7 / 8e6, 1e-12);
    nominal_reset(&nominal);
}

/* What lives at the end may have lived as long as the other object: 0. */
static void test_bound(void)
{
    struct dispersion_result result;
    begin_nominal(false);
    birth(1, 100, 0);
    birth(2, 100, 0);
    death(1);
    nominal_finish(&nominal);
    CU_ASSERT_TRUE(nominal.dispersion.has_bounds);
    CU_ASSERT_TRUE_FATAL(dispersion_compute(&nominal.dispersion, &result));
    CU_ASSERT_DOUBLE_EQUAL(result.least, 0, 1e-12);
    nominal_reset(&nominal);
}

static void put_phase(const char *name, uint64_t end_ns, bool of_program, uint64_t depth)
{
    const struct trace_phase phase = {
        .name = step_text(name), .depth = depth, .of_program = of_program, .end_ns = end_ns};
    CU_ASSERT_EQUAL(nominal_put_phase(&nominal, &phase), STEP_STATUS_OK);
}

/* Iterations are the outermost phases `warmup` and `measure` of the program; the peaks are those
 * until the ends of the first and the tenth. */
static void test_iterations(void)
{
    begin_nominal(false);
    put_phase("measure", 5, false, 1);
    put_phase("measure", 6, true, 2);
    put_phase("setup", 7, true, 1);
    put_phase("measure", UINT64_MAX, true, 1);
    CU_ASSERT_EQUAL(nominal.iterations, 0);
    for (uint64_t i = 1; i <= 11; i++)
        put_phase(i < 11 ? "warmup" : "measure", i * 10, true, 1);
    CU_ASSERT_EQUAL(nominal.iterations, 11);
    CU_ASSERT_EQUAL(nominal.first_end_ns, 10);
    CU_ASSERT_EQUAL(nominal.tenth_end_ns, 100);
    for (uint64_t object = 1; object <= 11; object++)
        birth(object, 8, 0);
    CU_ASSERT_EQUAL(nominal.peak_first, 8);
    CU_ASSERT_EQUAL(nominal.peak_tenth, 80);
    CU_ASSERT_EQUAL(nominal.peak, 88);
    nominal_reset(&nominal);
}

static void add_frame(struct trace_names *names, uint32_t id, uint32_t parent, uint32_t method,
                      uint32_t line)
{
    struct trace_frame *frame = id_table_get(&names->frames, id);
    CU_ASSERT_PTR_NOT_NULL_FATAL(frame);
    *frame =
        (struct trace_frame){.parent = parent, .method_id = method, .line = line, .known = true};
}

/* A place of a caller counts once, whatever is called there; what the JVM calls has none. */
static void test_call_sites(void)
{
    struct trace_names names;
    trace_names_init(&names);
    struct trace_method *method = id_table_get(&names.methods, 9);
    CU_ASSERT_PTR_NOT_NULL_FATAL(method);
    *method = (struct trace_method){.name = step_text("<clinit>"), .known = true};
    add_frame(&names, 1, 0, 1, 5);
    add_frame(&names, 2, 1, 2, 7);
    add_frame(&names, 3, 1, 3, 8);
    add_frame(&names, 4, 2, 3, 8); /* called at line 7 */
    add_frame(&names, 5, 3, 9, 1); /* a class is initialised at line 8 */
    add_frame(&names, 6, 0, 1, 0);
    add_frame(&names, 7, 6, 2, 7); /* at an unknown line */
    begin_nominal(false);
    CU_ASSERT_TRUE(nominal_put_names(&nominal, &names));
    CU_ASSERT_EQUAL(nominal.call_sites, 2);
    nominal_reset(&nominal);
    trace_names_reset(&names);
}

static void test_too_large(void)
{
    struct step_error error;
    const struct trace_event event = {
        .kind = EVENT_OBJECT_ALLOC, .object = 1, .size = (UINT64_C(1) << 62) + 1};
    begin_nominal(false);
    nominal.path = "large.step";
    CU_ASSERT_EQUAL(nominal_put(&nominal, &event, 1, &error), STEP_STATUS_CORRUPT);
    nominal_reset(&nominal);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("nominal statistics", NULL, NULL);
    CU_add_test(suite, "counts", test_counts);
    CU_add_test(suite, "two lifetimes", test_two_lifetimes);
    CU_add_test(suite, "a bound", test_bound);
    CU_add_test(suite, "iterations", test_iterations);
    CU_add_test(suite, "call sites", test_call_sites);
    CU_add_test(suite, "too large", test_too_large);
}
