/* SPDX-License-Identifier: Apache-2.0 */
/* Full collections as Serial makes them, and the least heap against models with a limit. */
#include <CUnit/Basic.h>
#include <stdlib.h>

#include "analyses/simulate/simulation.h"
#include "tests/unit/run_suite.h"

#define KIB UINT64_C(1024)
#define MIB (UINT64_C(1) << 20)
#define YOUNG (320 * KIB) /* an eden of 192 KiB */
#define BLOCK (16 * KIB)
#define SMALL 1024u

static void put(struct simulation *simulation, uint8_t kind, uint64_t object, uint64_t size)
{
    struct trace_event event = {.kind = kind, .object = object, .size = size};
    struct step_error error;
    CU_ASSERT_FATAL(simulation_put(simulation, &event, 1, &error) == STEP_STATUS_OK);
}

static struct simulation *begin(const struct simulation_options *options)
{
    struct simulation *simulation = malloc(sizeof *simulation);
    CU_ASSERT_FATAL(simulation != NULL && simulation_init(simulation, options));
    return simulation;
}

static void end(struct simulation *simulation)
{
    simulation_reset(simulation);
    free(simulation);
}

static struct simulation_options limited(uint64_t young, uint64_t heap)
{
    struct simulation_options options = SIMULATION_OPTIONS_DEFAULT;
    options.young = (struct size_list){.sizes = {young}, .count = 1};
    options.heap = (struct size_list){.sizes = {heap}, .count = heap != 0};
    return options;
}

/* All that lives is promoted.  A queue of `living` blocks, so that the old generation fills with
 * dead ones; each full collection but the fourth leaves a twentieth of it dead. */
static void test_dead_left(void)
{
    const uint64_t living = 20, old = 640 * KIB;
    struct simulation_options options = limited(YOUNG, YOUNG + old);
    options.generations.max_tenuring = 0;
    struct simulation *simulation = begin(&options);
    struct generations *model = &simulation->lists[MODEL_YOUNG].items[0];
    uint64_t full = 0, seen = 0;
    for (uint64_t i = 1; model->full < 9 && i < 10000; i++) {
        put(simulation, EVENT_OBJECT_ALLOC, i, BLOCK);
        if (model->full > full) {
            full = model->full;
            uint64_t dead = full % 4 == 0 ? 0 : old / 20;
            seen++;
            CU_ASSERT_EQUAL(model->old, living * BLOCK + dead);
        }
        if (i > living)
            put(simulation, EVENT_OBJECT_FREE, i - living, 0);
    }
    CU_ASSERT_EQUAL(seen, 9);
    CU_ASSERT_FALSE(model->is_crowded);
    end(simulation);
}

/* More lives than the old generation holds: the rest stays in eden, and each collection is a full
 * one.  When most has died, young ones are enough. */
static void test_crowded(void)
{
    const uint64_t old = 320 * KIB, living = 22; /* 352 KiB */
    struct simulation_options options = limited(YOUNG, YOUNG + old);
    struct simulation *simulation = begin(&options);
    struct generations *model = &simulation->lists[MODEL_YOUNG].items[0];
    for (uint64_t i = 1; i <= living; i++)
        put(simulation, EVENT_OBJECT_ALLOC, i, BLOCK);
    for (uint64_t i = living + 1; i < living + 100; i++) {
        put(simulation, EVENT_OBJECT_ALLOC, i, BLOCK);
        put(simulation, EVENT_OBJECT_FREE, i, 0);
    }
    CU_ASSERT_TRUE(model->is_crowded);
    CU_ASSERT_FALSE(model->is_too_small);
    CU_ASSERT_EQUAL(model->old, old);
    CU_ASSERT_EQUAL(model->full_at % BLOCK, 0);
    uint64_t full = model->full;
    CU_ASSERT_TRUE(full >= 8); /* eden has room for 10 blocks each time */
    for (uint64_t i = 1; i <= living - 2; i++)
        put(simulation, EVENT_OBJECT_FREE, i, 0);
    for (uint64_t i = 1000; i < 1400; i++) {
        put(simulation, EVENT_OBJECT_ALLOC, i, BLOCK);
        put(simulation, EVENT_OBJECT_FREE, i, 0);
    }
    CU_ASSERT_FALSE(model->is_crowded);
    CU_ASSERT_TRUE(model->full <= full + 2);
    CU_ASSERT_TRUE(model->collections > 20);
    end(simulation);
}

static uint32_t seed = 1;

static uint32_t next(uint32_t most)
{
    seed = seed * 1103515245u + 12345u;
    return (seed >> 8) % most;
}

/* The same program for each limit: sizes up to eden, a window of objects that live. */
static void play(struct simulation *simulation, uint32_t largest)
{
    uint64_t window[64] = {0};
    seed = largest;
    for (uint64_t i = 1; i <= 6000; i++) {
        uint64_t *place = &window[next(64)];
        if (*place != 0)
            put(simulation, EVENT_OBJECT_FREE, *place, 0);
        put(simulation, EVENT_OBJECT_ALLOC, i, SMALL + next(largest));
        *place = i;
    }
    simulation_finish(simulation);
}

/* A model with the least heap has room for the program, and one of 2 MiB less has not. */
static void test_least_heap(void)
{
    for (uint32_t largest = 50000; largest < 400000; largest += 50000) {
        struct simulation_options options = limited(MIB, 0);
        struct simulation *simulation = begin(&options);
        play(simulation, largest);
        uint64_t least =
            simulation_least_heap(simulation, &simulation->lists[MODEL_YOUNG].items[0])->heap;
        CU_ASSERT_EQUAL(least % HEAP_ALIGNMENT, 0);
        CU_ASSERT_TRUE(least > simulation->peak_living);
        end(simulation);
        for (unsigned less = 0; less <= 1; less++) {
            options = limited(MIB, least - less * HEAP_ALIGNMENT);
            simulation = begin(&options);
            CU_ASSERT_PTR_NULL(
                simulation_least_heap(simulation, &simulation->lists[MODEL_YOUNG].items[0]));
            play(simulation, largest);
            CU_ASSERT_EQUAL(simulation->lists[MODEL_YOUNG].items[0].is_too_small, less == 1);
            end(simulation);
        }
    }
}

/* An object larger than eden needs a place in the old generation. */
static void test_large(void)
{
    struct generation_options options = SIMULATION_OPTIONS_DEFAULT.generations;
    struct least_heap least;
    least_heap_init(&least, MIB, &options); /* an eden of 896 KiB */
    CU_ASSERT_EQUAL(least.heap, 2 * MIB);
    least_heap_put(&least, 1920 * KIB, 896 * KIB);
    CU_ASSERT_EQUAL(least.heap, 2 * MIB);
    least_heap_put(&least, 1024 * KIB, 897 * KIB);
    CU_ASSERT_EQUAL(least.heap, 2 * MIB);
    least_heap_put(&least, 1025 * KIB, 897 * KIB);
    CU_ASSERT_EQUAL(least.heap, 4 * MIB);
    least_heap_put(&least, 3968 * KIB + 1, 1);
    CU_ASSERT_EQUAL(least.heap, 6 * MIB);
}

/* The same heap as of going from one to the next larger; and no more steps for the largest sizes.
 */
static void test_least_heap_steps(void)
{
    for (uint64_t ratio = 1; ratio <= 9; ratio += 4) {
        for (uint64_t young = 0; young <= 4 * MIB; young += 2 * MIB) {
            struct generation_options options = SIMULATION_OPTIONS_DEFAULT.generations;
            struct least_heap least, huge;
            options.survivor_ratio = ratio;
            for (uint64_t size = KIB; size < 100 * MIB; size += size / 3 + 12345) {
                uint64_t living = size + size / 2;
                least_heap_init(&least, young, &options);
                least_heap_put(&least, living, size);
                bool in_old = living <= least.old;
                CU_ASSERT_TRUE(in_old ||
                               (size <= least.in.eden && living <= least.old + least.in.eden));
                struct least_heap smaller;
                least_heap_init(&smaller, young, &options);
                if (least.heap == smaller.heap)
                    continue;
                uint64_t heap = least.heap - HEAP_ALIGNMENT;
                uint64_t third = heap / 3;
                uint64_t part = young != 0 ? young : third - third % SPACE_ALIGNMENT;
                uint64_t eden = young_spaces_of(part, &options).eden, old = heap - part;
                CU_ASSERT_FALSE(living <= old || (size <= eden && living <= old + eden));
            }
            least_heap_init(&huge, young, &options);
            least_heap_put(&huge, UINT64_C(1) << 62, UINT64_C(1) << 62);
            CU_ASSERT_TRUE(huge.heap >= UINT64_C(1) << 62);
            CU_ASSERT_TRUE(huge.old >= UINT64_C(1) << 62);
        }
    }
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("simulation", NULL, NULL);
    CU_add_test(suite, "dead objects that stay", test_dead_left);
    CU_add_test(suite, "a crowded heap", test_crowded);
    CU_add_test(suite, "least heap", test_least_heap);
    CU_add_test(suite, "large objects", test_large);
    CU_add_test(suite, "least heap of any size", test_least_heap_steps);
}
