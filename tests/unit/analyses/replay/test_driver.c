/* SPDX-License-Identifier: Apache-2.0 */
/* The replay driver with an allocator that writes down its calls: which it gets, in which order,
 * what counts as failed, what is touched, and which samples of memory are kept. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyses/replay/driver/driver_state.h"
#include "tests/unit/run_suite.h"

struct driver_state driver;

void *driver_map_memory(uint64_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        abort();
    return memory;
}

/* ---- the allocator: blocks of 64 bytes in a row, which are never used again ---- */

static char blocks[64][64];
static size_t block_count;
static bool is_out_of_memory;
static char calls[1024];

static void note(const char *name, const void *block, size_t size)
{
    size_t length = strlen(calls);
    long number = block == NULL ? -1 : (long) (((const char *) block - blocks[0]) / 64);
    snprintf(calls + length, sizeof calls - length, "%s(%ld,%zu) ", name, number, size);
}

static void *test_malloc(size_t size)
{
    note("malloc", NULL, size);
    return is_out_of_memory ? NULL : blocks[block_count++];
}

static void *test_realloc(void *block, size_t size)
{
    note("realloc", block, size);
    return is_out_of_memory || size == 0 ? NULL : blocks[block_count++];
}

static void test_free(void *block)
{
    note("free", block, 0);
}

static void *test_create(void)
{
    note("create", NULL, 0);
    return is_out_of_memory ? NULL : blocks[block_count++];
}

static void test_destroy(void *heap)
{
    note("destroy", heap, 0);
}

static void *test_heap_malloc(void *heap, size_t size)
{
    note("heap_malloc", heap, size);
    return blocks[block_count++];
}

static const struct allocator plain = {test_malloc, test_realloc, test_free, NULL, NULL, NULL};
static const struct allocator heaped = {test_malloc, test_realloc, test_free,
                                        test_create, test_destroy, test_heap_malloc};

/* ---- the driver ---- */

static struct replay_control *control;
static struct replay_piece *piece;

static void begin(const struct allocator *allocator, uint32_t touch)
{
    memset(control, 0, sizeof *control);
    memset(piece, 0, REPLAY_PIECE_BYTES);
    memset(blocks, 0, sizeof blocks);
    memset(driver.slots, 0, 64 * sizeof *driver.slots);
    memset(driver.progress, 0, 8 * sizeof *driver.progress);
    control->touch = touch;
    driver.allocator = *allocator;
    driver.operations = driver.failures = driver.busy_ns = driver.blocked_ns = 0;
    driver.start_ns = driver_now_ns();
    block_count = 0;
    is_out_of_memory = false;
    calls[0] = '\0';
}

/* The operations of a thread, behind those of the last one. */
static void give(uint32_t thread, const struct replay_op *ops, uint32_t count)
{
    struct replay_section *section = &piece->sections[piece->section_count];
    const struct replay_section *last = section - 1;
    *section = (struct replay_section){thread, count,
                                       piece->section_count > 0 ? last->first + last->count : 0};
    memcpy(replay_piece_ops(piece) + section->first, ops, count * sizeof *ops);
    piece->section_count++;
    piece->slot_end = 64;
}

static struct driver_run run_ops(const struct replay_op *ops, uint32_t count)
{
    struct driver_run run = {0};
    piece->section_count = 0;
    give(0, ops, count);
    driver_run_section(piece, &piece->sections[0], &run);
    return run;
}
#define RUN(ops) run_ops(ops, sizeof(ops) / sizeof *(ops))

static void test_calls(void)
{
    const struct replay_op ops[] = {
        replay_op_make(REPLAY_MALLOC, 10, 0, 0),  replay_op_make(REPLAY_MALLOC, 0, 1, 0),
        replay_op_make(REPLAY_REALLOC, 30, 0, 0), replay_op_make(REPLAY_REALLOC, 5, 2, 1),
        replay_op_make(REPLAY_FREE, 0, 1, 0),     replay_op_make(REPLAY_FREE, 0, 0, 0)};
    begin(&plain, REPLAY_TOUCH_NONE);
    driver.slots[2] = blocks[9]; /* of what was there before: a realloc of NULL does not see it */
    struct driver_run run = RUN(ops);
    CU_ASSERT_STRING_EQUAL(calls, "malloc(-1,10) malloc(-1,0) realloc(0,30) realloc(-1,5) "
                                  "free(1,0) free(2,0) ");
    CU_ASSERT_EQUAL(run.operations, 6);
    CU_ASSERT_EQUAL(run.failures, 0);
    CU_ASSERT_FALSE(run.is_ended);
    driver_run_add(&run);
    driver_run_add(&run);
    CU_ASSERT_EQUAL(driver.operations, 12);
}

/* A realloc that fails leaves the block; one to no bytes frees it, which is no failure. */
static void test_failures(void)
{
    const struct replay_op ops[] = {
        replay_op_make(REPLAY_MALLOC, 10, 0, 0), replay_op_make(REPLAY_REALLOC, 30, 3, 0),
        replay_op_make(REPLAY_REALLOC, 8, 4, 1), replay_op_make(REPLAY_REALLOC, 0, 5, 0)};
    begin(&plain, REPLAY_TOUCH_ALL);
    is_out_of_memory = true;
    for (size_t i = 3; i < 6; i++)
        driver.slots[i] = blocks[i];
    struct driver_run run = RUN(ops);
    CU_ASSERT_EQUAL(run.operations, 4);
    CU_ASSERT_EQUAL(run.failures, 3);
    CU_ASSERT_PTR_NULL(driver.slots[0]);
    CU_ASSERT_PTR_EQUAL(driver.slots[3], blocks[3]);
    CU_ASSERT_PTR_NULL(driver.slots[4]);
    CU_ASSERT_PTR_NULL(driver.slots[5]);
}

static void test_touch(void)
{
    const struct replay_op ops[] = {replay_op_make(REPLAY_MALLOC, 3, 0, 0),
                                    replay_op_make(REPLAY_MALLOC, 0, 1, 0),
                                    replay_op_make(REPLAY_REALLOC, 2, 0, 0)};
    static const char *const touched[] = {"\0\0\0", "\x5a\0\0", "\x5a\x5a\x5a"};
    for (uint32_t how = REPLAY_TOUCH_NONE; how <= REPLAY_TOUCH_ALL; how++) {
        begin(&plain, how);
        RUN(ops);
        CU_ASSERT_EQUAL(memcmp(blocks[0], touched[how], 3), 0);
        CU_ASSERT_EQUAL(blocks[0][3], 0);
        CU_ASSERT_EQUAL(blocks[1][0], 0); /* no bytes: none is touched */
        CU_ASSERT_EQUAL(memcmp(blocks[2], touched[how], 2), 0);
        CU_ASSERT_EQUAL(blocks[2][2], 0);
    }
}

/* With heaps, their end frees their blocks, once; without, each block is freed. */
static void test_heaps(void)
{
    const struct replay_op of_heap[] = {
        replay_op_make(REPLAY_HEAP_CREATE, 0, 0, 7), replay_op_make(REPLAY_HEAP_MALLOC, 24, 0, 7),
        replay_op_make(REPLAY_HEAP_FREE, 0, 0, 0), replay_op_make(REPLAY_HEAP_DESTROY, 0, 0, 7),
        replay_op_make(REPLAY_HEAP_DESTROY, 0, 0, 7)};
    begin(&heaped, REPLAY_TOUCH_FIRST);
    struct driver_run run = RUN(of_heap);
    CU_ASSERT_STRING_EQUAL(calls, "create(-1,0) heap_malloc(0,24) destroy(0,0) ");
    CU_ASSERT_EQUAL(run.operations, 1);
    CU_ASSERT_EQUAL(blocks[1][0], 0x5a);
    CU_ASSERT_PTR_NULL(driver.slots[0]);
    begin(&plain, REPLAY_TOUCH_FIRST);
    RUN(of_heap);
    CU_ASSERT_STRING_EQUAL(calls, "malloc(-1,24) free(0,0) ");
}

/* Threads of the trace wait for each other's operations, not for what is none. */
static void test_threads(void)
{
    const struct replay_op first[] = {
        replay_op_make(REPLAY_PAUSE, 2000000, 0, 0), replay_op_make(REPLAY_MALLOC, 1, 0, 0),
        replay_op_make(REPLAY_SAMPLE, 1, 0, 0), replay_op_make(REPLAY_MALLOC, 2, 1, 0),
        replay_op_make(REPLAY_THREAD_END, 0, 0, 0)};
    const struct replay_op second[] = {replay_op_make(REPLAY_WAIT, 2, 0, 0),
                                       replay_op_make(REPLAY_FREE, 0, 0, 0)};
    static _Atomic uint32_t open_sections;
    begin(&plain, REPLAY_TOUCH_NONE);
    control->is_threaded = true;
    give(1, second, 2);
    give(0, first, 5);
    atomic_store(&open_sections, 2);
    driver_workers_give(piece, &piece->sections[0], &open_sections);
    driver_workers_give(piece, &piece->sections[1], &open_sections);
    driver_workers_join();
    CU_ASSERT_EQUAL(open_sections, 0);
    CU_ASSERT_STRING_EQUAL(calls, "malloc(-1,1) malloc(-1,2) free(0,0) ");
    CU_ASSERT_EQUAL(driver.progress[0].done, 3); /* the thread's end, too */
    CU_ASSERT_EQUAL(driver.progress[1].done, 1);
    CU_ASSERT_EQUAL(driver.operations, 3);
    CU_ASSERT_EQUAL(control->thread_count, 2);
    CU_ASSERT_TRUE(driver_now_ns() - driver.start_ns >= 2000000);
    control->is_threaded = false;
}

/* However many samples there are, the first and the last are kept, and all are in order. */
static void test_samples(void)
{
    begin(&plain, REPLAY_TOUCH_NONE);
    driver_samples_begin();
    for (uint64_t i = 0; i < 3 * REPLAY_SAMPLES; i++)
        driver_samples_take(i, i);
    driver.operations = 3 * REPLAY_SAMPLES;
    control->last_live_bytes = 12345;
    driver_samples_end();
    uint32_t count = control->sample_count;
    CU_ASSERT_FATAL(count > REPLAY_SAMPLES / 2 && count <= REPLAY_SAMPLES);
    CU_ASSERT_EQUAL(control->samples[0].operation, 0);
    CU_ASSERT_EQUAL(control->samples[count - 1].operation, 3 * REPLAY_SAMPLES);
    CU_ASSERT_EQUAL(control->samples[count - 1].live_bytes, 12345);
    for (uint32_t i = 1; i < count; i++)
        CU_ASSERT_TRUE(control->samples[i - 1].operation < control->samples[i].operation);
    CU_ASSERT_TRUE(control->peak_resident_bytes >= control->final_resident_bytes);
}

/* Pieces of a memory file, which `replay` has filled before. */
static void test_pieces(void)
{
    const struct replay_op ops[] = {replay_op_make(REPLAY_MALLOC, 1, 0, 0)};
    begin(&plain, REPLAY_TOUCH_NONE);
    give(0, ops, 1);
    driver.file = memfd_create("pieces", MFD_CLOEXEC);
    CU_ASSERT_FATAL(driver.file >= 0 &&
                    ftruncate(driver.file, (off_t) (3 * REPLAY_PIECE_BYTES)) == 0);
    for (off_t i = 1; i <= 2; i++)
        CU_ASSERT_EQUAL_FATAL(
            pwrite(driver.file, piece, REPLAY_PIECE_BYTES, i * (off_t) REPLAY_PIECE_BYTES),
            (ssize_t) REPLAY_PIECE_BYTES);
    atomic_store(&control->produced, 2);
    driver_pieces_run_single();
    CU_ASSERT_STRING_EQUAL(calls, "malloc(-1,1) malloc(-1,1) ");
    CU_ASSERT_EQUAL(driver.operations, 2);
    CU_ASSERT_EQUAL(control->thread_count, 1);
    close(driver.file);
}

/* Without an allocator the loop is measured alone: nothing is allocated, nothing fails. */
static void test_no_allocator(void)
{
    const struct replay_op ops[] = {
        replay_op_make(REPLAY_MALLOC, UINT64_C(1) << 59, 0, REPLAY_AS_CALLOC),
        replay_op_make(REPLAY_REALLOC, 30, 0, 0), replay_op_make(REPLAY_FREE, 0, 0, 0),
        replay_op_make(REPLAY_PAUSE, UINT64_C(1) << 50, 0, 0)};
    begin(&plain, REPLAY_TOUCH_ALL);
    control->is_empty = true;
    allocator_choose(control, &driver.allocator);
    CU_ASSERT_STRING_EQUAL(control->allocator, "none");
    struct driver_run run = RUN(ops);
    CU_ASSERT_EQUAL(run.operations, 3);
    CU_ASSERT_EQUAL(run.failures, 0);
    control->is_empty = false;
    allocator_choose(control, &driver.allocator);
    CU_ASSERT_STRING_NOT_EQUAL(control->allocator, "");
    /* other functions than malloc(), with their alignment */
    const struct replay_op others[] = {replay_op_make(REPLAY_MALLOC, 8, 0, REPLAY_AS_CALLOC),
                                       replay_op_make(REPLAY_MALLOC, 8, 1, REPLAY_ALIGNED + 12)};
    control->touch = REPLAY_TOUCH_NONE;
    CU_ASSERT_EQUAL(RUN(others).failures, 0);
    CU_ASSERT_EQUAL(memcmp(driver.slots[0], "\0\0\0\0\0\0\0", 8), 0);
    CU_ASSERT_EQUAL((uintptr_t) driver.slots[1] % 4096, 0);
    free(driver.slots[0]);
    free(driver.slots[1]);
}

static int map_driver(void)
{
    control = driver_map_memory(REPLAY_PIECE_BYTES);
    piece = driver_map_memory(REPLAY_PIECE_BYTES);
    driver.control = control;
    driver.slots = driver_map_memory(REPLAY_PIECE_BYTES);
    driver.heaps = driver_map_memory(REPLAY_HEAPS_MOST * sizeof(void *));
    driver.progress = driver_map_memory(8 * sizeof *driver.progress);
    driver_workers_begin();
    return 0;
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("the replay driver", map_driver, NULL);
    CU_add_test(suite, "calls", test_calls);
    CU_add_test(suite, "failures", test_failures);
    CU_add_test(suite, "touch", test_touch);
    CU_add_test(suite, "heaps", test_heaps);
    CU_add_test(suite, "threads", test_threads);
    CU_add_test(suite, "samples", test_samples);
    CU_add_test(suite, "pieces", test_pieces);
    CU_add_test(suite, "no allocator", test_no_allocator);
}
