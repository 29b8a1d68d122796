/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of the heaps that a program makes, and whose block each is. */
#include <CUnit/Basic.h>
#include <pthread.h>
#include <stdlib.h>

#include "malloc-recorder/program_heaps.h"
#include "malloc-recorder/recorder.h"
#include "tests/unit/run_suite.h"

/* What a fork or the end of a recording forgets stays: another thread may use it. */
const char *__asan_default_options(void);
__attribute__((visibility("default"))) const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}

/* All of it runs in MODE_OWN, and no call leaves that mode to its caller. */
static _Atomic int owned;

void own_mode_enter(struct own_mode *own)
{
    (void) own;
    owned++;
}

void own_mode_leave(const struct own_mode *own)
{
    (void) own;
    owned--;
}

static const void *block(uintptr_t number)
{
    return (const void *) (number * 16);
}

/* A number is never used again, also where the key is. */
static void test_numbers(void)
{
    bool is_new = false;
    program_heaps_reset();
    CU_ASSERT_EQUAL(heap_number_find(1000), 0);
    uint64_t first = heap_number_make(1000, &is_new);
    CU_ASSERT(first != 0 && is_new);
    CU_ASSERT_EQUAL(heap_number_make(1000, &is_new), first);
    CU_ASSERT_FALSE(is_new);
    CU_ASSERT_EQUAL(heap_number_find(1000), first);
    uint64_t second = heap_number_make(UINTPTR_MAX, &is_new);
    CU_ASSERT(second != first && is_new);
    heap_number_end(1000);
    CU_ASSERT_EQUAL(heap_number_find(1000), 0);
    CU_ASSERT_EQUAL(heap_number_find(UINTPTR_MAX), second);
    uint64_t third = heap_number_make(1000, &is_new);
    CU_ASSERT(is_new && third != first && third != second);
    heap_number_end(77); /* no heap */
    CU_ASSERT_EQUAL(heap_number_find(1000), third);
}

static void test_blocks(void)
{
    program_heaps_reset();
    CU_ASSERT_EQUAL(heap_blocks_take(block(1)), 0);
    heap_blocks_put(block(1), 5);
    heap_blocks_put(block(2), 6);
    CU_ASSERT_EQUAL(heap_blocks_take(block(3)), 0);
    CU_ASSERT_EQUAL(heap_blocks_take(block(1)), 5);
    CU_ASSERT_EQUAL(heap_blocks_take(block(1)), 0); /* it was removed */
    heap_blocks_put(block(2), 7);                   /* the address is used again */
    CU_ASSERT_EQUAL(heap_blocks_take(block(2)), 7);
    CU_ASSERT_EQUAL(heap_blocks_take(block(2)), 0);
    CU_ASSERT_EQUAL(heap_blocks_count, 0);
}

/* With a heap all its blocks go, and no other's. */
static void test_drop(void)
{
    unsigned wrong = 0;
    program_heaps_reset();
    for (uintptr_t i = 1; i <= 30000; i++)
        heap_blocks_put(block(i), i % 3 + 1);
    CU_ASSERT_EQUAL(heap_blocks_count, 30000);
    heap_blocks_drop(2);
    heap_blocks_drop(9);
    for (uintptr_t i = 1; i <= 30000; i++)
        wrong += heap_blocks_take(block(i)) != (i % 3 == 1 ? 0 : i % 3 + 1);
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_EQUAL(heap_blocks_count, 0);
}

/* Blocks that are put and taken in any order, against a table. */
static void test_any_order(void)
{
    enum { BLOCKS = 3000 };
    static uint64_t heaps[BLOCKS];
    uint64_t state = 1, live = 0;
    unsigned wrong = 0;
    program_heaps_reset();
    for (int i = 0; i < 100000; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
        uintptr_t at = (uintptr_t) (state >> 33) % BLOCKS;
        if ((state >> 20 & 1) != 0) {
            live += heaps[at] == 0;
            heaps[at] = state >> 50 | 1;
            heap_blocks_put(block(at + 1), heaps[at]);
        } else {
            wrong += heap_blocks_take(block(at + 1)) != heaps[at];
            live -= heaps[at] != 0;
            heaps[at] = 0;
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_EQUAL(heap_blocks_count, live);
}

static void *put_and_take(void *data)
{
    uintptr_t first = *(uintptr_t *) data;
    unsigned wrong = 0;
    for (uintptr_t i = 0; i < 3000; i++)
        heap_blocks_put(block(first + i), first);
    for (uintptr_t i = 0; i < 3000; i++)
        wrong += heap_blocks_take(block(first + i)) != first;
    *(uintptr_t *) data = wrong;
    return NULL;
}

static void test_threads(void)
{
    pthread_t threads[4];
    uintptr_t firsts[4] = {1, 10001, 20001, 30001};
    program_heaps_reset();
    for (int i = 0; i < 4; i++)
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, put_and_take, &firsts[i]), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    CU_ASSERT_EQUAL(firsts[0] + firsts[1] + firsts[2] + firsts[3], 0);
    CU_ASSERT_EQUAL(heap_blocks_count, 0);
}

/* A forked child keeps the heaps, unless another thread used them at that moment. */
static void test_adopt(void)
{
    bool is_new;
    program_heaps_reset();
    uint64_t number = heap_number_make(8, &is_new);
    CU_ASSERT_TRUE(program_heaps_adopt());
    CU_ASSERT_EQUAL(heap_number_find(8), number);
    program_heaps_reset();
    CU_ASSERT_EQUAL(heap_number_find(8), 0);
    CU_ASSERT_EQUAL(owned, 0);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("heaps of programs", NULL, NULL);
    CU_add_test(suite, "numbers", test_numbers);
    CU_add_test(suite, "blocks", test_blocks);
    CU_add_test(suite, "heaps that go", test_drop);
    CU_add_test(suite, "any order", test_any_order);
    CU_add_test(suite, "threads", test_threads);
    CU_add_test(suite, "forks", test_adopt);
}
