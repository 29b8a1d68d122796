/* SPDX-License-Identifier: Apache-2.0 */
/* Totals of classes, with samples in any order. */
#include <CUnit/Basic.h>
#include <stdlib.h>
#include <string.h>

#include "converter/numbers/sample_doubts.h"
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
    for (size_t i = 0; i < 2 * SAMPLES; i++) {
        uint64_t number = order[i % SAMPLES], size = 64 + number % 7 * 100;
        uint64_t time = number * (INTERVALS + 1) * SECOND / SAMPLES;
        bool is_a = number % 3 != 0;
        if (i == SAMPLES)
            sample_totals_settle(totals);
        if (i < SAMPLES) {
            CU_ASSERT_TRUE(sample_totals_add_sample(totals, name_of(is_a ? "a" : "b"), 0,
                                                    is_a ? 1 : 2, time, size,
                                                    sampling.interval_bytes));
        } else
            sample_totals_count_sample(totals, name_of(is_a ? "a" : "b"), time, size,
                                       sampling.interval_bytes, false);
    }
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
        CU_ASSERT_DOUBLE_EQUAL(sample_totals_weight(one, name, time, 164, 9),
                               sample_totals_weight(other, name, time, 164, 9), 1e-9);
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
                continue;
            }
            sum += sample_totals_weight(&totals, name_of("[a"), time, size, chance);
            sample_totals_count_sample(&totals, name_of("[a"), time, size, sampling.interval_bytes,
                                       false);
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
                                                        round * SECOND + 1 + k, size, chance);
            sample_totals_count_sample(&totals, name_of(is_a ? "a" : "[b"), round * SECOND + 1 + k,
                                       size, sampling.interval_bytes, false);
        }
        if (pass == 0)
            sample_totals_settle(&totals);
        shared.scaled = totals.scale - 1;
    }
    CU_ASSERT_DOUBLE_EQUAL(sum, ROUNDS * (double) counted, 1e-3);
    shared.totals = &totals;
    shared.shared = sample_totals_shared(&totals);
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
    for (uint64_t k = 0; k < ROUNDS * EACH; k++)
        sample_totals_count_sample(&totals, name_of("a"), k / EACH * SECOND + 1 + k, 100,
                                   sampling.interval_bytes, false);
    CU_ASSERT_PTR_NULL(sample_totals_shared(&totals));
    double scale = (ROUNDS - 1) * (double) counted /
                   ((ROUNDS - 1) * EACH * 100 * sample_weight(100, sampling.interval_bytes));
    CU_ASSERT_DOUBLE_EQUAL(
        sample_totals_weight(&totals, name_of("a"), lost * SECOND + 1 + lost * EACH, 100, 9),
        9 * scale, 1e-6);
    CU_ASSERT_EQUAL(totals.all.rest_of_bytes.samples, EACH);
    CU_ASSERT_DOUBLE_EQUAL(totals.all.bytes, (ROUNDS - 1) * (double) counted, 1e-3);
    sample_totals_reset(&totals);
}

/* A class of small and of large arrays: of each size, so many in an interval, and samples of them,
 * evenly. */
struct mixture {
    uint64_t size, objects, samples;
};

enum { MIXTURE_ROUNDS = 20 };

/* Fills in the totals, with so many objects more than there are, and returns what the samples stand
 * for: the objects of each size, and of both the bytes. */
static double fill_mixture(struct sample_totals *totals, const struct mixture sizes[2],
                           uint64_t more, double objects[2])
{
    double bytes = 0;
    for (uint64_t i = 0; i < MIXTURE_ROUNDS; i++) {
        uint64_t number = 0, sum = 0;
        for (size_t k = 0; k < 2; k++) {
            number += sizes[k].objects;
            sum += sizes[k].objects * sizes[k].size;
        }
        CU_ASSERT_TRUE(sample_totals_add_class(totals, name_of("[a"), 0, 1, number + more, sum));
        CU_ASSERT_TRUE(sample_totals_end(totals, (i + 1) * SECOND, TOTALS_OF_CLASSES, sum));
    }
    objects[0] = objects[1] = 0;
    for (unsigned pass = 0; pass < 2; pass++) {
        for (uint64_t i = 0; i < MIXTURE_ROUNDS * 2; i++) {
            const struct mixture *of = &sizes[i % 2];
            uint64_t time = i / 2 * SECOND + SECOND / 2;
            for (uint64_t k = 0; k < of->samples; k++) {
                if (pass == 0) {
                    CU_ASSERT_TRUE(sample_totals_add_sample(totals, name_of("[a"), 0, 1, time,
                                                            of->size, sampling.interval_bytes));
                    continue;
                }
                double weight =
                    sample_totals_weight(totals, name_of("[a"), time, of->size,
                                         sample_weight(of->size, sampling.interval_bytes));
                CU_ASSERT_TRUE(weight >= 1 && weight < 1000);
                objects[i % 2] += weight;
                bytes += weight * (double) of->size;
                sample_totals_count_sample(totals, name_of("[a"), time, of->size,
                                           sampling.interval_bytes, false);
            }
        }
        if (pass == 0)
            sample_totals_settle(totals);
    }
    return bytes;
}

/* Small arrays have twice as many samples as by chance: with the number of objects, each size gets
 * its own. */
static void test_two_sizes(void)
{
    const struct mixture sizes[2] = {{24, 1024, 12}, {8192, 20, 17}};
    const double all = MIXTURE_ROUNDS * (1024 * 24 + 20 * 8192);
    struct sample_totals totals = {.sampling = &sampling};
    double objects[2];
    CU_ASSERT_DOUBLE_EQUAL(fill_mixture(&totals, sizes, 0, objects), all, 1e-3);
    CU_ASSERT_DOUBLE_EQUAL(objects[0], MIXTURE_ROUNDS * 1024, 1e-3);
    CU_ASSERT_DOUBLE_EQUAL(objects[1], MIXTURE_ROUNDS * 20, 1e-3);
    const struct sample_known *known = sample_totals_of(&totals, name_of("[a"));
    CU_ASSERT_DOUBLE_EQUAL(known->all.bytes, all, 1e-3);
    CU_ASSERT_DOUBLE_EQUAL(known->all.objects, known->objects, 1e-3);

    sample_totals_reset(&totals);
}

/* More objects than the samples can stand for: none stands for less than itself, and the bytes
 * still are right.  If their mean is below all sizes that were sampled, and with few samples, these
 * are left as they are by the bytes. */
static void test_unseen_sizes(void)
{
    const struct mixture sizes[2] = {{1024, 40, 10}, {8192, 20, 17}};
    const double all = MIXTURE_ROUNDS * (1024 * 40 + 20 * 8192);
    struct sample_totals totals = {.sampling = &sampling}, few = {.sampling = &sampling};
    double objects[2], samples[2], beyond[2];
    for (size_t k = 0; k < 2; k++) {
        samples[k] = MIXTURE_ROUNDS * (double) sizes[k].samples;
        beyond[k] = samples[k] * (sample_weight(sizes[k].size, sampling.interval_bytes) - 1);
    }
    CU_ASSERT_DOUBLE_EQUAL(fill_mixture(&totals, sizes, 60, objects), all, 1e-3);
    CU_ASSERT_TRUE(objects[0] > samples[0] + 1.3 * beyond[0]);
    CU_ASSERT_TRUE(objects[0] < MIXTURE_ROUNDS * 100);
    CU_ASSERT_DOUBLE_EQUAL(objects[1], samples[1], 1e-6);
    sample_totals_reset(&totals);

    totals = (struct sample_totals){.sampling = &sampling};
    CU_ASSERT_DOUBLE_EQUAL(fill_mixture(&totals, sizes, 100000, objects), all, 1e-3);
    CU_ASSERT_DOUBLE_EQUAL((objects[0] - samples[0]) / beyond[0],
                           (objects[1] - samples[1]) / beyond[1], 1e-9);
    sample_totals_reset(&totals);

    CU_ASSERT_TRUE(sample_totals_add_class(&few, name_of("[a"), 0, 1, 1000, 40000));
    CU_ASSERT_TRUE(sample_totals_end(&few, SECOND, TOTALS_OF_CLASSES, 40000));
    for (uint64_t i = 0; i < TOTALS_SAMPLES_LEAST - 1; i++)
        CU_ASSERT_TRUE(sample_totals_add_sample(&few, name_of("[a"), 0, 1, i, i == 0 ? 24 : 4000,
                                                sampling.interval_bytes));
    sample_totals_settle(&few);
    CU_ASSERT_DOUBLE_EQUAL(sample_totals_weight(&few, name_of("[a"), 1, 24, 2),
                           sample_totals_weight(&few, name_of("[a"), 1, 4000, 2), 1e-12);
    sample_totals_reset(&few);
}

static void test_after_large(void)
{
    struct sample_doubts doubts = {.samples = NULL};
    static const struct doubt_sample samples[] = {{50, 24, 1},   {10, 24, 1},   {20, 1400, 1},
                                                  {30, 1399, 1}, {40, 5000, 2}, {20, 24, 1},
                                                  {30, 24, 1},   {40, 24, 1}};
    CU_ASSERT_FALSE(sample_doubts_has(&doubts, 1, 50));
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++)
        CU_ASSERT_TRUE(sample_doubts_add(&doubts, samples[i].thread, samples[i].time_ns,
                                         samples[i].size_bytes));
    sample_doubts_sort(&doubts);
    CU_ASSERT_FALSE(sample_doubts_has(&doubts, 1, 10)); /* the first one */
    CU_ASSERT_FALSE(sample_doubts_has(&doubts, 1, 20));
    CU_ASSERT_TRUE(sample_doubts_has(&doubts, 1, 30));
    CU_ASSERT_FALSE(sample_doubts_has(&doubts, 1, 40));
    CU_ASSERT_FALSE(sample_doubts_has(&doubts, 1, 50)); /* the large one is another thread's */
    CU_ASSERT_FALSE(sample_doubts_has(&doubts, 2, 40));
    CU_ASSERT_TRUE(sample_doubts_has(&doubts, 2, 41));
    CU_ASSERT_FALSE(sample_doubts_has(&doubts, 3, 41));
    sample_doubts_reset(&doubts);
}

/* A class at two sites: one has 8 samples too many, all doubtful; its range goes down by these, and
 * that of the other up. */
static void test_needless_samples(void)
{
    enum { AT_ONE = 16, AT_OTHER = 32, NEEDLESS = 8 };
    struct sampling biased = {.interval_bytes = sampling.interval_bytes, .is_biased = true};
    for (unsigned pass = 0; pass < 2; pass++) {
        struct sample_totals totals = {.sampling = &biased};
        double chance = sample_weight(16, sampling.interval_bytes);
        double objects = (AT_ONE + AT_OTHER - NEEDLESS) * chance;
        biased.is_biased = pass == 1;
        CU_ASSERT_TRUE(sample_totals_add_class(&totals, name_of("a"), 0, 1, (uint64_t) objects,
                                               (uint64_t) objects * 16));
        CU_ASSERT_TRUE(
            sample_totals_end(&totals, SECOND, TOTALS_OF_CLASSES, (uint64_t) objects * 16));
        for (uint64_t i = 0; i < AT_ONE + AT_OTHER; i++)
            CU_ASSERT_TRUE(sample_totals_add_sample(&totals, name_of("a"), 0, 1, i, 16,
                                                    sampling.interval_bytes));
        for (uint64_t i = 0; i < NEEDLESS; i++)
            sample_totals_doubt_sample(&totals, name_of("a"), i, 16, sampling.interval_bytes);
        sample_totals_settle(&totals);
        biased.totals = &totals;
        struct sample_sums one = {.samples = 0}, other = {.samples = 0};
        for (uint64_t i = 0; i < AT_ONE + AT_OTHER; i++) {
            struct sample_sums *sums = i < AT_ONE ? &one : &other;
            double weight = sample_totals_weight(&totals, name_of("a"), i, 16, chance);
            struct sample_doubt doubt =
                sample_totals_doubt(&totals, name_of("a"), weight, chance, i < NEEDLESS);
            sample_totals_count_sample(&totals, name_of("a"), i, 16, sampling.interval_bytes,
                                       i < NEEDLESS);
            sample_sums_weigh(sums, 16, weight, &biased);
            sample_sums_doubt(sums, 16, doubt.fewer, doubt.more);
            CU_ASSERT_EQUAL(doubt.fewer > 0, pass == 1 && i < NEEDLESS);
            CU_ASSERT_EQUAL(doubt.more > 0, pass == 1);
        }
        struct estimate by_chance = estimate_bytes(&one), others = estimate_bytes(&other);
        one = sample_sums_of_class(one, name_of("a"));
        other = sample_sums_of_class(other, name_of("a"));
        struct estimate share = estimate_bytes(&one), rest = estimate_bytes(&other);
        double truth = NEEDLESS * chance * 16, fewer = pass * NEEDLESS * (chance - 1) * 16;
        CU_ASSERT_EQUAL(share.low < truth - fewer / 3, pass == 1);
        CU_ASSERT_EQUAL(by_chance.low < truth / 2, pass == 1);
        CU_ASSERT_TRUE(share.low >= AT_ONE * 16 && by_chance.low >= AT_ONE * 16);
        CU_ASSERT_TRUE(rest.high > AT_OTHER * chance * 16 * (pass == 1 ? 1.2 : 0));
        CU_ASSERT_TRUE(rest.high <= (objects - AT_ONE) * 16);
        CU_ASSERT_TRUE(others.high > AT_OTHER * chance * 16);
        sample_totals_reset(&totals);
    }
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("sample totals", NULL, NULL);
    CU_add_test(suite, "samples in any order", test_any_order);
    CU_add_test(suite, "samples reported after a collection", test_reported_late);
    CU_add_test(suite, "only the bytes of all classes are known", test_program_alone);
    CU_add_test(suite, "a class of two sizes", test_two_sizes);
    CU_add_test(suite, "samples after large ones", test_after_large);
    CU_add_test(suite, "needless samples", test_needless_samples);
    CU_add_test(suite, "a class with sizes that were not sampled", test_unseen_sizes);
}
