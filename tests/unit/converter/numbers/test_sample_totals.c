/* SPDX-License-Identifier: Apache-2.0 */
/* Totals of classes, with samples in any order. */
#include <CUnit/Basic.h>
#include <stdlib.h>
#include <string.h>

#include "converter/numbers/sample_totals.h"
#include "tests/unit/run_suite.h"

#define SECOND UINT64_C(1000000000)

enum { INTERVALS = 40, SAMPLES = 2000 };

static const struct sampling sampling = {.interval_bytes = 4096};

static struct step_bytes name_of(const char *text)
{
    return (struct step_bytes){(const uint8_t *) text, strlen(text)};
}

/* Interval i ends at second i + 1; every third one was not walked, and class b has no total in
 * every other one. */
static void fill(struct sample_totals *totals, const uint32_t *order)
{
    *totals = (struct sample_totals){.sampling = &sampling};
    for (uint64_t i = 0; i < INTERVALS; i++) {
        bool is_walked = i % 3 != 2;
        if (is_walked) {
            CU_ASSERT_TRUE(sample_totals_add_class(totals, name_of("a"), 0, 1, 1000, 64000));
            if (i % 2 == 0)
                CU_ASSERT_TRUE(sample_totals_add_class(totals, name_of("b"), 0, 2, 10, 8000 + i));
        }
        CU_ASSERT_TRUE(sample_totals_end(totals, (i + 1) * SECOND,
                                         is_walked ? TOTALS_OF_CLASSES : TOTALS_OF_PROGRAM, 72000));
    }
    for (size_t i = 0; i < SAMPLES; i++) {
        uint64_t number = order[i], size = 64 + number % 7 * 100;
        bool is_a = number % 3 != 0;
        CU_ASSERT_TRUE(sample_totals_add_sample(totals, name_of(is_a ? "a" : "b"), 0, is_a ? 1 : 2,
                                                number * (INTERVALS + 1) * SECOND / SAMPLES, size,
                                                sampling.interval_bytes));
    }
    sample_totals_settle(totals);
}

static void expect_equal(const struct sample_totals *one, const struct sample_totals *other,
                         struct step_bytes name)
{
    const struct sample_known *known = sample_totals_of(one, name),
                              *also = sample_totals_of(other, name);
    CU_ASSERT_PTR_NOT_NULL_FATAL(known);
    CU_ASSERT_PTR_NOT_NULL_FATAL(also);
    CU_ASSERT_EQUAL(known->all.samples, also->all.samples);
    CU_ASSERT_EQUAL(known->rest.samples, also->rest.samples);
    CU_ASSERT_DOUBLE_EQUAL(known->bytes, also->bytes, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(known->all.bytes, also->all.bytes, 1e-3);
    CU_ASSERT_DOUBLE_EQUAL(known->all.bytes_variance, also->all.bytes_variance, 1);
    for (uint64_t time = 0; time < (INTERVALS + 2) * SECOND; time += SECOND / 4)
        CU_ASSERT_DOUBLE_EQUAL(sample_totals_weight(one, name, time, 9),
                               sample_totals_weight(other, name, time, 9), 1e-9);
}

static void test_any_order(void)
{
    static uint32_t order[SAMPLES];
    struct sample_totals sorted, shuffled, reversed;
    for (uint32_t i = 0; i < SAMPLES; i++)
        order[i] = i;
    fill(&sorted, order);
    for (uint32_t i = 0; i < SAMPLES; i++)
        order[i] = SAMPLES - 1 - i;
    fill(&reversed, order);
    srand(7);
    for (uint32_t i = SAMPLES - 1; i > 0; i--) {
        uint32_t with = (uint32_t) rand() % (i + 1), kept = order[i];
        order[i] = order[with];
        order[with] = kept;
    }
    fill(&shuffled, order);
    expect_equal(&sorted, &shuffled, name_of("a"));
    expect_equal(&sorted, &shuffled, name_of("b"));
    expect_equal(&sorted, &reversed, name_of("a"));
    expect_equal(&sorted, &reversed, name_of("b"));
    /* the samples' bytes are the class's */
    const struct sample_known *known = sample_totals_of(&sorted, name_of("a"));
    CU_ASSERT_DOUBLE_EQUAL(known->bytes, 27 * 64000, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(known->all.bytes, known->bytes, 1);
    sample_totals_reset(&sorted);
    sample_totals_reset(&shuffled);
    sample_totals_reset(&reversed);
}

/* Large objects, nearly all of which are sampled; each tenth sample is reported after the
 * collection that ended its interval. */
static void test_reported_late(void)
{
    enum { OBJECTS = 5, ROUNDS = 24 };
    const uint64_t size = 20000;
    struct sample_totals totals = {.sampling = &sampling};
    double sum = 0, chance = sample_weight(size, sampling.interval_bytes);
    for (uint64_t i = 0; i < ROUNDS; i++) {
        CU_ASSERT_TRUE(
            sample_totals_add_class(&totals, name_of("[a"), 0, 1, OBJECTS, OBJECTS * size));
        CU_ASSERT_TRUE(
            sample_totals_end(&totals, (i + 1) * SECOND, TOTALS_OF_CLASSES, OBJECTS * size));
    }
    for (uint64_t pass = 0; pass < 2; pass++) {
        for (uint64_t i = 0; i < OBJECTS * ROUNDS; i++) {
            uint64_t time = i / OBJECTS * SECOND + SECOND / 2;
            if (i % 10 == 4 && i / OBJECTS + 1 < ROUNDS)
                time += SECOND;
            if (pass == 0) {
                CU_ASSERT_TRUE(sample_totals_add_sample(&totals, name_of("[a"), 0, 1, time, size,
                                                        sampling.interval_bytes));
            } else
                sum += sample_totals_weight(&totals, name_of("[a"), time, chance);
        }
        if (pass == 0)
            sample_totals_settle(&totals);
    }
    const struct sample_known *known = sample_totals_of(&totals, name_of("[a"));
    CU_ASSERT_DOUBLE_EQUAL(known->bytes, OBJECTS * ROUNDS * (double) size, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(known->all.bytes, known->bytes, 1e-3);
    CU_ASSERT_DOUBLE_EQUAL(sum, OBJECTS * ROUNDS, 1e-6);
    sample_totals_reset(&totals);
}

/* Half of the samples are of class a; nothing is known but the bytes of all. The samples' bytes are
 * these, and a class is a share. */
static void test_program_alone(void)
{
    enum { ROUNDS = 60, EACH = 12 };
    static struct sampling shared;
    struct sample_totals totals = {.sampling = &shared};
    const uint64_t counted = 55000, lost = 17;
    shared = sampling;
    for (uint64_t i = 0; i < ROUNDS; i++)
        CU_ASSERT_TRUE(sample_totals_end(&totals, (i + 1) * SECOND, TOTALS_OF_PROGRAM, counted));
    double sum = 0;
    for (unsigned pass = 0; pass < 2; pass++) {
        for (uint64_t k = 0; k < ROUNDS * EACH; k++) {
            bool is_a = k % 2 == 0;
            uint64_t round = k / EACH, size = 16 + k % 5 * 300;
            if (pass == 0) {
                CU_ASSERT_TRUE(sample_totals_add_sample(&totals, name_of(is_a ? "a" : "[b"), 0,
                                                        is_a ? 1 : 2, round * SECOND + 1 + k, size,
                                                        sampling.interval_bytes));
                continue;
            }
            double chance = sample_weight(size, sampling.interval_bytes);
            sum += (double) size * sample_totals_weight(&totals, name_of(is_a ? "a" : "[b"),
                                                        round * SECOND + 1 + k, chance);
        }
        if (pass == 0)
            sample_totals_settle(&totals);
    }
    CU_ASSERT_DOUBLE_EQUAL(sum, ROUNDS * (double) counted, 1e-3);
    shared.totals = &totals;
    shared.shared = sample_totals_shared(&totals);
    shared.scaled = totals.scale - 1;
    CU_ASSERT_PTR_NOT_NULL_FATAL(shared.shared);
    CU_ASSERT_DOUBLE_EQUAL(shared.shared->bytes, ROUNDS * (double) counted, 1e-3);
    struct sample_sums of_a = {.samples = 1, .sampling = &shared}; /* a row of the class */
    of_a = sample_sums_of_class(of_a, name_of("a"));
    sample_sums_make_whole(&of_a);
    struct estimate share = estimate_bytes(&of_a);
    CU_ASSERT_TRUE(share.low > 0.3 * ROUNDS * (double) counted);
    CU_ASSERT_TRUE(share.low < share.value && share.value < share.high);
    CU_ASSERT_TRUE(share.high < ROUNDS * (double) counted);
    sample_totals_reset(&totals);

    /* a lost record: nothing is a share any more, and the samples there stand for what chance says
     */
    totals = (struct sample_totals){.sampling = &shared};
    for (uint64_t i = 0; i < ROUNDS; i++)
        CU_ASSERT_TRUE(sample_totals_end(
            &totals, (i + 1) * SECOND, i == lost ? TOTALS_OF_NOTHING : TOTALS_OF_PROGRAM, counted));
    for (uint64_t k = 0; k < ROUNDS * EACH; k++)
        CU_ASSERT_TRUE(sample_totals_add_sample(
            &totals, name_of("a"), 0, 1, k / EACH * SECOND + 1 + k, 100, sampling.interval_bytes));
    sample_totals_settle(&totals);
    CU_ASSERT_PTR_NULL(sample_totals_shared(&totals));
    double scale = (ROUNDS - 1) * (double) counted /
                   ((ROUNDS - 1) * EACH * 100 * sample_weight(100, sampling.interval_bytes));
    CU_ASSERT_DOUBLE_EQUAL(
        sample_totals_weight(&totals, name_of("a"), lost * SECOND + 1 + lost * EACH, 9), 9 * scale,
        1e-6);
    CU_ASSERT_EQUAL(totals.all.rest_of_bytes.samples, EACH);
    CU_ASSERT_DOUBLE_EQUAL(totals.all.bytes, (ROUNDS - 1) * (double) counted, 1e-3);
    sample_totals_reset(&totals);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("sample totals", NULL, NULL);
    CU_add_test(suite, "samples in any order", test_any_order);
    CU_add_test(suite, "samples reported after a collection", test_reported_late);
    CU_add_test(suite, "only the bytes of all classes are known", test_program_alone);
}
