/* SPDX-License-Identifier: Apache-2.0 */
/* Weights, and intervals against tables and simulated samples. */
#include <CUnit/Basic.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "converter/files/sampled_trace.h"
#include "converter/numbers/sample_totals.h"
#include "tests/unit/run_suite.h"

#define INTERVAL 65536u

static void test_properties(void)
{
    static const char *const bad[] = {
        "", "0", "-1", " 1", "1k", "1073741825", "99999999999999999999"};
    CU_ASSERT_EQUAL(sampled_interval_bytes("sampled", "524288"), 524288);
    CU_ASSERT_EQUAL(sampled_interval_bytes("sampled", "1073741824"), 1 << 30);
    CU_ASSERT_EQUAL(sampled_interval_bytes("sampled", NULL), 0);
    CU_ASSERT_EQUAL(sampled_interval_bytes(NULL, "524288"), 0);
    CU_ASSERT_EQUAL(sampled_interval_bytes("jvmti", "524288"), 0);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CU_ASSERT_EQUAL(sampled_interval_bytes("sampled", bad[i]), 0);
}

static const struct sampling plain = {.interval_bytes = INTERVAL};

static void test_weights(void)
{
    /* 1 / (1 - exp(-x)) of x = 1, 2^-16, 16 */
    CU_ASSERT_DOUBLE_EQUAL(sample_weight(65536, INTERVAL), 1.5819767068693265, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(sample_weight(1, INTERVAL), 65536.5000012716, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(sample_weight(1 << 20, INTERVAL), 1.0000001125351908, 1e-12);
    CU_ASSERT_EQUAL(sample_weight(0, INTERVAL), 1);
    CU_ASSERT_EQUAL(sample_weight(UINT64_MAX, 1), 1);
}

/* Garwood's exact 95 % bounds of a Poisson mean, from a table of the chi-square distribution. */
static void test_bounds(void)
{
    static const double table[][3] = {{1, 0.0253, 5.5716},
                                      {5, 1.6235, 11.6683},
                                      {10, 4.7954, 18.3904},
                                      {50, 37.1109, 65.9189},
                                      {100, 81.3639, 121.6272}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        double count = table[i][0];
        struct estimate found = estimate_of(count, count, (uint64_t) count, 0, &plain);
        CU_ASSERT_DOUBLE_EQUAL(found.low, table[i][1], 0.02);
        CU_ASSERT_DOUBLE_EQUAL(found.high, table[i][2], 0.02);
    }
}

static void test_ends(void)
{
    struct sample_sums none = {.samples = 0}, sure = {.samples = 0};
    CU_ASSERT_EQUAL(estimate_objects(&none).value, 0);
    CU_ASSERT_TRUE(isinf(estimate_objects(&none).high));
    sample_sums_weigh(&sure, UINT64_C(1) << 30, sample_weight(UINT64_C(1) << 30, INTERVAL), &plain);
    CU_ASSERT(estimate_objects(&sure).high > 1); /* or else small ones were not seen */
    sure = sample_sums_of_class(sure, step_text("a/B"));
    CU_ASSERT_EQUAL(estimate_objects(&sure).low, 1);
    CU_ASSERT_EQUAL(estimate_objects(&sure).high, 1);
    CU_ASSERT_EQUAL(estimate_bytes(&sure).value, (double) (1 << 30));
    struct sample_sums rest = sample_sums_without(&sure, &sure);
    CU_ASSERT_EQUAL(rest.samples, 0);
    CU_ASSERT_EQUAL(rest.objects, 0);
}

static double uniform(void)
{
    return ((double) random() + 0.5) / ((double) RAND_MAX + 1);
}

/* As HotSpot does it: the object in which an exponentially distributed distance ends is sampled,
 * and the next distance begins after it. */
static struct sample_sums sample_run(const uint64_t *sizes, size_t count,
                                     struct sample_lives *lives)
{
    struct sample_sums sums = {.samples = 0};
    double distance = -log(uniform()) * INTERVAL;
    for (size_t i = 0; i < count; i++) {
        distance -= (double) sizes[i];
        if (distance > 0)
            continue;
        double weight = sample_weight(sizes[i], INTERVAL);
        sample_sums_weigh(&sums, sizes[i], weight, &plain);
        sample_lives_weigh(lives, weight, (double) (i % 1000));
        distance = -log(uniform()) * INTERVAL;
    }
    return sums;
}

/* 400 runs of objects of mixed sizes: 355 of 400 intervals of 95 % (the chance of fewer is 1e-7),
 * and their mean within 5 standard deviations. */
static void test_coverage(void)
{
    enum { RUNS = 400, OBJECTS = 40000 };
    static uint64_t sizes[OBJECTS];
    double bytes = 0, mean = 0;
    unsigned objects_hit = 0, bytes_hit = 0, lives_hit = 0;
    srandom(1);
    for (size_t i = 0; i < OBJECTS; i++) {
        sizes[i] = i % 500 == 0 ? 100016 : i % 7 == 0 ? 1016 : 24;
        bytes += (double) sizes[i];
    }
    for (int run = 0; run < RUNS; run++) {
        struct sample_lives lives = {.samples = 0};
        struct sample_sums sums = sample_run(sizes, OBJECTS, &lives);
        struct estimate o = estimate_objects(&sums), b = estimate_bytes(&sums);
        struct estimate l = estimate_life(&lives);
        objects_hit += o.low <= OBJECTS && OBJECTS <= o.high;
        bytes_hit += b.low <= bytes && bytes <= b.high;
        lives_hit += l.low <= 499.5 && 499.5 <= l.high;
        mean += b.value / RUNS;
    }
    CU_ASSERT_TRUE(objects_hit >= 355);
    CU_ASSERT_TRUE(bytes_hit >= 355);
    CU_ASSERT_TRUE(lives_hit >= 355);
    CU_ASSERT_DOUBLE_EQUAL(mean / bytes, 1, 0.01);
}

/* Means of few lives: one says nothing of its scatter, and three are not much surer. Those that
 * stand for themselves are known. */
static void test_few_lives(void)
{
    enum { RUNS = 2000 };
    unsigned hits = 0;
    srandom(2);
    for (int run = 0; run < RUNS; run++) {
        struct sample_lives lives = {.samples = 0};
        for (int i = 0; i < 3; i++)
            sample_lives_weigh(&lives, 1000, uniform() * 100);
        struct estimate l = estimate_life(&lives);
        hits += l.low <= 50 && 50 <= l.high;
    }
    CU_ASSERT_TRUE(hits >= RUNS * 93 / 100);
    struct sample_lives one = {.samples = 0}, sure = {.samples = 0};
    sample_lives_weigh(&one, 1000, 30);
    CU_ASSERT_EQUAL(estimate_life(&one).low, 0);
    CU_ASSERT_TRUE(isinf(estimate_life(&one).high));
    sample_lives_weigh(&sure, 1, 30);
    sample_lives_weigh(&sure, 1, 40);
    CU_ASSERT_EQUAL(estimate_life(&sure).low, 35);
    CU_ASSERT_EQUAL(estimate_life(&sure).high, 35);
}

/* Objects of a size, allocated while the interval is so long. */
struct group {
    uint64_t size, count, interval;
};

#define GROUPS 6
struct mixture {
    struct group groups[GROUPS];
    size_t others; /* of the first groups: of other rows */
};

/* Adds the samples of a group: each object is in the sample by itself. */
static void sample_group(struct sample_sums *sums, const struct group *group,
                         struct sampling *sampling)
{
    double weight = sample_weight(group->size, group->interval);
    double none = log1p(-1 / weight); /* of the probability that an object is not sampled */
    for (double at = 0; weight > 1;) {
        at += 1 + floor(log(uniform()) / none);
        if (at > (double) group->count)
            return;
        sample_sums_weigh(sums, group->size, weight, sampling);
        sampling_draw(sampling, group->interval);
    }
    for (uint64_t i = 0; i < group->count; i++)
        sample_sums_weigh(sums, group->size, weight, sampling);
}

/* Returns how many of `runs` intervals have the number of objects. */
static unsigned mixture_hits(const struct mixture *mixture, unsigned runs)
{
    unsigned hits = 0;
    for (unsigned run = 0; run < runs; run++) {
        struct sample_sums sums = {.samples = 0}, others = sums;
        double truth = 0;
        struct sampling sampling = {.interval_bytes = mixture->groups[0].interval};
        for (size_t i = 0; i < GROUPS; i++) {
            truth += i < mixture->others ? 0 : (double) mixture->groups[i].count;
            if (mixture->groups[i].count > 0)
                sample_group(i < mixture->others ? &others : &sums, &mixture->groups[i], &sampling);
        }
        hits += estimate_contains(estimate_objects(&sums), truth);
    }
    return hits;
}

/* Numbers of objects of several sizes: a few small ones are in no sample, and many in the number.
 * At least 93 % of the intervals have it (of 95 %, 2000 have fewer with a chance of 1e-4). */
static void test_mixtures(void)
{
    enum { RUNS = 2000 };
    static const struct mixture mixtures[] = {
        {.groups = {{100016, 1500, 524288},
                    {24, 20000, 524288}}}, /* 0.9 samples of small objects */
        {.groups = {{100016, 1500, 524288}, {24, 2000, 524288}}},
        {.groups = {{100016, 1500, 524288}, {24, 44000, 524288}}},
        {.groups = {{100016, 1500, 524288}, {24, 66000, 524288}}},
        {.groups = {{100016, 1500, 524288}, {24, 79000, 524288}}},
        {.groups = {{100016, 1500, 524288}, {24, 130000, 524288}}},
        {.groups = {{100016, 1500, 524288}, {16, 110000, 524288}}},
        {.groups = {{100016, 1500, 524288}, {24, 700000, 524288}}},
        {.groups = {{100016, 20, 524288}, {24, 20000, 524288}}}, /* as of what lives at a moment */
        {.groups = {{100016, 20, 524288}, {24, 79000, 524288}}},
        {.groups = {{100016, 2, 16384}, {40, 300, 16384}, {24, 300, 16384}}},
        {.groups = {{1000016, 200, 524288}, {24, 20000, 524288}}},
        {.groups = {{100016, 300, 524288},
                    {1016, 3000, 524288},
                    {24, 60000, 524288}}}, /* three sizes */
        {.groups = {{100016, 30, 524288}, {1016, 1000, 524288}, {24, 10000, 524288}}},
        {.groups = {{100016, 3, 524288}, {1016, 300, 524288}, {24, 30000, 524288}}},
        {.groups = {{100016, 100, 16384},
                    {24, 2000, 16384}, /* the interval grows, and shrinks: rate= */
                    {100016, 1000, 262144},
                    {24, 20000, 262144},
                    {100016, 200, 65536},
                    {24, 3000, 65536}}},
        {.groups = {{24, 20000, 16384}, {24, 200000, 1048576}}},
        {.groups = {{1016, 1000000, 1048576}, {24, 100000, 16384}, {24, 40000, 1048576}},
         .others = 1},
        {.groups = {{24, 20000, 16384},
                    {5000, 100, 16384},
                    {24, 100000, 1048576},
                    {5000, 2000, 1048576}}},
    };
    srandom(3);
    for (size_t i = 0; i < sizeof mixtures / sizeof mixtures[0]; i++) {
        unsigned hits = mixture_hits(&mixtures[i], RUNS);
        if (hits < RUNS * 93 / 100)
            printf("mixture %zu: %u of %d intervals\n", i, hits, RUNS);
        CU_ASSERT(hits >= RUNS * 93 / 100);
    }
}

/* Differences of two runs of which the second has a quarter more, and of a run and its exact
 * number: the same share of intervals. */
static void test_differences(void)
{
    enum { RUNS = 400, OBJECTS = 20000, MORE = OBJECTS / 4 };
    static uint64_t sizes[OBJECTS + MORE];
    double before = 0, all = 0;
    unsigned change_hit = 0, mixed_hit = 0, nothing_hit = 0;
    srandom(2);
    for (size_t i = 0; i < OBJECTS + MORE; i++) {
        sizes[i] = i % 700 == 0 ? 90000 : 56;
        all += (double) sizes[i];
        before += i < OBJECTS ? (double) sizes[i] : 0;
    }
    for (int run = 0; run < RUNS; run++) {
        struct sample_lives lives = {.samples = 0};
        struct sample_sums small = sample_run(sizes, OBJECTS, &lives);
        struct sample_sums large = sample_run(sizes, OBJECTS + MORE, &lives);
        struct sample_sums again = sample_run(sizes, OBJECTS, &lives);
        struct estimate from = estimate_bytes(&small), to = estimate_bytes(&large);
        change_hit += estimate_contains(estimate_difference(to, from), all - before);
        nothing_hit += estimate_contains(estimate_difference(estimate_bytes(&again), from), 0);
        mixed_hit +=
            estimate_contains(estimate_difference(to, estimate_exactly(before)), all - before);
    }
    CU_ASSERT_TRUE(change_hit >= 355);
    CU_ASSERT_TRUE(nothing_hit >= 355);
    CU_ASSERT_TRUE(mixed_hit >= 355);
}

static void test_differences_of_nothing(void)
{
    struct sample_sums none = {.samples = 0}, one = {.samples = 0};
    sample_sums_weigh(&one, 16, sample_weight(16, INTERVAL), &plain);
    struct estimate difference = estimate_difference(estimate_bytes(&one), estimate_bytes(&none));
    CU_ASSERT_TRUE(difference.low < 0 && difference.high > difference.value);
    difference = estimate_difference(estimate_bytes(&none), estimate_exactly(10));
    CU_ASSERT_EQUAL(difference.value, -10);
    CU_ASSERT_TRUE(isinf(difference.high));
    difference = estimate_difference(estimate_no_bytes(INTERVAL), estimate_exactly(10));
    CU_ASSERT_DOUBLE_EQUAL(difference.high, 3.689 * INTERVAL - 10, 1e-3 * INTERVAL);
    /* so many bytes have no sample with a probability of 2.5 %, whatever their sizes */
    CU_ASSERT_DOUBLE_EQUAL(exp(-estimate_no_bytes(INTERVAL).high / INTERVAL), 0.025, 1e-9);
    struct estimate twice = estimate_times(estimate_bytes(&one), 2);
    CU_ASSERT_DOUBLE_EQUAL(twice.high, 2 * estimate_bytes(&one).high, 1e-6);
}

/* Sums of weak samples get no surer than the distances of which there are few; objects that are
 * surely sampled do not depend on them, nor do those of another trace. */
static void test_repeated_distances(void)
{
    static const struct sampling repeating = {.interval_bytes = INTERVAL, .repeated = 0.01};
    struct sample_sums weak = {.samples = 0}, sure = {.samples = 0}, other = {.samples = 0};
    for (int i = 0; i < 100000; i++) {
        sample_sums_weigh(&weak, 16, sample_weight(16, INTERVAL), &repeating);
        sample_sums_weigh(&other, 16, sample_weight(16, INTERVAL), &plain);
        sample_sums_weigh(&sure, 10 * INTERVAL, sample_weight(10 * INTERVAL, INTERVAL), &repeating);
    }
    struct estimate bytes = estimate_bytes(&weak), large = estimate_bytes(&sure);
    CU_ASSERT_DOUBLE_EQUAL(bytes.low / bytes.value, 0.814, 0.01); /* of 100 samples */
    CU_ASSERT_DOUBLE_EQUAL(bytes.high / bytes.value, 1.216, 0.01);
    CU_ASSERT(large.low / large.value > 0.9999);
    CU_ASSERT_DOUBLE_EQUAL(estimate_bytes(&other).low / bytes.value, 0.994, 0.001);
}

/* A few samples that are left of many keep their variance, which the difference rounds away. */
static void test_few_left(void)
{
    struct sample_sums all = {.samples = 0}, dead = {.samples = 0};
    for (int i = 0; i < 100000; i++) {
        sample_sums_weigh(&all, 24, 1e7, &plain);
        sample_sums_weigh(&dead, 24, 1e7, &plain);
    }
    sample_sums_weigh(&all, 24, 21, &plain);
    struct sample_sums left = sample_sums_without(&all, &dead);
    CU_ASSERT_EQUAL(left.samples, 1);
    CU_ASSERT_DOUBLE_EQUAL(left.objects_variance, 21 * 20, 1);
    CU_ASSERT_DOUBLE_EQUAL(left.bytes_variance, 24 * 24 * 21 * 20, 1000);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("estimates", NULL, NULL);
    CU_add_test(suite, "properties", test_properties);
    CU_add_test(suite, "weights", test_weights);
    CU_add_test(suite, "bounds", test_bounds);
    CU_add_test(suite, "no sample, a sure one", test_ends);
    CU_add_test(suite, "coverage", test_coverage);
    CU_add_test(suite, "means of few lifetimes", test_few_lives);
    CU_add_test(suite, "mixtures", test_mixtures);
    CU_add_test(suite, "differences", test_differences);
    CU_add_test(suite, "differences of nothing", test_differences_of_nothing);
    CU_add_test(suite, "repeated distances", test_repeated_distances);
    CU_add_test(suite, "few left of many", test_few_left);
}
