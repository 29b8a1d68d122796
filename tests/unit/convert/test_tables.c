/* SPDX-License-Identifier: Apache-2.0 */
/* The converter's tables: live objects, sets of ids, curve, lifetimes, globs, calls. */
#include <CUnit/Basic.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call_stack.h"
#include "id_set.h"
#include "lifetimes.h"
#include "live_curve.h"
#include "live_table.h"
#include "quantity.h"
#include "wish.h"

static uint64_t seed = 20260101;

static uint64_t random_number(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

/* ---- live table ---- */

static struct live_object object_of(uint64_t id)
{
    return (struct live_object){id, id * 3, id % 7 == 0 ? UINT64_C(0x123456789) + id : id % 100,
                                (uint32_t) (id % 1000)};
}

static bool is_object(const struct live_object *object, uint64_t id)
{
    struct live_object wanted = object_of(id);
    return object->object == id && object->value == wanted.value && object->size == wanted.size &&
           object->class_id == wanted.class_id;
}

static void test_live_table_in_order(void)
{
    enum { COUNT = 100000, WINDOW = 5000 };
    struct live_table table;
    struct live_object found;
    CU_ASSERT_FATAL(live_table_init(&table));
    unsigned wrong = 0;
    for (uint64_t id = 1; id <= COUNT; id++) {
        struct live_object object = object_of(id);
        wrong += !live_table_put(&table, &object);
        if (id > WINDOW)
            wrong +=
                !live_table_take(&table, id - WINDOW, &found) || !is_object(&found, id - WINDOW);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_EQUAL(table.count, WINDOW);
    /* memory follows what lives, not what was */
    CU_ASSERT(table.mask + 1 <= 16 * WINDOW);
    CU_ASSERT(!live_table_has(&table, 1));
    CU_ASSERT(live_table_has(&table, COUNT));
    CU_ASSERT(!live_table_take(&table, 1, &found));
    live_table_reset(&table);
}

/* Against an array that says what is there. */
static void test_live_table_at_random(void)
{
    enum { RANGE = 3000, STEPS = 200000 };
    static bool is_there[RANGE];
    struct live_table table;
    struct live_object found;
    memset(is_there, 0, sizeof is_there);
    CU_ASSERT_FATAL(live_table_init(&table));
    unsigned wrong = 0;
    size_t count = 0;
    for (unsigned i = 0; i < STEPS; i++) {
        uint64_t number = random_number() % RANGE;
        /* ids far apart and close together */
        uint64_t id = number % 2 == 0 ? number + 1 : (number + 1) << 40;
        if (random_number() % 2 == 0) {
            struct live_object object = object_of(id);
            wrong += !live_table_put(&table, &object);
            count += !is_there[number];
            is_there[number] = true;
        } else {
            bool taken = live_table_take(&table, id, &found);
            wrong += taken != is_there[number] || (taken && !is_object(&found, id));
            count -= is_there[number];
            is_there[number] = false;
        }
        wrong += table.count != count;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    for (uint64_t number = 0; number < RANGE; number++) {
        uint64_t id = number % 2 == 0 ? number + 1 : (number + 1) << 40;
        wrong += live_table_find(&table, id, &found) != is_there[number];
    }
    CU_ASSERT_EQUAL(wrong, 0);
    live_table_reset(&table);
}

static void test_live_table_odd_objects(void)
{
    struct live_table table;
    struct live_object found;
    CU_ASSERT_FATAL(live_table_init(&table));
    CU_ASSERT(live_table_put(&table, &(struct live_object){.object = 0}));
    CU_ASSERT(!live_table_has(&table, 0));
    CU_ASSERT(live_table_put(&table, &(struct live_object){UINT64_MAX, 1, UINT64_MAX, 2}));
    CU_ASSERT(live_table_put(&table, &(struct live_object){UINT64_MAX, 3, 5, 4}));
    CU_ASSERT_EQUAL(table.count, 1);
    CU_ASSERT(live_table_find(&table, UINT64_MAX, &found));
    CU_ASSERT_EQUAL(found.size, 5);
    CU_ASSERT(live_table_put(&table, &(struct live_object){UINT64_MAX, 3, UINT32_MAX, 4}));
    CU_ASSERT(live_table_take(&table, UINT64_MAX, &found));
    CU_ASSERT_EQUAL(found.size, UINT32_MAX);
    live_table_reset(&table);
}

/* ---- sets of ids ---- */

static void test_id_set(void)
{
    struct id_set set;
    bool is_new;
    id_set_init(&set);
    unsigned wrong = 0;
    for (uint64_t id = 1; id <= 600000; id++)
        wrong += !id_set_add(&set, id, &is_new) || !is_new;
    for (uint64_t id = 1; id <= 600000; id += 7)
        wrong += !id_set_has(&set, id) || !id_set_add(&set, id, &is_new) || is_new;
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT(!id_set_has(&set, 0));
    CU_ASSERT(!id_set_has(&set, 600001));
    CU_ASSERT(!id_set_has(&set, UINT64_MAX));
    CU_ASSERT(id_set_add(&set, UINT64_MAX, &is_new) && is_new);
    CU_ASSERT(id_set_has(&set, UINT64_MAX));
    CU_ASSERT(!id_set_has(&set, UINT64_MAX - 1));
    /* the full pages are gone: what is left are a few at each level */
    CU_ASSERT_PTR_NOT_NULL(set.pages[0]);
    id_set_reset(&set);
}

static void test_id_set_backwards(void)
{
    struct id_set set;
    bool is_new;
    id_set_init(&set);
    unsigned wrong = 0;
    for (uint64_t id = 5000; id-- > 0;)
        wrong += !id_set_add(&set, id, &is_new) || !is_new;
    for (uint64_t id = 0; id < 5000; id++)
        wrong += !id_set_has(&set, id);
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT(!id_set_has(&set, 5000));
    id_set_reset(&set);
}

/* ---- curve and lifetimes ---- */

static void test_live_curve(void)
{
    struct live_curve curve;
    live_curve_init(&curve);
    live_curve_put(&curve, 0, 10, 1);
    live_curve_put(&curve, 500, 30, 2);
    live_curve_put(&curve, 600, 20, 1);
    CU_ASSERT_EQUAL(curve.count, 1);
    CU_ASSERT_EQUAL(curve.steps[0].most_bytes, 30);
    CU_ASSERT_EQUAL(curve.steps[0].last_bytes, 20);
    live_curve_put(&curve, UINT64_C(3600000000000), 50, 5);
    CU_ASSERT(curve.count <= LIVE_CURVE_STEPS);
    CU_ASSERT(curve.count > LIVE_CURVE_STEPS / 2);
    CU_ASSERT_EQUAL(curve.steps[0].most_bytes, 30);
    CU_ASSERT_EQUAL(curve.steps[1].most_bytes, 20);
    CU_ASSERT_EQUAL(curve.steps[curve.count - 1].most_bytes, 50);
    live_curve_put(&curve, UINT64_MAX, 7, 1);
    live_curve_put(&curve, 5, 8, 1);
    CU_ASSERT(curve.count <= LIVE_CURVE_STEPS);
    CU_ASSERT_EQUAL(curve.steps[curve.count - 1].last_bytes, 8);
}

static void test_lifetimes(void)
{
    struct lifetimes lifetimes = {0};
    CU_ASSERT_EQUAL(lifetimes_mean(&lifetimes), 0.0);
    CU_ASSERT_EQUAL(lifetimes_percentile(&lifetimes, 0.5), 0.0);
    for (uint64_t i = 1; i <= 1000; i++)
        lifetimes_add(&lifetimes, i);
    CU_ASSERT_DOUBLE_EQUAL(lifetimes_mean(&lifetimes), 500.5, 0.001);
    CU_ASSERT_DOUBLE_EQUAL(lifetimes_percentile(&lifetimes, 0.5), 500, 10);
    CU_ASSERT(lifetimes_percentile(&lifetimes, 1.0) <= 1000.0);
    lifetimes_add(&lifetimes, UINT64_MAX);
    lifetimes_add(&lifetimes, 0);
    CU_ASSERT_EQUAL(lifetimes.most, UINT64_MAX);
    CU_ASSERT_EQUAL(lifetimes.buckets[0], 1);
}

static void test_quantities(void)
{
    CU_ASSERT_STRING_EQUAL(quantity_of_count(0).text, "0");
    CU_ASSERT_STRING_EQUAL(quantity_of_count(999).text, "999");
    CU_ASSERT_STRING_EQUAL(quantity_of_count(1000).text, "1,000");
    CU_ASSERT_STRING_EQUAL(quantity_of_count(UINT64_MAX).text, "18,446,744,073,709,551,615");
    CU_ASSERT_STRING_EQUAL(quantity_of_ns(999).text, "999 ns");
    CU_ASSERT_STRING_EQUAL(quantity_of_ns(1500000).text, "1.50 ms");
    CU_ASSERT_STRING_EQUAL(quantity_of_bytes(1536).text, "1.50 KiB");
}

/* ---- globs ---- */

static bool matches(const char *glob, const char *name)
{
    return trace_glob_matches(glob, (struct step_bytes){(const uint8_t *) name, strlen(name)});
}

static void test_globs(void)
{
    CU_ASSERT(matches("java/lang/*", "java/lang/Object"));
    CU_ASSERT(!matches("java/lang/*", "java/lang/ref/Finalizer"));
    CU_ASSERT(matches("java/lang/**", "java/lang/ref/Finalizer"));
    CU_ASSERT(matches("java.lang.O?ject", "java/lang/Object"));
    CU_ASSERT(matches("**", ""));
    CU_ASSERT(matches("*", "Words"));
    CU_ASSERT(!matches("*", "pack/Words"));
    CU_ASSERT(matches("**/*x*/W*s", "a/b/yxy/Words"));
    CU_ASSERT(!matches("**/*x*/W*s", "a/b/yy/Words"));
    CU_ASSERT(matches("[*", "[I"));
    CU_ASSERT(!matches("", "a"));
    CU_ASSERT(matches("", ""));
    CU_ASSERT(!matches("a?", "a/"));
}

static void test_call_stack(void)
{
    struct call_stack stack = {0};
    for (uint32_t i = 1; i <= 1000; i++)
        CU_ASSERT(call_stack_push(&stack, &(struct call_frame){.method_id = i}));
    CU_ASSERT_EQUAL(call_stack_find(&stack, 1000), 1000);
    CU_ASSERT_EQUAL(call_stack_find(&stack, 1), 1);
    CU_ASSERT_EQUAL(call_stack_find(&stack, 1001), 0);
    call_stack_reset(&stack);
    CU_ASSERT_EQUAL(call_stack_find(&stack, 1), 0);
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS)
        return 1;
    CU_pSuite suite = CU_add_suite("convert_tables", NULL, NULL);
    CU_ADD_TEST(suite, test_live_table_in_order);
    CU_ADD_TEST(suite, test_live_table_at_random);
    CU_ADD_TEST(suite, test_live_table_odd_objects);
    CU_ADD_TEST(suite, test_id_set);
    CU_ADD_TEST(suite, test_id_set_backwards);
    CU_ADD_TEST(suite, test_live_curve);
    CU_ADD_TEST(suite, test_lifetimes);
    CU_ADD_TEST(suite, test_quantities);
    CU_ADD_TEST(suite, test_globs);
    CU_ADD_TEST(suite, test_call_stack);
    CU_basic_run_tests();
    unsigned failures = CU_get_number_of_failures();
    if (failures > 0)
        printf("seed %" PRIu64 "\n", seed);
    CU_cleanup_registry();
    return failures == 0 ? 0 : 1;
}
