/* SPDX-License-Identifier: Apache-2.0 */
/* Weights of samples: with intervals of their own, and with objects that were given up, against a
 * simulated program. */
#include <CUnit/Basic.h>
#include <math.h>
#include <stdlib.h>

#include "converter/trace/sample_weights.h"
#include "tests/unit/run_suite.h"

#define INTERVAL 65536u
#define LOTS (UINT64_C(1) << 53)

static double weight_of(struct sample_weights *weights, uint8_t kind, uint64_t time_ns,
                        uint64_t object, uint32_t drawn_bytes)
{
    const struct trace_event event = {
        .kind = kind, .time_ns = time_ns, .object = object, .size = 64, .drawn_bytes = drawn_bytes};
    return sample_weights_of(weights, &event);
}

static struct sampling sampling;

static double weight_by(uint32_t interval_bytes)
{
    return 1 / (1 - exp(-64.0 / interval_bytes));
}

static void test_intervals(void)
{
    struct sample_weights weights;
    sample_weights_init(&weights, INTERVAL, &sampling);
    CU_ASSERT_DOUBLE_EQUAL(weight_of(&weights, EVENT_OBJECT_ALLOC, 1, 1, 0), weight_by(INTERVAL),
                           1e-3);
    CU_ASSERT_DOUBLE_EQUAL(weight_of(&weights, EVENT_OBJECT_ALLOC, 2, 2, 4096), weight_by(4096),
                           1e-3);
    CU_ASSERT_DOUBLE_EQUAL(weight_of(&weights, EVENT_OBJECT_FREE, 3, 2, 0), weight_by(4096), 1e-3);
    CU_ASSERT_DOUBLE_EQUAL(weight_of(&weights, EVENT_OBJECT_FREE, 3, 1, 0), weight_by(INTERVAL),
                           1e-3);
    CU_ASSERT_TRUE(sample_weights_are_whole(&weights));
    sample_weights_reset(&weights);
}

static enum step_status put(struct sample_weights *weights, uint64_t time_ns, uint64_t object,
                            uint64_t threshold)
{
    const struct trace_fact fact = {
        .kind = TRACE_GIVEN_UP, .time_ns = time_ns, .object = object, .threshold = threshold};
    return sample_weights_put_fact(weights, &fact);
}

static void test_damage(void)
{
    struct sample_weights weights;
    sample_weights_init(&weights, INTERVAL, &sampling);
    CU_ASSERT_EQUAL(put(&weights, 5, 1, 0), STEP_STATUS_CORRUPT);
    CU_ASSERT_EQUAL(put(&weights, 5, 1, LOTS + 1), STEP_STATUS_CORRUPT);
    CU_ASSERT_EQUAL(put(&weights, 5, 1, LOTS), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(put(&weights, 4, 2, LOTS), STEP_STATUS_CORRUPT);
    sample_weights_reset(&weights);
}

static void add_live(void *user, const struct live_object *object, double weight)
{
    CU_ASSERT_NOT_EQUAL(object->object, 3); /* it was given up */
    *(double *) user += weight;
}

/* The least threshold of a life counts: before its birth, in it, not after. */
static void test_thresholds(void)
{
    struct sample_weights weights;
    double live = 0, one = weight_by(INTERVAL);
    sample_weights_init(&weights, INTERVAL, &sampling);
    CU_ASSERT_EQUAL(put(&weights, 10, 3, LOTS / 2), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(put(&weights, 30, 0, LOTS), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(put(&weights, 50, 9, LOTS / 8), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(put(&weights, 70, 0, LOTS / 4), STEP_STATUS_OK);
    weight_of(&weights, EVENT_OBJECT_ALLOC, 1, 1, 0);
    weight_of(&weights, EVENT_OBJECT_ALLOC, 2, 3, 0);
    CU_ASSERT_DOUBLE_EQUAL(weight_of(&weights, EVENT_OBJECT_FREE, 10, 1, 0), one, 1e-3);
    weight_of(&weights, EVENT_OBJECT_ALLOC, 20, 4, 0); /* LOTS / 2 was in force */
    weight_of(&weights, EVENT_OBJECT_ALLOC, 40, 5, 0); /* LOTS */
    CU_ASSERT_DOUBLE_EQUAL(weight_of(&weights, EVENT_OBJECT_FREE, 45, 4, 0), 2 * one, 1e-3);
    weight_of(&weights, EVENT_OBJECT_ALLOC, 60, 6, 0);
    CU_ASSERT_DOUBLE_EQUAL(weight_of(&weights, EVENT_OBJECT_FREE, 80, 5, 0), 8 * one, 1e-2);
    weight_of(&weights, EVENT_OBJECT_ALLOC, 90, 7, 0);
    CU_ASSERT_FALSE(sample_weights_are_whole(&weights));
    sample_weights_each_live(&weights, add_live, &live);
    CU_ASSERT_DOUBLE_EQUAL(live, (8 + 4) * one, 1e-2); /* 6 and 7 */
    sample_weights_reset(&weights);
}

/* ---- a program ---- */

enum { OBJECTS = 400, LIMIT = 20, ROUNDS = 3000, PERIOD = 100 };

struct sampled {
    uint64_t lot, dies_at;
    bool is_awaited;
};

static uint64_t random_number(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed * UINT64_C(0x9e3779b97f4a7c15);
}

/* The rule of the agent's table, over all objects: object `born` is new at its own time. */
static void take_sample(struct sampled *all, size_t born, uint64_t *threshold,
                        struct sample_weights *weights)
{
    size_t count = 0, largest = born;
    all[born].is_awaited = all[born].lot < *threshold;
    if (!all[born].is_awaited) {
        put(weights, born, born + 1, *threshold);
        return;
    }
    for (size_t i = 0; i <= born; i++) {
        bool lives = all[i].is_awaited && all[i].dies_at > born;
        count += lives;
        largest = lives && all[i].lot > all[largest].lot ? i : largest;
    }
    if (count > LIMIT) {
        all[largest].is_awaited = false;
        *threshold = all[largest].lot;
        put(weights, born, largest + 1, *threshold);
    } else if (count < LIMIT / 2 && *threshold < LOTS) {
        *threshold = *threshold < LOTS / 2 ? 2 * *threshold : LOTS;
        put(weights, born, 0, *threshold);
    }
}

/* A collection at the end of each period finds what has died; a fifth lives on. */
static double estimate_dead(uint64_t *seed)
{
    struct sampled all[OBJECTS];
    struct sample_weights weights;
    uint64_t threshold = LOTS;
    double dead = 0;
    sample_weights_init(&weights, 1, &sampling);
    for (size_t i = 0; i < OBJECTS; i++) {
        uint64_t period = i % 5 == 0 ? 3 * PERIOD : PERIOD;
        all[i].lot = random_number(seed) >> 11;
        all[i].dies_at = (i / PERIOD + period / PERIOD) * PERIOD;
        take_sample(all, i, &threshold, &weights);
    }
    for (uint64_t time = 0; time <= OBJECTS; time++) {
        for (size_t i = 0; i < OBJECTS; i++)
            if (all[i].is_awaited && all[i].dies_at == time)
                dead += weight_of(&weights, EVENT_OBJECT_FREE, time, i + 1, 0);
        if (time < OBJECTS)
            weight_of(&weights, EVENT_OBJECT_ALLOC, time, time + 1, 0);
    }
    sample_weights_reset(&weights);
    return dead;
}

static void test_unbiased(void)
{
    uint64_t seed = 20261124;
    double sum = 0, squares = 0, truth = 0;
    for (size_t i = 0; i < OBJECTS; i++)
        truth += (i / PERIOD + (i % 5 == 0 ? 3 : 1)) * PERIOD <= OBJECTS;
    for (int i = 0; i < ROUNDS; i++) {
        double dead = estimate_dead(&seed);
        sum += dead;
        squares += dead * dead;
    }
    double mean = sum / ROUNDS, deviation = sqrt(squares / ROUNDS - mean * mean);
    printf("  %.2f of %.0f, deviation %.2f\n", mean, truth, deviation);
    CU_ASSERT(fabs(mean - truth) < 4 * deviation / sqrt(ROUNDS)); /* the seed is fixed */
    CU_ASSERT(deviation < truth / 4);
}

/* Walks whose classes have other bytes than they found, or more than were counted, and one before
 * which a record is lost. */
static void test_contradictions(void)
{
    static const struct {
        uint64_t of_class, found, counted;
        enum totals_kind kind;
        uint64_t lost;
    } walks[] = {{240, 240, 240, TOTALS_OF_CLASSES, 0}, {480, 240, 480, TOTALS_OF_PROGRAM, 0},
                 {120, 240, 240, TOTALS_OF_PROGRAM, 0}, {480, 480, 240, TOTALS_OF_NOTHING, 0},
                 {240, 240, 480, TOTALS_OF_PROGRAM, 0}, {0, 0, 0, TOTALS_OF_CLASSES, 0},
                 {240, 240, 240, TOTALS_OF_NOTHING, 1}, {240, 240, 240, TOTALS_OF_CLASSES, 1}};
    struct trace_names names = {0};
    struct sample_weights weights;
    sample_weights_init(&weights, INTERVAL, &sampling);
    weights.names = &names;
    weights.totals = calloc(1, sizeof *weights.totals);
    for (size_t i = 0; i < sizeof walks / sizeof walks[0]; i++) {
        const struct trace_fact of_class = {.kind = TRACE_EDEN_CLASS,
                                            .time_ns = i,
                                            .is_of_class = true,
                                            .objects = 10,
                                            .bytes = walks[i].of_class};
        const struct trace_fact walk = {.kind = TRACE_EDEN_WALK,
                                        .time_ns = i,
                                        .collection = i + 1 + walks[i].lost,
                                        .counted = walks[i].counted,
                                        .bytes = walks[i].found};
        CU_ASSERT_EQUAL(sample_weights_put_fact(&weights, &of_class), STEP_STATUS_OK);
        CU_ASSERT_EQUAL(sample_weights_put_fact(&weights, &walk), STEP_STATUS_OK);
        CU_ASSERT_EQUAL(weights.totals->kinds[i], walks[i].kind);
    }
    CU_ASSERT_EQUAL(weights.totals->unknown_bytes, 480 + 240 + 480);
    sample_weights_reset(&weights);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("weights of samples", NULL, NULL);
    CU_add_test(suite, "intervals", test_intervals);
    CU_add_test(suite, "damage", test_damage);
    CU_add_test(suite, "contradicting totals", test_contradictions);
    CU_add_test(suite, "thresholds", test_thresholds);
    CU_add_test(suite, "no bias", test_unbiased);
}
