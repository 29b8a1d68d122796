/* SPDX-License-Identifier: Apache-2.0 */
/* The table of known stacks: what is found is what was added, whoever else writes. */
#include <CUnit/Basic.h>
#include <pthread.h>
#include <stdlib.h>

#include "agent/stacks/stack_known.h"
#include "format/core/hash.h"
#include "tests/unit/run_suite.h"

#define THREADS 3u

static struct stack_known *known;

static struct stack_key key_of(uint32_t number)
{
    uint64_t low = step_hash_join(1, number);
    return (struct stack_key){.low = low, .high = step_hash_join(low, ~(uint64_t) number)};
}

static void test_few(void)
{
    uint32_t found = 0;
    known = stack_known_create();
    CU_ASSERT_PTR_NOT_NULL_FATAL(known);
    for (uint32_t number = 1; number <= 1000; number++) {
        struct stack_key key = key_of(number);
        CU_ASSERT_FALSE(stack_known_find(known, &key, &found));
        stack_known_add(known, &key, number);
        CU_ASSERT_TRUE(stack_known_find(known, &key, &found) && found == number);
    }
    struct stack_key half = key_of(7);
    half.high ^= UINT64_C(1) << 40;
    CU_ASSERT_FALSE(stack_known_find(known, &half, &found));
    half = key_of(7);
    half.low ^= UINT64_C(1) << 60;
    CU_ASSERT_FALSE(stack_known_find(known, &half, &found));
    /* 0 is no stack. */
    half = key_of(5000);
    stack_known_add(known, &half, 0);
    CU_ASSERT_FALSE(stack_known_find(known, &half, &found));
    stack_known_destroy(known);
    stack_known_destroy(NULL);
}

/* More than there is room for: most are found, and none wrongly. */
static void test_many(void)
{
    const uint32_t count = 3000000;
    uint32_t right = 0, wrong = 0, found;
    known = stack_known_create();
    CU_ASSERT_PTR_NOT_NULL_FATAL(known);
    for (uint32_t number = 1; number <= count; number++) {
        struct stack_key key = key_of(number);
        stack_known_add(known, &key, number);
    }
    for (uint32_t number = 1; number <= count; number++) {
        struct stack_key key = key_of(number);
        if (stack_known_find(known, &key, &found))
            found == number ? right++ : wrong++;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_TRUE(right > 1500000);
    stack_known_destroy(known);
}

/* All threads write and read the same keys, in orders of their own. */
static void *write_and_read(void *argument)
{
    const uint32_t count = 200000;
    uintptr_t wrong = 0;
    uint32_t step = 2 * (uint32_t) (uintptr_t) argument + 1;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = 1 + (i * step) % count, found;
        struct stack_key key = key_of(number);
        if (!stack_known_find(known, &key, &found))
            stack_known_add(known, &key, number);
        else if (found != number)
            wrong++;
    }
    return (void *) wrong;
}

static void test_threads(void)
{
    pthread_t threads[THREADS];
    known = stack_known_create();
    CU_ASSERT_PTR_NOT_NULL_FATAL(known);
    for (uintptr_t i = 0; i < THREADS; i++)
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, write_and_read, (void *) i), 0);
    for (size_t i = 0; i < THREADS; i++) {
        void *wrong = NULL;
        pthread_join(threads[i], &wrong);
        CU_ASSERT_PTR_NULL(wrong);
    }
    stack_known_destroy(known);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("stack_known", NULL, NULL);
    CU_ADD_TEST(suite, test_few);
    CU_ADD_TEST(suite, test_many);
    CU_ADD_TEST(suite, test_threads);
}
