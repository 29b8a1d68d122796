/* SPDX-License-Identifier: Apache-2.0 */
/* Which pauses were one young collection, and where it has put what survived: heaps of our own. And
 * ages, by words of headers. */
#include <CUnit/Basic.h>
#include <stddef.h>
#include <string.h>

#include "agent/base/java_versions.h"
#include "agent/base/tracer.h"
#include "agent/hotspot/eden_layout.h"
#include "agent/hotspot/eden_survivors.h"
#include "agent/hotspot/object_ages.h"
#include "tests/unit/run_suite.h"

struct tracer tracer; /* the agent's, which this test does not start */

enum { FREE_TAG, EDEN_TAG = 2, SURVIVOR_TAG = 3, HUMONGOUS_TAG = 4, OLD_TAG = 16, REGIONS = 6 };

struct region {
    uintptr_t bottom, end, top;
    uint64_t tag;
};

struct space {
    uintptr_t bottom, top;
};

static struct region regions[REGIONS];
static struct region *table[REGIONS];
static struct {
    struct region **base;
    size_t length;
} heap;
static uintptr_t heap_at;
static struct space eden, first, second, old;
static struct {
    struct space *eden, *from;
} young;
static struct {
    struct space *space;
} tenured;
static int64_t counters[2];
static struct eden_survivors found;

static void make_regions(void)
{
    heap.base = table;
    heap.length = REGIONS;
    heap_at = (uintptr_t) &heap;
    for (size_t i = 0; i < REGIONS; i++) {
        uintptr_t bottom = 0x10000 + i * 4096;
        table[i] = i == 5 ? NULL : &regions[i]; /* one was never committed */
        regions[i] = (struct region){bottom, bottom + 4096, bottom, FREE_TAG};
    }
    eden_layout = (struct eden_layout){.heap = EDEN_G1,
                                       .collected_heap = &heap_at,
                                       .table_base = offsetof(__typeof__(heap), base),
                                       .table_length = offsetof(__typeof__(heap), length),
                                       .region_bottom = offsetof(struct region, bottom),
                                       .region_top = offsetof(struct region, top),
                                       .region_end = offsetof(struct region, end),
                                       .region_tag = offsetof(struct region, tag),
                                       .eden_tag = EDEN_TAG,
                                       .humongous_tag = HUMONGOUS_TAG,
                                       .survivor_tag = SURVIVOR_TAG,
                                       .free_tag = FREE_TAG,
                                       .old_mask = OLD_TAG};
    eden_survivors_use(&counters[0], &counters[1]);
    eden_survivors_begin();
}

static void fill(size_t i, uint64_t tag, uintptr_t bytes)
{
    regions[i].tag = tag;
    regions[i].top = regions[i].bottom + bytes;
}

/* Eden in region 0, survivors in 1, an old region 2 with 1000 bytes. */
static void begin_pause(void)
{
    fill(0, EDEN_TAG, 4096);
    fill(1, SURVIVOR_TAG, 500);
    fill(2, OLD_TAG, 1000);
    fill(3, FREE_TAG, 0);
    fill(4, FREE_TAG, 0);
    CU_ASSERT_TRUE_FATAL(eden_survivors_pause_begins());
    counters[0]++;
}

static void test_young_regions(void)
{
    make_regions();
    begin_pause();
    fill(0, FREE_TAG, 0);
    fill(1, EDEN_TAG, 64); /* used again at once, for eden */
    fill(2, OLD_TAG, 1300);
    fill(3, SURVIVOR_TAG, 700);
    CU_ASSERT_FALSE(eden_survivors_are_dated());
    CU_ASSERT_TRUE_FATAL(eden_survivors_pause_ends(&found));
    CU_ASSERT_TRUE(eden_survivors_are_dated());
    CU_ASSERT(found.count == 2 && !found.is_mixed);
    CU_ASSERT(found.pieces[0].is_old && found.pieces[0].span.from == regions[2].bottom + 1000 &&
              found.pieces[0].span.to == regions[2].bottom + 1300);
    CU_ASSERT(!found.pieces[1].is_old && found.pieces[1].span.from == regions[3].bottom &&
              found.pieces[1].span.to == regions[3].bottom + 700);
}

static void test_mixed_regions(void)
{
    make_regions();
    begin_pause();
    fill(0, FREE_TAG, 0);
    fill(1, FREE_TAG, 0);
    fill(2, FREE_TAG, 0); /* old objects were moved, too */
    fill(3, OLD_TAG, 700);
    CU_ASSERT_TRUE(eden_survivors_pause_ends(&found));
    CU_ASSERT(found.count == 1 && found.pieces[0].is_old && found.is_mixed);
    begin_pause();
    fill(0, FREE_TAG, 0);
    fill(1, FREE_TAG, 0);
    fill(3, OLD_TAG, 4096);
    fill(4, OLD_TAG, 4096);
    table[5] = &regions[5];
    fill(5, SURVIVOR_TAG, 10); /* no region was left */
    CU_ASSERT_TRUE(eden_survivors_pause_ends(&found));
    CU_ASSERT(found.count == 3 && found.is_mixed);
}

static void test_failed_evacuation(void)
{
    make_regions();
    begin_pause();
    fill(0, OLD_TAG, 4096); /* its objects stayed */
    fill(1, FREE_TAG, 0);
    fill(3, SURVIVOR_TAG, 700);
    CU_ASSERT_FALSE(eden_survivors_pause_ends(&found));
    CU_ASSERT_FALSE(eden_survivors_are_dated()); /* there are survivors whose age says nothing */
    begin_pause();
    fill(0, FREE_TAG, 0);
    fill(1, SURVIVOR_TAG, 600);
    CU_ASSERT_FALSE(eden_survivors_pause_ends(&found));
}

static void test_other_pauses(void)
{
    make_regions();
    begin_pause();
    counters[0]--; /* of marking */
    CU_ASSERT_FALSE(eden_survivors_pause_ends(&found));
    CU_ASSERT_FALSE(eden_survivors_are_dated());
    begin_pause();
    counters[1]++; /* a full one besides */
    fill(0, FREE_TAG, 0);
    fill(1, FREE_TAG, 0);
    CU_ASSERT_FALSE(eden_survivors_pause_ends(&found));
    CU_ASSERT_TRUE(eden_survivors_are_dated()); /* nothing is young any more */
}

/* ---- Serial and Parallel ---- */

static void make_spaces(void)
{
    eden = (struct space){0x1000, 0x1800};
    first = (struct space){0x2000, 0x2100};
    second = (struct space){0x3000, 0x3000};
    old = (struct space){0x4000, 0x4200};
    young.eden = &eden;
    young.from = &first;
    tenured.space = &old;
    eden_layout = (struct eden_layout){.heap = EDEN_SERIAL,
                                       .young = (uintptr_t) &young,
                                       .old = (uintptr_t) &tenured,
                                       .young_eden = offsetof(__typeof__(young), eden),
                                       .young_from = offsetof(__typeof__(young), from),
                                       .old_space = offsetof(__typeof__(tenured), space),
                                       .space_bottom = offsetof(struct space, bottom),
                                       .space_top = offsetof(struct space, top)};
    eden_survivors_use(&counters[0], &counters[1]);
    eden_survivors_begin();
    CU_ASSERT_TRUE_FATAL(eden_survivors_pause_begins());
    counters[0]++;
    young.from = &second;
    eden.top = eden.bottom + 64; /* what the collection was for */
    first.top = first.bottom;
    second.top = second.bottom + 80;
    old.top += 48;
}

static bool ends(void)
{
    return eden_survivors_pause_ends(&found);
}

static void test_spaces(void)
{
    tracer.java_major = JAVA_OLDEST;
    make_spaces();
    CU_ASSERT_TRUE_FATAL(ends());
    CU_ASSERT(found.count == 2 && !found.is_mixed);
    CU_ASSERT(!found.pieces[0].is_old && found.pieces[0].span.from == 0x3000 &&
              found.pieces[0].span.to == 0x3050);
    CU_ASSERT(found.pieces[1].is_old && found.pieces[1].span.from == 0x4200 &&
              found.pieces[1].span.to == 0x4230);
    make_spaces();
    young.from = &first; /* objects stayed where they were */
    CU_ASSERT_FALSE(ends());
    make_spaces();
    first.top += 16;
    CU_ASSERT_FALSE(ends());
    make_spaces();
    eden.top = 0x1800;
    CU_ASSERT_FALSE(ends());
    make_spaces();
    old.top -= 64;
    CU_ASSERT_FALSE(ends());
    make_spaces();
    counters[0]++;
    CU_ASSERT_FALSE(ends());
    CU_ASSERT_FALSE(eden_survivors_are_dated());
}

/* Where the pause ends with the allocation, an empty eden means that it is elsewhere. */
static void test_empty_eden(void)
{
    tracer.java_major = JAVA_OLDEST;
    make_spaces();
    eden.top = eden.bottom;
    CU_ASSERT_FALSE(ends());
    tracer.java_major = JAVA_ANNOUNCES_ALL;
    make_spaces();
    eden.top = eden.bottom;
    CU_ASSERT_TRUE(ends());
}

/* ---- ages ---- */

static void test_ages(void)
{
    uint64_t monitor[2] __attribute__((aligned(8))) = {0, UINT64_C(0xabcd00) | 9u << 3 | 1};
    uint64_t lock __attribute__((aligned(8))) = 7u << 3 | 1;
    object_ages = (struct object_ages){.shift = 3,
                                       .locks_are_addresses = true,
                                       .monitors_are_addresses = true,
                                       .monitor_word = sizeof(uint64_t)};
    CU_ASSERT_EQUAL(object_age_of_word(UINT64_C(0x123456789a00) | 5u << 3 | 1), 5);
    CU_ASSERT_EQUAL(object_age_of_word(15u << 3 | 1), 15);
    CU_ASSERT_EQUAL(object_age_of_word((uint64_t) (uintptr_t) &lock), 7);
    CU_ASSERT_EQUAL(object_age_of_word((uint64_t) (uintptr_t) monitor | 2), 9);
    CU_ASSERT_EQUAL(object_age_of_word(3), OBJECT_AGES); /* being moved */
    CU_ASSERT_EQUAL(object_age_of_word(0), OBJECT_AGES); /* nothing is there */
    lock |= 2;
    CU_ASSERT_EQUAL(object_age_of_word((uint64_t) (uintptr_t) &lock), OBJECT_AGES);
    object_ages.locks_are_addresses = object_ages.monitors_are_addresses = false;
    CU_ASSERT_EQUAL(object_age_of_word(4u << 3), 4);
    CU_ASSERT_EQUAL(object_age_of_word(6u << 3 | 2), 6);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("survivors", NULL, NULL);
    CU_ADD_TEST(suite, test_young_regions);
    CU_ADD_TEST(suite, test_mixed_regions);
    CU_ADD_TEST(suite, test_failed_evacuation);
    CU_ADD_TEST(suite, test_other_pauses);
    CU_ADD_TEST(suite, test_spaces);
    CU_ADD_TEST(suite, test_empty_eden);
    CU_ADD_TEST(suite, test_ages);
}
