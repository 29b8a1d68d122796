/* SPDX-License-Identifier: Apache-2.0 */
/* Sites by class: lifetimes against those of the objects themselves, clusters, collections. */
#include <CUnit/Basic.h>
#include <stdlib.h>
#include <string.h>

#include "analyses/sites/advice.h"
#include "analyses/sites/site_report.h"
#include "converter/trace/names.h"
#include "tests/unit/run_suite.h"

#define OBJECTS UINT64_C(1000)

static uint64_t object_number, now_ns;

static void put(struct site_lives *lives, const struct trace_event *event)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    CU_ASSERT_EQUAL_FATAL(site_lives_put(lives, event, 1, &error), STEP_STATUS_OK);
}

static uint64_t make(struct site_lives *lives, uint32_t class_id, uint64_t size)
{
    const struct trace_event event = {.kind = EVENT_OBJECT_ALLOC,
                                      .time_ns = ++now_ns,
                                      .object = ++object_number,
                                      .size = size,
                                      .thread_id = 1,
                                      .class_id = class_id};
    put(lives, &event);
    return event.object;
}

static void drop(struct site_lives *lives, uint64_t object, unsigned flags)
{
    put(lives, &(struct trace_event){.kind = EVENT_OBJECT_FREE,
                                     .time_ns = now_ns,
                                     .object = object,
                                     .flags = (uint8_t) flags});
}

static struct site_life *site(struct site_lives *lives, uint32_t class_id)
{
    uint32_t number = site_lives_get(lives, (struct site_key){.class_id = class_id});
    CU_ASSERT_FATAL(number != UINT32_MAX);
    return &lives->items[number];
}

/* Object i of the class lives while i % `most` objects of 100 bytes of another class are made. */
static void live_evenly(struct site_lives *lives, uint32_t class_id, uint64_t most)
{
    for (uint64_t i = 0; i < OBJECTS; i++) {
        uint64_t object = make(lives, class_id, 50);
        for (uint64_t k = 0; k < i % most; k++)
            drop(lives, make(lives, 99, 100), 0);
        drop(lives, object, 0);
    }
}

static void test_percentiles(void)
{
    struct site_lives lives;
    site_lives_init(&lives);
    lives.is_native = true;
    live_evenly(&lives, 1, 100);
    site_lives_finish(&lives);
    const struct site_life *life = site(&lives, 1);
    CU_ASSERT_EQUAL(life->born.objects, OBJECTS);
    CU_ASSERT_EQUAL(life->dead.bytes, 50 * OBJECTS);
    CU_ASSERT_EQUAL(life->in_bytes.most, 9950);
    CU_ASSERT_DOUBLE_EQUAL(lifetimes_mean(&life->in_bytes), 5000, 0.001);
    CU_ASSERT_DOUBLE_EQUAL(lifetimes_percentile(&life->in_bytes, 0.5), 4950, 4950 * 0.016);
    CU_ASSERT_DOUBLE_EQUAL(lifetimes_percentile(&life->in_bytes, 0.9), 8950, 8950 * 0.016);
    CU_ASSERT_EQUAL(site_lives_precision(&lives), SITE_EXACT);
    site_lives_reset(&lives);
}

/* 1 and 2 live alike, 3 twice as long (distance 0.5), 4 for ever, 5 has too few objects. */
static void test_clusters(void)
{
    struct site_lives lives;
    struct site_clusters clusters;
    uint32_t order[8];
    site_lives_init(&lives);
    lives.is_native = true;
    live_evenly(&lives, 1, 100);
    live_evenly(&lives, 2, 105);
    live_evenly(&lives, 3, 200);
    for (uint64_t i = 0; i < OBJECTS; i++)
        make(&lives, 4, 50);
    for (uint64_t i = 0; i < SITE_CLUSTER_OBJECTS - 1; i++)
        make(&lives, 5, 50);
    CU_ASSERT_EQUAL_FATAL(lives.count, 6);
    for (uint32_t i = 0; i < lives.count; i++)
        order[i] = i;
    CU_ASSERT_FATAL(site_clusters_make(&clusters, &lives, order));
    uint8_t of[6];
    for (uint32_t class_id = 1; class_id <= 5; class_id++)
        of[class_id] = clusters.of_site[site(&lives, class_id) - lives.items];
    CU_ASSERT_EQUAL(of[1], of[2]);
    CU_ASSERT_NOT_EQUAL(of[1], of[3]);
    CU_ASSERT_NOT_EQUAL(of[1], of[4]);
    CU_ASSERT_NOT_EQUAL(of[3], of[4]);
    CU_ASSERT_EQUAL(of[5], SITE_NO_CLUSTER);
    CU_ASSERT_EQUAL(clusters.items[of[1]].objects, 2 * OBJECTS);
    CU_ASSERT_EQUAL(clusters.items[of[1]].sites, 2);
    site_clusters_reset(&clusters);
    site_lives_reset(&lives);
}

/* Three collections, each of which frees one object: what was born before two of them is old. */
static void test_collections(void)
{
    struct site_lives lives;
    site_lives_init(&lives);
    for (uint32_t turn = 0; turn < 3; turn++) {
        make(&lives, 1 + turn, 8);
        uint64_t object = make(&lives, 9, 8);
        now_ns += 10;
        drop(&lives, object, 0);
    }
    make(&lives, 4, 8);
    site_lives_finish(&lives);
    CU_ASSERT_EQUAL(site_lives_collections(&lives), 3);
    CU_ASSERT_EQUAL(site(&lives, 1)->old.objects, 1);
    CU_ASSERT_EQUAL(site(&lives, 2)->old.objects, 1);
    CU_ASSERT_EQUAL(site(&lives, 3)->old.objects, 0);
    CU_ASSERT_EQUAL(site(&lives, 4)->decided.objects, 0);
    CU_ASSERT_EQUAL(site(&lives, 9)->decided.objects, 3);
    CU_ASSERT_EQUAL(site(&lives, 9)->late, 3);
    CU_ASSERT_EQUAL(site_lives_precision(&lives), SITE_DELAYED);
    site_lives_reset(&lives);
}

/* Whether a death is a lower bound makes advice an estimate; a fault of size ends the pass. */
static void test_bounds(void)
{
    struct site_lives lives;
    struct advice_list list;
    struct trace_names names;
    struct step_error error = {.offset = STEP_NO_OFFSET};
    const struct advice_options options = {.least_bytes = 1};
    trace_names_init(&names);
    site_lives_init(&lives);
    for (unsigned i = 0; i < 40; i++)
        drop(&lives, make(&lives, 1, 600), TRACE_DATED | (i == 20 ? TRACE_BOUND : 0));
    site_lives_finish(&lives);
    CU_ASSERT_FATAL(advice_make(&list, &lives, &names, &options));
    CU_ASSERT_EQUAL_FATAL(list.count, 1);
    CU_ASSERT_EQUAL(list.items[0].kind, ADVICE_DUPLICATE);
    CU_ASSERT_EQUAL(list.items[0].bytes, 39 * 600);
    CU_ASSERT(list.items[0].is_bound);
    CU_ASSERT_EQUAL(site_lives_precision(&lives), SITE_DATED);
    const struct trace_event huge = {.kind = EVENT_OBJECT_ALLOC, .object = 1, .size = UINT64_MAX};
    CU_ASSERT_EQUAL(site_lives_put(&lives, &huge, 1, &error), STEP_STATUS_CORRUPT);
    advice_reset(&list);
    site_lives_reset(&lives);
    trace_names_reset(&names);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("sites", NULL, NULL);
    CU_add_test(suite, "percentiles", test_percentiles);
    CU_add_test(suite, "clusters", test_clusters);
    CU_add_test(suite, "collections", test_collections);
    CU_add_test(suite, "bounds", test_bounds);
}
