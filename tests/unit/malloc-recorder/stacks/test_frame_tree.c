/* SPDX-License-Identifier: Apache-2.0 */
/* Call stacks as numbers: each frame is defined once, after its caller's. */
#include <CUnit/Basic.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "malloc-recorder/stacks/frame_tree.h"
#include "tests/unit/run_suite.h"

enum { MOST = 70000 };

static struct {
    uint64_t parents[MOST + 1];
    uintptr_t addresses[MOST + 1];
    uint64_t count;
    bool is_wrong;
    uint64_t refused; /* the frame that cannot be recorded */
} defined;

static int note_frame(void *user, uint64_t frame, uint64_t parent, uintptr_t address)
{
    (void) user;
    if (frame == defined.refused)
        return 0;
    defined.is_wrong |= frame != defined.count + 1 || parent >= frame || frame > MOST;
    defined.parents[frame] = parent;
    defined.addresses[frame] = address;
    defined.count++;
    return 1;
}

static int begin(void)
{
    frame_tree_reset();
    memset(&defined, 0, sizeof defined);
    return 0;
}

static uint64_t put(const uintptr_t *addresses, unsigned count)
{
    return frame_tree_put(addresses, count, note_frame, NULL);
}

/* Does the frame stand for this stack? */
static bool is_stack(uint64_t frame, const uintptr_t *addresses, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (frame == 0 || defined.addresses[frame] != addresses[i])
            return false;
        frame = defined.parents[frame];
    }
    return frame == 0;
}

static void test_shared(void)
{
    static const uintptr_t long_stack[] = {30, 20, 10}, other[] = {31, 20, 10},
                           shorter[] = {20, 10}, recursive[] = {10, 10, 10};
    begin();
    uint64_t first = put(long_stack, 3);
    CU_ASSERT_EQUAL(defined.count, 3);
    CU_ASSERT_EQUAL(put(long_stack, 3), first);
    CU_ASSERT_EQUAL(put(shorter, 2), defined.parents[first]); /* it has been defined */
    CU_ASSERT_EQUAL(defined.count, 3);
    uint64_t second = put(other, 3);
    CU_ASSERT(second != first && defined.count == 4);
    uint64_t third = put(recursive, 3);
    CU_ASSERT_EQUAL(defined.count, 6);
    CU_ASSERT_TRUE(is_stack(first, long_stack, 3) && is_stack(second, other, 3) &&
                   is_stack(third, recursive, 3));
    CU_ASSERT_FALSE(defined.is_wrong);
    CU_ASSERT_EQUAL(put(long_stack, 0), 0);
}

/* The table grows, and the cache before it has fewer places than there are stacks. */
static void test_many(void)
{
    unsigned wrong = 0;
    begin();
    for (int pass = 0; pass < 2; pass++)
        for (uintptr_t i = 1; i < MOST; i++) {
            const uintptr_t addresses[] = {i * 16, 1};
            wrong += !is_stack(put(addresses, 2), addresses, 2);
        }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_EQUAL(defined.count, MOST);
    CU_ASSERT_FALSE(defined.is_wrong);
}

/* A frame that could not be recorded has no number, and may be recorded later. */
static void test_refused(void)
{
    static const uintptr_t addresses[] = {20, 10};
    begin();
    defined.refused = 2;
    CU_ASSERT_EQUAL(put(addresses, 2), 0);
    CU_ASSERT_EQUAL(defined.count, 1);
    defined.refused = 0;
    CU_ASSERT_EQUAL(put(addresses, 2), 2);
    CU_ASSERT_EQUAL(put(addresses, 2), 2);
}

/* A new trace has no frames yet. */
static void test_reset(void)
{
    static const uintptr_t addresses[] = {20, 10};
    begin();
    CU_ASSERT_EQUAL(put(addresses, 2), 2);
    begin();
    CU_ASSERT_EQUAL(put(addresses, 2), 2);
    CU_ASSERT_EQUAL(defined.count, 2);
}

static void *put_many(void *wrong)
{
    for (uintptr_t i = 1; i < 5000; i++) {
        const uintptr_t addresses[] = {i * 8, i % 7 + 1};
        *(unsigned *) wrong += put(addresses, 2) == 0;
    }
    return NULL;
}

static void test_threads(void)
{
    pthread_t threads[4];
    unsigned wrong[4] = {0};
    begin();
    for (int i = 0; i < 4; i++)
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, put_many, &wrong[i]), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    CU_ASSERT_EQUAL(wrong[0] + wrong[1] + wrong[2] + wrong[3], 0);
    CU_ASSERT_EQUAL(defined.count, 4999 + 7); /* each once */
    CU_ASSERT_FALSE(defined.is_wrong);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("frames", NULL, NULL);
    CU_add_test(suite, "shared frames", test_shared);
    CU_add_test(suite, "many stacks", test_many);
    CU_add_test(suite, "frames that are refused", test_refused);
    CU_add_test(suite, "a new trace", test_reset);
    CU_add_test(suite, "threads", test_threads);
}
