/* SPDX-License-Identifier: Apache-2.0 */
/* An address that a leaf call was shown is used only while every collection is announced. */
#include <CUnit/Basic.h>

#include "agent/bytecode/quick_events.h"
#include "agent/records/hold.h"
#include "tests/unit/run_suite.h"

#define PLACE ((uintptr_t) 0x1000)
#define NUMBER 7u

struct tracer tracer; /* else that of the entry points */

static struct session session = {.number = 1, .holds = true, .places = true};
static struct os_thread thread;
static const struct quick quick = {.os = &thread, .session = &session};

/* As Unsafe.copyMemory0()'s routine does it. */
static void show(void)
{
    thread.references.sight = (struct sight){
        .place = PLACE, .with = NUMBER, .collections = atomic_load(&tracer.collections_begun)};
}

static void test_shown_once(void)
{
    holds_allow(true);
    show();
    CU_ASSERT_EQUAL(place_quickly(&quick, NUMBER), PLACE);
    CU_ASSERT_EQUAL(place_quickly(&quick, NUMBER), 0);
    show();
    CU_ASSERT_EQUAL(place_quickly(&quick, NUMBER + 1), 0);
    show();
    holds_wait();
    atomic_fetch_add(&tracer.collections_begun, 1);
    holds_go_on();
    CU_ASSERT_EQUAL(place_quickly(&quick, NUMBER), 0);
}

/* Then the event is off, and the count of collections stands still whatever moves. */
static void test_session_ends(void)
{
    holds_allow(true);
    show();
    holds_allow(false);
    CU_ASSERT_EQUAL(place_quickly(&quick, NUMBER), 0);
    show();
    CU_ASSERT_EQUAL(place_quickly(&quick, NUMBER), 0);
}

/* What was noted in one session is void in the next: nobody counted the collections between. */
static void test_next_session(void)
{
    holds_allow(true);
    object_note_recent(&thread, PLACE);
    uint64_t noted = thread.bytecode.recent.collections;
    show();
    holds_allow(false);
    holds_allow(true);
    CU_ASSERT_EQUAL(place_quickly(&quick, NUMBER), 0);
    CU_ASSERT_NOT_EQUAL(atomic_load(&tracer.collections_begun), noted);
    holds_allow(false);
}

void add_suite(void)
{
    threads_initialize();
    CU_pSuite suite = CU_add_suite("sights", NULL, NULL);
    CU_add_test(suite, "shown once, until a collection", test_shown_once);
    CU_add_test(suite, "the end of a session", test_session_ends);
    CU_add_test(suite, "the next session", test_next_session);
}
