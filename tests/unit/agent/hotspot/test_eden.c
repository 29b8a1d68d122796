/* SPDX-License-Identifier: Apache-2.0 */
/* What is new in the spaces of a heap, and what threads have allocated: a heap and threads of our
 * own, with a layout of their own. */
#include <CUnit/Basic.h>
#include <stddef.h>
#include <string.h>

#include "agent/base/tracer.h"
#include "agent/hotspot/eden_layout.h"
#include "agent/hotspot/eden_spaces.h"
#include "agent/hotspot/eden_threads.h"
#include "tests/unit/run_suite.h"

struct tracer tracer; /* the agent's, which this test does not start */

enum { FREE_TAG, EDEN_TAG = 2, HUMONGOUS_TAG = 4, REGIONS = 6, REGION_BYTES = 4096 };

struct region {
    uintptr_t bottom, end, top;
    uint64_t tag;
};

static struct region regions[REGIONS];
static struct region *table[REGIONS];
static struct {
    struct region **base;
    size_t length;
    uint32_t collections;
} heap;
static uintptr_t heap_at;
static const struct eden_piece *pieces;
static size_t piece_count;

static void make_regions(void)
{
    heap.base = table;
    heap.length = REGIONS;
    heap_at = (uintptr_t) &heap;
    for (size_t i = 0; i < REGIONS; i++) {
        uintptr_t bottom = 0x10000 + i * REGION_BYTES;
        table[i] = i == 5 ? NULL : &regions[i]; /* one was never committed */
        regions[i] = (struct region){bottom, bottom + REGION_BYTES, bottom, FREE_TAG};
    }
    eden_layout = (struct eden_layout){.heap = EDEN_G1,
                                       .collected_heap = &heap_at,
                                       .collections = offsetof(__typeof__(heap), collections),
                                       .table_base = offsetof(__typeof__(heap), base),
                                       .table_length = offsetof(__typeof__(heap), length),
                                       .region_bottom = offsetof(struct region, bottom),
                                       .region_top = offsetof(struct region, top),
                                       .region_end = offsetof(struct region, end),
                                       .region_tag = offsetof(struct region, tag),
                                       .eden_tag = EDEN_TAG,
                                       .humongous_tag = HUMONGOUS_TAG};
    eden_spaces_begin();
}

static void fill(size_t i, uint64_t tag, uintptr_t bytes)
{
    regions[i].tag = tag;
    regions[i].top = regions[i].bottom + bytes;
}

/* Returns the bytes of the pieces of eden; humongous ones count as one each. */
static uintptr_t list(void)
{
    uintptr_t sum = 0;
    CU_ASSERT_TRUE_FATAL(eden_spaces_list(&pieces, &piece_count));
    for (size_t i = 0; i < piece_count; i++)
        sum += pieces[i].kind == EDEN_ONE ? 1 : pieces[i].span.to - pieces[i].span.from;
    return sum;
}

static void look(struct eden_span *rests, size_t count)
{
    CU_ASSERT_TRUE(eden_spaces_looked(&(struct eden_threads){.rests = rests, .rest_count = count}));
}

static void test_pause_without_collection(void)
{
    make_regions();
    fill(0, EDEN_TAG, 1000);
    CU_ASSERT_TRUE(eden_spaces_pause_begins());
    CU_ASSERT_EQUAL(list(), 1000);
    struct eden_span rest = {regions[0].bottom + 800, regions[0].bottom + 1000};
    look(&rest, 1);
    CU_ASSERT_FALSE(eden_spaces_pause_ends(true, false)); /* though the JVM has counted it */
    fill(0, EDEN_TAG, 1500);
    fill(1, EDEN_TAG, 300);
    CU_ASSERT_EQUAL(list(), 200 + 500 + 300); /* the rest that was open, and what is behind */
    CU_ASSERT_EQUAL(pieces[0].span.from, rest.from);
}

static void test_collection(void)
{
    make_regions();
    fill(0, EDEN_TAG, 1000);
    fill(1, EDEN_TAG, 1000);
    CU_ASSERT_TRUE(eden_spaces_pause_begins());
    CU_ASSERT_EQUAL(list(), 2000);
    look(NULL, 0);
    fill(0, FREE_TAG, 0);
    fill(1, EDEN_TAG, 64); /* allocated at the pause's end */
    CU_ASSERT_TRUE(eden_spaces_pause_ends(true, false));
    CU_ASSERT_EQUAL(list(), 64);
}

static void test_humongous(void)
{
    make_regions();
    fill(0, EDEN_TAG, 100);
    fill(2, HUMONGOUS_TAG, REGION_BYTES);
    CU_ASSERT_TRUE(eden_spaces_pause_begins());
    CU_ASSERT_EQUAL(list(), 101);
    look(NULL, 0);
    fill(0, FREE_TAG, 0);
    fill(3, HUMONGOUS_TAG, REGION_BYTES); /* new */
    CU_ASSERT_TRUE(eden_spaces_pause_ends(true, false));
    CU_ASSERT_EQUAL(list(), 1);
    look(NULL, 0);
    CU_ASSERT_EQUAL(list(), 0);
    CU_ASSERT_TRUE(eden_spaces_pause_begins());
    fill(2, FREE_TAG, 0);
    fill(4, HUMONGOUS_TAG, REGION_BYTES); /* moved, or new: nobody knows */
    CU_ASSERT_FALSE(eden_spaces_pause_ends(true, false));
    CU_ASSERT_EQUAL(list(), 0);
}

static void test_left_out(void)
{
    make_regions();
    fill(0, EDEN_TAG, 1000);
    fill(1, HUMONGOUS_TAG, REGION_BYTES);
    CU_ASSERT_TRUE(eden_spaces_pause_begins());
    fill(0, FREE_TAG, 0);
    CU_ASSERT_TRUE(eden_spaces_pause_ends(true, true));
    CU_ASSERT_EQUAL(list(), 0);
}

/* ---- threads ---- */

struct thread {
    uintptr_t start, top, end, last;
    uint32_t refills, waste;
    uint64_t bytes;
    uintptr_t object; /* a handle: the address of the reference */
};

static struct {
    int64_t id;
} objects[3];
static uintptr_t handles[3];
static struct thread threads[3], *listed[3];
static struct {
    uint32_t length;
    struct thread **threads;
} thread_list;
static uintptr_t thread_list_at;

static void make_threads(void)
{
    memset(threads, 0, sizeof threads);
    thread_list.threads = listed;
    thread_list.length = 2;
    thread_list_at = (uintptr_t) &thread_list;
    for (size_t i = 0; i < 3; i++) {
        objects[i].id = (int64_t) i + 1;
        handles[i] = (uintptr_t) &objects[i];
        threads[i].object = (uintptr_t) &handles[i];
        listed[i] = &threads[i];
    }
    eden_layout = (struct eden_layout){.thread_list = &thread_list_at,
                                       .list_length = offsetof(__typeof__(thread_list), length),
                                       .list_threads = offsetof(__typeof__(thread_list), threads),
                                       .tlab_start = offsetof(struct thread, start),
                                       .tlab_top = offsetof(struct thread, top),
                                       .tlab_end = offsetof(struct thread, end),
                                       .tlab_last = offsetof(struct thread, last),
                                       .tlab_refills = offsetof(struct thread, refills),
                                       .tlab_waste = offsetof(struct thread, waste),
                                       .thread_bytes = offsetof(struct thread, bytes),
                                       .thread_object = offsetof(struct thread, object),
                                       .reserve_bytes = 16};
    eden_threads_begin();
}

static void test_counters(void)
{
    struct eden_threads found;
    make_threads();
    threads[0] = (struct thread){.start = 1000,
                                 .top = 1100,
                                 .end = 1500, /* where a sample is due */
                                 .last = 2000,
                                 .refills = 3,
                                 .waste = 10,
                                 .bytes = 5000,
                                 .object = threads[0].object};
    threads[1].bytes = 70;
    CU_ASSERT_TRUE_FATAL(eden_threads_read(&found, true));
    CU_ASSERT_EQUAL(found.bytes, 5000 + 100 + 70);
    CU_ASSERT(found.rest_count == 1 && found.rests[0].from == 1100 && found.rests[0].to == 2016);
    CU_ASSERT(found.fillers == 2 && found.filler_bytes == 80 && found.fillers_are_known);
    threads[0].refills = 4;
    threads[0].waste = 13;
    threads[0].bytes += 900;
    CU_ASSERT_TRUE_FATAL(eden_threads_read(&found, false));
    CU_ASSERT(found.fillers == 1 && found.filler_bytes == 24 && found.fillers_are_known);
}

/* A thread that ended without a word, and another one at its place. */
static void test_vanished(void)
{
    struct eden_threads found;
    make_threads();
    threads[0].bytes = 1000;
    threads[1].bytes = 70;
    CU_ASSERT_TRUE_FATAL(eden_threads_read(&found, true));
    objects[1].id = 17;
    threads[1].bytes = 5;
    CU_ASSERT_TRUE_FATAL(eden_threads_read(&found, true));
    CU_ASSERT_EQUAL(found.bytes, 1000 + 70 + 5);
    CU_ASSERT_FALSE(found.fillers_are_known);
    CU_ASSERT_TRUE_FATAL(eden_threads_read(&found, true));
    thread_list.length = 1;
    CU_ASSERT_TRUE_FATAL(eden_threads_read(&found, true));
    CU_ASSERT_EQUAL(found.bytes, 1075);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("eden", NULL, NULL);
    CU_ADD_TEST(suite, test_pause_without_collection);
    CU_ADD_TEST(suite, test_collection);
    CU_ADD_TEST(suite, test_humongous);
    CU_ADD_TEST(suite, test_left_out);
    CU_ADD_TEST(suite, test_counters);
    CU_ADD_TEST(suite, test_vanished);
}
