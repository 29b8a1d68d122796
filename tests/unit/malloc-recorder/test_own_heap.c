/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder's own memory: blocks are aligned, keep what is in them, and never overlap. */
#include <CUnit/Basic.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "malloc-recorder/own_heap.h"
#include "tests/unit/run_suite.h"

#define BLOCKS 300u
#define ROUNDS 40000u
#define THREADS 4u

/* A block is filled with a byte of its own. */
struct block {
    uint8_t *memory;
    size_t size;
    uint8_t fill;
};

static bool is_whole(const struct block *block)
{
    for (size_t i = 0; i < block->size; i += block->size / 16 + 1)
        if (block->memory[i] != block->fill)
            return false;
    return block->size == 0 || block->memory[block->size - 1] == block->fill;
}

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static bool renew(struct block *block, uint32_t *state)
{
    size_t size = next_random(state) % (next_random(state) % 64 == 0 ? 3000000 : 2000);
    size_t alignment = (size_t) 16 << next_random(state) % 8;
    bool is_good = block->memory == NULL || is_whole(block);
    if (block->memory != NULL && next_random(state) % 2 == 0) {
        size_t kept = block->size < size ? block->size : size;
        uint8_t *moved = own_heap_resize(block->memory, size);
        struct block part = {moved, kept, block->fill};
        is_good = is_good && moved != NULL && is_whole(&part);
        block->memory = moved;
    } else {
        own_heap_free(block->memory);
        block->memory = own_heap_alloc(size, alignment);
        is_good = is_good && (uintptr_t) block->memory % alignment == 0;
    }
    is_good = is_good && own_heap_has(block->memory) && own_heap_size(block->memory) == size;
    block->size = size;
    block->fill = (uint8_t) next_random(state);
    memset(block->memory, block->fill, size);
    return is_good;
}

static void *churn(void *argument)
{
    static _Thread_local struct block blocks[BLOCKS];
    uint32_t state = (uint32_t) (uintptr_t) argument;
    uintptr_t bad = 0;
    for (unsigned i = 0; i < ROUNDS; i++)
        bad += !renew(&blocks[next_random(&state) % BLOCKS], &state);
    for (unsigned i = 0; i < BLOCKS; i++)
        own_heap_free(blocks[i].memory);
    return (void *) bad;
}

static void test_churn(void)
{
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, churn, (void *) (i + 1)), 0);
    for (unsigned i = 0; i < THREADS; i++) {
        void *bad = NULL;
        pthread_join(threads[i], &bad);
        CU_ASSERT_PTR_NULL(bad);
    }
}

static void test_edges(void)
{
    uint8_t *zeros = own_heap_calloc(1000, 10);
    uint8_t any = 0;
    for (size_t i = 0; i < 10000; i++)
        any |= zeros[i];
    CU_ASSERT_EQUAL(any, 0);
    own_heap_free(zeros);
    own_heap_free(NULL);
    CU_ASSERT_PTR_NULL(own_heap_calloc(SIZE_MAX / 2, 3));
    CU_ASSERT_PTR_NULL(own_heap_alloc(SIZE_MAX, 0));
    CU_ASSERT_PTR_NOT_NULL(own_heap_alloc(0, 0));
    CU_ASSERT_FALSE(own_heap_has(&any));
    CU_ASSERT_FALSE(own_heap_has(NULL));
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("own_heap", NULL, NULL);
    CU_add_test(suite, "churn", test_churn);
    CU_add_test(suite, "edges", test_edges);
}
