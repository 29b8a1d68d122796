/* SPDX-License-Identifier: Apache-2.0 */
/* The table of live objects against a plain array, with sequential, sparse and odd ids. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>

#include "converter/containers/object_table.h"
#include "tests/unit/run_suite.h"

enum { OBJECTS = 40000 };

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static void test_put_find_take(void)
{
    struct object_table table = {.count = 0};
    struct live_object out;
    CU_ASSERT_FALSE(object_table_find(&table, 7, &out));
    CU_ASSERT_FALSE(object_table_take(&table, 7, &out));
    CU_ASSERT_TRUE(object_table_put(&table, &(struct live_object){7, 100, 24, 3}));
    CU_ASSERT_TRUE(object_table_has(&table, 7));
    CU_ASSERT_TRUE(object_table_put(&table, &(struct live_object){7, 200, 32, 4}));
    CU_ASSERT_EQUAL(table.count, 1);
    CU_ASSERT_TRUE(object_table_take(&table, 7, &out));
    CU_ASSERT_EQUAL(out.value, 200);
    CU_ASSERT_EQUAL(out.size, 32);
    CU_ASSERT_EQUAL(out.class_id, 4);
    CU_ASSERT_FALSE(object_table_has(&table, 7));
    CU_ASSERT_EQUAL(table.count, 0);
    object_table_reset(&table);
}

static void test_no_object(void)
{
    struct object_table table = {.count = 0};
    struct live_object out;
    CU_ASSERT_TRUE(object_table_put(&table, &(struct live_object){0, 1, 2, 3}));
    CU_ASSERT_EQUAL(table.count, 0);
    CU_ASSERT_FALSE(object_table_has(&table, 0));
    CU_ASSERT_FALSE(object_table_find(&table, 0, &out));
    CU_ASSERT_FALSE(object_table_take(&table, 0, &out));
    object_table_reset(&table);
}

static void test_large_sizes(void)
{
    static const uint64_t sizes[] = {UINT32_MAX - 1, UINT32_MAX, UINT64_C(1) << 40, UINT64_MAX};
    struct object_table table = {.count = 0};
    struct live_object out;
    for (uint64_t i = 0; i < 4; i++)
        CU_ASSERT_TRUE(object_table_put(&table, &(struct live_object){i + 1, 0, sizes[i], 1}));
    CU_ASSERT_TRUE(object_table_put(&table, &(struct live_object){2, 0, 8, 1}));
    CU_ASSERT_TRUE(object_table_find(&table, 2, &out));
    CU_ASSERT_EQUAL(out.size, 8);
    for (uint64_t i = 0; i < 4; i++) {
        CU_ASSERT_TRUE(object_table_take(&table, i + 1, &out));
        CU_ASSERT_EQUAL(out.size, i == 1 ? 8 : sizes[i]);
    }
    CU_ASSERT_FATAL(table.large != NULL);
    CU_ASSERT_EQUAL(table.large->count, 0);
    object_table_reset(&table);
}

static uint64_t sequential_id(uint64_t i)
{
    return i + 1;
}

static uint64_t sparse_id(uint64_t i)
{
    return (i + 1) * UINT64_C(0x100000001);
}

static uint64_t falling_id(uint64_t i)
{
    return UINT64_MAX - i * 16;
}

/* Random puts and takes; after each round everything is looked up. */
static void churn(uint64_t (*id_of)(uint64_t), uint64_t seed)
{
    struct object_table table = {.count = 0};
    uint64_t *model = calloc(OBJECTS, sizeof *model); /* 0: not there, else its value */
    size_t count = 0, wrong = 0;
    uint64_t state = seed;
    CU_ASSERT_FATAL(model != NULL);
    for (unsigned round = 0; round < 8; round++) {
        for (unsigned step = 0; step < OBJECTS; step++) {
            uint64_t i = next_random(&state) % OBJECTS;
            struct live_object object = {id_of(i), state | 1, i, (uint32_t) i};
            /* more come in the first rounds, more go in the last */
            if (next_random(&state) % 8 >= round) {
                wrong += !object_table_put(&table, &object);
                count += model[i] == 0;
                model[i] = object.value;
            } else {
                bool taken = object_table_take(&table, object.object, &object);
                wrong += taken != (model[i] != 0) || (taken && object.value != model[i]);
                count -= taken;
                model[i] = 0;
            }
        }
        for (uint64_t i = 0; i < OBJECTS; i++) {
            struct live_object object;
            bool found = object_table_find(&table, id_of(i), &object);
            wrong += found != (model[i] != 0) || (found && object.value != model[i]);
        }
        wrong += table.count != count;
    }
    if (wrong != 0)
        printf("seed %llu\n", (unsigned long long) seed);
    CU_ASSERT_EQUAL(wrong, 0);
    object_table_reset(&table);
    free(model);
}

static void test_churn(void)
{
    churn(sequential_id, 1);
    churn(sparse_id, 2);
    churn(falling_id, 3);
}

static void test_memory_follows_what_lives(void)
{
    struct object_table table = {.count = 0};
    struct live_object out;
    for (uint64_t i = 1; i <= 200000; i++)
        object_table_put(&table, &(struct live_object){i, i, 16, 1});
    CU_ASSERT(table.bytes >= (size_t) 200000 * 16 && table.bytes < (size_t) 200000 * 18);
    /* one of 64 lives on */
    for (uint64_t i = 1; i <= 200000; i++)
        if (i % 64 != 5)
            object_table_take(&table, i, &out);
    CU_ASSERT(table.bytes < (size_t) 200000 / 64 * 100);
    for (uint64_t i = 1; i <= 200000; i++)
        object_table_take(&table, i, &out);
    CU_ASSERT_EQUAL(table.count, 0);
    CU_ASSERT_EQUAL(table.bytes, 0);
    /* a window that moves on stays small */
    size_t most = 0;
    for (uint64_t i = 1; i <= 1000000; i++) {
        object_table_put(&table, &(struct live_object){i, i, 16, 1});
        if (i > 1000)
            object_table_take(&table, i - 1000, &out);
        most = table.bytes > most ? table.bytes : most;
    }
    CU_ASSERT(most < 32 << 10);
    object_table_reset(&table);
    /* a page keeps its room while its objects die in turn, and no longer */
    for (uint64_t i = 64; i < 3 * 64; i++)
        object_table_put(&table, &(struct live_object){i, i, 16, 1});
    size_t whole = table.bytes;
    for (uint64_t i = 64; i < 124; i++)
        CU_ASSERT(object_table_take(&table, i, &out) && out.value == i);
    CU_ASSERT_EQUAL(table.bytes, whole);
    CU_ASSERT(object_table_take(&table, 128, &out));
    CU_ASSERT(table.bytes < whole - 40 * sizeof(uint64_t[2]));
    CU_ASSERT(object_table_find(&table, 125, &out) && out.value == 125);
    object_table_reset(&table);
}

/* Each object is met once, also if some are removed when they are met. */
static void test_iteration(void)
{
    static uint64_t (*const kinds[])(uint64_t) = {sequential_id, sparse_id, falling_id};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        struct object_table table = {.count = 0};
        for (uint64_t i = 0; i < OBJECTS; i++)
            object_table_put(&table, &(struct live_object){kinds[k](i), i, 16, 1});
        for (unsigned round = 0; round < 3; round++) {
            size_t before = table.count, met = 0, taken = 0;
            uint64_t sum = 0, expected = 0;
            struct object_cursor cursor = {0};
            struct live_object object, out;
            for (uint64_t i = 0; i < OBJECTS; i++)
                expected += object_table_find(&table, kinds[k](i), &out) ? i : 0;
            for (; object_table_next(&table, &cursor, &object); met++) {
                sum += object.value;
                if ((object.value + round) % 3 == 0)
                    taken += object_table_take(&table, object.object, &out);
            }
            CU_ASSERT_EQUAL(met, before);
            CU_ASSERT_EQUAL(sum, expected);
            CU_ASSERT_EQUAL(table.count, before - taken);
        }
        CU_ASSERT_EQUAL(table.count, 0);
        object_table_reset(&table);
    }
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("live table", NULL, NULL);
    CU_add_test(suite, "put, find, take", test_put_find_take);
    CU_add_test(suite, "object 0", test_no_object);
    CU_add_test(suite, "large sizes", test_large_sizes);
    CU_add_test(suite, "random churn", test_churn);
    CU_add_test(suite, "memory", test_memory_follows_what_lives);
    CU_add_test(suite, "iteration", test_iteration);
}
