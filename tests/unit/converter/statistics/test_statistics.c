/* SPDX-License-Identifier: Apache-2.0 */
/* What `stats` and `check` count with: sets of ids, lifetimes, the curve of what lives. */
#include <CUnit/Basic.h>
#include <math.h>
#include <stdlib.h>

#include "converter/containers/id_set.h"
#include "converter/containers/lifetimes.h"
#include "converter/trace/level_curve.h"
#include "tests/unit/run_suite.h"

static void test_id_set(void)
{
    struct id_set set = {.last = NULL};
    bool is_new;
    unsigned wrong = 0;
    CU_ASSERT_FALSE(id_set_has(&set, 1));
    /* 7 and 300,000 odd numbers first, then all: whole pages of several levels */
    static const uint64_t far[] = {0, UINT64_MAX, UINT64_C(1) << 40};
    for (size_t i = 0; i < 3; i++)
        wrong += !id_set_add(&set, far[i], &is_new) || !is_new;
    for (uint64_t id = 1; id < 600000; id += 2)
        wrong += !id_set_add(&set, id, &is_new) || !is_new;
    for (uint64_t id = 1; id < 600000; id++)
        wrong += !id_set_add(&set, id, &is_new) || is_new != (id % 2 == 0);
    for (uint64_t id = 0; id < 600000; id++)
        wrong += !id_set_has(&set, id);
    for (size_t i = 0; i < 3; i++)
        wrong += !id_set_has(&set, far[i]) || !id_set_add(&set, far[i], &is_new) || is_new;
    wrong += id_set_has(&set, 600000) || id_set_has(&set, UINT64_MAX - 1);
    CU_ASSERT_EQUAL(wrong, 0);
    id_set_reset(&set);
}

static int compare_numbers(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *) left, b = *(const uint64_t *) right;
    return (a > b) - (a < b);
}

/* Percentiles of skewed values of all sizes, against those of the sorted values. */
static void test_percentiles(void)
{
    enum { COUNT = 5000 };
    static uint64_t values[COUNT];
    static const double shares[] = {0.01, 0.25, 0.5, 0.9, 0.99, 0.999};
    struct lifetimes lifetimes = {0};
    uint64_t state = 1;
    for (size_t i = 0; i < COUNT; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
        values[i] = state >> 24 >> (i * 7 % 38);
        CU_ASSERT_FATAL(lifetimes_add(&lifetimes, values[i]));
    }
    qsort(values, COUNT, sizeof *values, compare_numbers);
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
        double exact = (double) values[(size_t) ceil(shares[i] * COUNT) - 1];
        CU_ASSERT_DOUBLE_EQUAL(lifetimes_percentile(&lifetimes, shares[i]), exact, exact * 0.016);
    }
    uint64_t sum = 0;
    for (unsigned bits = 0; bits <= 64; bits++)
        sum += lifetimes_of_bits(&lifetimes, bits);
    CU_ASSERT_EQUAL(sum, COUNT);
    lifetimes_reset(&lifetimes);
}

static void test_lifetimes(void)
{
    struct lifetimes lifetimes = {0};
    CU_ASSERT_EQUAL(lifetimes_mean(&lifetimes), 0);
    CU_ASSERT_EQUAL(lifetimes_percentile(&lifetimes, 0.5), 0);
    for (uint64_t i = 0; i < 1000; i++)
        CU_ASSERT(lifetimes_add(&lifetimes, i));
    CU_ASSERT(lifetimes_add(&lifetimes, UINT64_MAX));
    CU_ASSERT_EQUAL(lifetimes.count, 1001);
    CU_ASSERT_EQUAL(lifetimes.most, UINT64_MAX);
    CU_ASSERT_DOUBLE_EQUAL(lifetimes_percentile(&lifetimes, 0.5), 500, 8);
    CU_ASSERT_DOUBLE_EQUAL(lifetimes_percentile(&lifetimes, 0.9), 900, 15);
    CU_ASSERT(lifetimes_percentile(&lifetimes, 1.0) <= (double) UINT64_MAX);
    CU_ASSERT_EQUAL(lifetimes_of_bits(&lifetimes, 0), 1);
    CU_ASSERT_EQUAL(lifetimes_of_bits(&lifetimes, 1), 1);
    CU_ASSERT_EQUAL(lifetimes_of_bits(&lifetimes, 5), 16);
    CU_ASSERT_EQUAL(lifetimes_of_bits(&lifetimes, 6), 32);
    CU_ASSERT_EQUAL(lifetimes_of_bits(&lifetimes, 64), 1);
    lifetimes_reset(&lifetimes);
}

static void test_live_curve(void)
{
    struct level_curve *curve = calloc(1, sizeof *curve);
    CU_ASSERT_PTR_NOT_NULL_FATAL(curve);
    level_curve_init(curve);
    uint64_t most = 0;
    for (uint64_t i = 0; i < 100000; i++)
        level_curve_put(curve, i * 1000003, i % 1000, i % 10);
    for (size_t i = 0; i < curve->count; i++)
        most = curve->steps[i].most_bytes > most ? curve->steps[i].most_bytes : most;
    CU_ASSERT(curve->count > LIVE_CURVE_STEPS / 4 && curve->count <= LIVE_CURVE_STEPS);
    CU_ASSERT_EQUAL(most, 999);
    CU_ASSERT_EQUAL(curve->steps[curve->count - 1].last_objects, 9);
    CU_ASSERT(curve->step_end_ns > UINT64_C(99999) * 1000003);
    level_curve_put(curve, UINT64_MAX, 7, 7); /* the end of time */
    CU_ASSERT(curve->count <= LIVE_CURVE_STEPS);
    CU_ASSERT_EQUAL(curve->steps[curve->count - 1].last_bytes, 7);
    free(curve);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("statistics", NULL, NULL);
    CU_add_test(suite, "sets of ids", test_id_set);
    CU_add_test(suite, "lifetimes", test_lifetimes);
    CU_add_test(suite, "percentiles", test_percentiles);
    CU_add_test(suite, "curve", test_live_curve);
}
