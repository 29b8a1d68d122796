/* SPDX-License-Identifier: Apache-2.0 */
/* The dead have two sources: the JVM's own notices, which come some time after a collection, and
 * passes over weak references, which have the time at which theirs ended.  Whoever told of the last
 * batch, the next is no earlier. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/events/engine.h"
#include "agent/events/events.h"
#include "agent/records/classes.h"
#include "agent/records/stamps.h"
#include "tests/unit/run_suite.h"

#define BATCHES_MOST 16u

struct tracer tracer; /* else that of the entry points */

static struct session session;

/* The times of the batches in the stream of frees; returns how many there are. */
static size_t read_batches(uint64_t *stamps)
{
    const struct live_stream *frees = session.frees;
    size_t count = 0;
    for (const uint64_t *word = frees->base; word < frees->cursor; word++)
        if ((*word & ((1u << STEP_LIVE_KIND_BITS) - 1)) == STEP_LIVE_FREE_END &&
            count < BATCHES_MOST)
            stamps[count++] = *word >> STEP_LIVE_KIND_BITS;
    return count;
}

static void notice(uint64_t object)
{
    event_free(tag_of_object(&session, object));
}

static void pass(uint64_t object, uint64_t stamp, uint64_t collection)
{
    event_free_many(&session, &object, 1, stamp, collection);
}

static void expect_in_order(size_t expected)
{
    uint64_t stamps[BATCHES_MOST];
    size_t count = read_batches(stamps);
    CU_ASSERT_EQUAL(count, expected);
    for (size_t i = 1; i < count; i++)
        CU_ASSERT_TRUE(stamps[i] >= stamps[i - 1]);
}

/* The collection ended at 1,000, the JVM's notice came at once, the pass ended later. */
static void test_pass_after_notice(void)
{
    atomic_store(&session.stamps.frozen, 5000);
    notice(1);
    CU_ASSERT_TRUE(event_close_free_batch(&session, true));
    pass(2, 1000, 1);
    CU_ASSERT_TRUE(event_close_free_batch(&session, true));
    expect_in_order(2);
}

static void test_pass_of_an_open_batch(void)
{
    notice(3);
    pass(4, 1000, 0);
    CU_ASSERT_TRUE(event_close_free_batch(&session, true));
    expect_in_order(3);
}

static void test_passes(void)
{
    pass(5, 7000, 3);
    pass(6, 6000, 2);
    pass(7, 9000, 4);
    CU_ASSERT_TRUE(event_close_free_batch(&session, true));
    expect_in_order(6);
}

/* The start snapshot's clock stands still, but for a virtual thread that changed its carrier: what
 * it made dies no earlier. */
static void test_ahead_of_the_snapshot(void)
{
    uint64_t stamps[BATCHES_MOST] = {0};
    atomic_store(&session.stamps.frozen, 9000);
    stamps_advance(&session, 9100);
    stamps_advance(&session, 9050);
    notice(8);
    CU_ASSERT_TRUE(event_close_free_batch(&session, true));
    pass(9, 9060, 5);
    CU_ASSERT_TRUE(event_close_free_batch(&session, true));
    atomic_store(&session.stamps.frozen, 0); /* the clock again */
    stamps_advance(&session, 9200);
    pass(10, 9150, 6);
    CU_ASSERT_TRUE(event_close_free_batch(&session, true));
    expect_in_order(9);
    read_batches(stamps);
    CU_ASSERT_EQUAL(stamps[6], 9100);
    CU_ASSERT_EQUAL(stamps[7], 9100);
    CU_ASSERT_EQUAL(stamps[8], 9150);
}

/* Consecutive objects are one record, of a bounded length; others end it. */
static void test_runs(void)
{
    enum { FIRST = 100, COUNT = 3000, GAP = 2500 };
    static uint64_t objects[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        objects[i] = FIRST + i + (i >= GAP);
    const uint64_t *word = session.frees->cursor;
    uint64_t events = session.frees->events, runs = 0, next = 0;
    event_free_many(&session, objects, COUNT, 9300, 7);
    CU_ASSERT_EQUAL(session.frees->events - events, COUNT);
    for (; word < session.frees->cursor; word++) {
        uint64_t payload = *word >> STEP_LIVE_KIND_BITS;
        if ((*word & ((1u << STEP_LIVE_KIND_BITS) - 1)) != STEP_LIVE_FREE_OBJECT)
            continue;
        runs++;
        CU_ASSERT_EQUAL(step_live_freed_object(payload), objects[next]);
        next += step_live_freed_count(payload);
    }
    CU_ASSERT_EQUAL(next, COUNT);
    CU_ASSERT_EQUAL(runs, GAP / STEP_LIVE_FREED_MOST + 2);
    CU_ASSERT_TRUE(event_close_free_batch(&session, true));
}

static bool begin(const char *path)
{
    struct step_error error;
    static const struct engine engine;
    session.engine = &engine;
    session.number = 1;
    session.options.events = TRACED_ALLOC | TRACED_FREE;
    unlink(path);
    session.map = live_map_create(path, 0, 1 << 20, false, &error);
    if (session.map == NULL)
        return false;
    session.frees = live_stream_create(session.map, true);
    session.free_batch.gap = UINT64_MAX / 8;
    atomic_store(&tracer.session, &session);
    return session.frees != NULL;
}

static int begin_session(void)
{
    char path[] = "free_batches.XXXXXX";
    int descriptor = mkstemp(path);
    return descriptor < 0 || close(descriptor) != 0 || !begin(path);
}

static int end_session(void)
{
    live_map_destroy(session.map, false);
    return 0;
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("batches of frees", begin_session, end_session);
    CU_add_test(suite, "a pass after a notice", test_pass_after_notice);
    CU_add_test(suite, "a pass of an open batch", test_pass_of_an_open_batch);
    CU_add_test(suite, "passes", test_passes);
    CU_add_test(suite, "ahead of the snapshot", test_ahead_of_the_snapshot);
    CU_add_test(suite, "runs", test_runs);
}
