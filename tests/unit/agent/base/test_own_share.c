/* SPDX-License-Identifier: Apache-2.0 */
/* Stops of the program: those of collections are not the agent's. */
#include <CUnit/Basic.h>
#include <time.h>

#include "agent/base/own_share.h"
#include "capture/clock.h"
#include "tests/unit/run_suite.h"

#define PAUSE_NS UINT64_C(30000000)

static void rest(void)
{
    nanosleep(&(struct timespec){0, (long) PAUSE_NS}, NULL);
}

static void test_longest(void)
{
    enum own_stop stop;
    own_share_stopped(OWN_STOP_HEAP, 5);
    own_share_stopped(OWN_STOP_CLASSES, 7);
    own_share_stopped(OWN_STOP_FORCED, 6);
    CU_ASSERT_EQUAL(own_share_take_stop(&stop), 7);
    CU_ASSERT_EQUAL(stop, OWN_STOP_CLASSES);
    CU_ASSERT_EQUAL(own_share_take_stop(&stop), 0);
}

/* Returns what is left of a call with a collection in it, part of it before the call or behind it;
 * *took_ns is the whole time. */
static uint64_t call_beside(bool begins_before, bool ends_after, uint64_t *took_ns)
{
    enum own_stop stop;
    if (begins_before) {
        own_share_collection_begins();
        rest();
    }
    uint64_t from_ns = clock_monotonic_ns();
    struct own_call call = own_share_calls();
    if (!begins_before)
        own_share_collection_begins();
    rest();
    if (!ends_after)
        own_share_collection_ends();
    own_share_called(OWN_STOP_HEAP, &call);
    *took_ns = clock_monotonic_ns() - from_ns;
    if (ends_after)
        own_share_collection_ends();
    return own_share_take_stop(&stop);
}

static void test_collection_meanwhile(void)
{
    uint64_t took_ns;
    for (unsigned ways = 0; ways < 4; ways++) {
        uint64_t left_ns = call_beside((ways & 1) != 0, (ways & 2) != 0, &took_ns);
        CU_ASSERT_TRUE(took_ns >= PAUSE_NS && left_ns + PAUSE_NS <= took_ns);
    }
}

static void test_nested_and_unknown(void)
{
    uint64_t before_ns = own_share_collected_ns();
    own_share_collection_ends(); /* its beginning was not announced */
    CU_ASSERT_EQUAL(own_share_collected_ns(), before_ns);
    own_share_collection_begins();
    own_share_collection_begins();
    own_share_collection_ends();
    rest();
    own_share_collection_ends();
    uint64_t after_ns = own_share_collected_ns();
    CU_ASSERT_TRUE(after_ns - before_ns >= PAUSE_NS);
    CU_ASSERT_EQUAL(own_share_collected_ns(), after_ns);
}

static void test_call_alone(void)
{
    enum own_stop stop;
    struct own_call call = own_share_calls();
    rest();
    own_share_called(OWN_STOP_HEAP, &call);
    CU_ASSERT_TRUE(own_share_take_stop(&stop) >= PAUSE_NS);
    CU_ASSERT_EQUAL(stop, OWN_STOP_HEAP);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("own share", NULL, NULL);
    CU_add_test(suite, "the longest is kept", test_longest);
    CU_add_test(suite, "a collection during a call", test_collection_meanwhile);
    CU_add_test(suite, "pauses in pauses, and unknown ones", test_nested_and_unknown);
    CU_add_test(suite, "a call alone", test_call_alone);
}
