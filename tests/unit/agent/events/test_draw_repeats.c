/* SPDX-License-Identifier: Apache-2.0 */
/* Samples whose distances were drawn at the same place of HotSpot's sequence are counted as alike.
 */
#include <CUnit/Basic.h>

#include "agent/events/draw_repeats.h"
#include "tests/unit/run_suite.h"

#define UNIT 1000000000.0

static double share(void)
{
    return (double) draw_repeats_share(DRAWS_OF_FILE) / UNIT;
}

static void test_no_thread_begins(void)
{
    draw_repeats_begin(false);
    for (int i = 0; i < 100000; i++)
        draw_repeats_count(draw_repeats_next(), false);
    CU_ASSERT_EQUAL(draw_repeats_share(DRAWS_OF_FILE), 0);
}

/* One thread goes on after the last one began: all its draws differ, and few share a slot. */
static void test_a_thread_has_begun(void)
{
    static const char place;
    draw_repeats_begin(false);
    draw_repeats_thread(&place);
    for (int i = 0; i < 100000; i++)
        draw_repeats_count(draw_repeats_next(), false);
    CU_ASSERT(share() < 1e-5);
}

/* 100 threads one after the other at one place, each with one sample: they are worth one. */
static void test_threads_at_one_place(void)
{
    static const char place;
    draw_repeats_begin(false);
    for (int i = 0; i < 100; i++)
        draw_repeats_count(draw_repeats_thread(&place), true);
    CU_ASSERT_DOUBLE_EQUAL(share(), 0.99, 1e-4);
}

/* Threads at two places set back the sequence of another: its 1,000 samples are worth ten. The few
 * samples in threads that differ do not hide them. */
static void test_sequence_set_back(void)
{
    static const char places[2], others[50];
    draw_repeats_begin(false);
    for (int i = 0; i < 200; i++) {
        draw_repeats_thread(&places[i % 2]);
        for (int j = 0; j < 5; j++)
            draw_repeats_count(draw_repeats_next(), false);
    }
    CU_ASSERT_DOUBLE_EQUAL(share(), 0.1 - 0.001, 1e-4);
    for (int i = 0; i < 50; i++)
        draw_repeats_count(draw_repeats_thread(&others[i]), true);
    CU_ASSERT_DOUBLE_EQUAL(share(), 0.1 - 0.001, 1e-4);
    draw_repeats_begin(false);
    CU_ASSERT_EQUAL(draw_repeats_share(DRAWS_OF_FILE), 0);
}

/* Two files of a ring have one sample each of the same draw: only both together repeat it. */
static void test_ring(void)
{
    static const char place;
    draw_repeats_begin(false);
    draw_repeats_count(draw_repeats_thread(&place), true);
    draw_repeats_begin(true);
    draw_repeats_count(draw_repeats_thread(&place), true);
    CU_ASSERT_EQUAL(draw_repeats_share(DRAWS_OF_FILE), 0);
    CU_ASSERT_DOUBLE_EQUAL((double) draw_repeats_share(DRAWS_OF_RING) / UNIT, 0.5, 1e-4);
    draw_repeats_begin(false);
    CU_ASSERT_EQUAL(draw_repeats_share(DRAWS_OF_RING), 0);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("draw_repeats", NULL, NULL);
    CU_add_test(suite, "no thread begins", test_no_thread_begins);
    CU_add_test(suite, "a thread has begun", test_a_thread_has_begun);
    CU_add_test(suite, "threads at one place", test_threads_at_one_place);
    CU_add_test(suite, "sequence set back", test_sequence_set_back);
    CU_add_test(suite, "a ring of files", test_ring);
}
