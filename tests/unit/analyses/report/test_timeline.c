/* SPDX-License-Identifier: Apache-2.0 */
/* What a report draws over time: steps fold, and nothing is lost in it. */
#include <CUnit/Basic.h>

#include "analyses/report/report_model.h"
#include "tests/unit/run_suite.h"

static struct trace_event event_of(uint8_t kind, uint64_t time_ns, uint64_t size)
{
    return (struct trace_event){.kind = kind,
                                .time_ns = time_ns,
                                .size = size,
                                .object = 1,
                                .class_id = 3,
                                .thread_id = 2,
                                .flags = kind == EVENT_OBJECT_FREE ? TRACE_BORN_KNOWN : 0};
}

static void test_folding(void)
{
    struct timeline timeline;
    CU_ASSERT_FATAL(timeline_init(&timeline, 1000));
    const uint64_t events = 50000;
    uint64_t allocated = 0;
    bool ok = true;
    for (uint64_t i = 0; i < events; i++) {
        struct trace_event alloc = event_of(EVENT_OBJECT_ALLOC, 1000000 + i * 77777, i % 100);
        ok = timeline_put(&timeline, &alloc, 1) && ok;
        allocated += i % 100;
    }
    struct trace_event freed = event_of(EVENT_OBJECT_FREE, 1000000 + events * 77777, 50);
    for (int i = 0; i < 2; i++)
        ok = timeline_put(&timeline, &freed, 1) && ok;
    timeline_finish(&timeline);
    CU_ASSERT(ok);
    uint64_t in_steps = 0;
    const struct timeline_thread *thread = id_table_find(&timeline.threads, 2);
    CU_ASSERT_PTR_NOT_NULL_FATAL(thread);
    const struct timeline_amounts *amounts = &thread->allocated_bytes;
    for (size_t i = 0; i < amounts->count; i++) {
        in_steps += amounts->items[i].amount;
        CU_ASSERT(amounts->items[i].step <= timeline.step);
        CU_ASSERT(i == 0 || amounts->items[i - 1].step < amounts->items[i].step);
    }
    const struct timeline_step *last = &timeline.steps[timeline.step];
    CU_ASSERT_EQUAL(in_steps, allocated);
    CU_ASSERT_EQUAL(last->live_bytes, allocated - 100);
    CU_ASSERT_EQUAL(last->live_objects, events - 2);
    CU_ASSERT_EQUAL(last->most_bytes, allocated);
    CU_ASSERT_EQUAL(last->collections, 1);
    CU_ASSERT_EQUAL(last->freed_bytes, 100);
    CU_ASSERT_EQUAL(last->class_count, 1);
    CU_ASSERT_EQUAL(last->classes[0].class_id, 3);
    CU_ASSERT_EQUAL(last->classes[0].bytes, last->live_bytes);
    CU_ASSERT(timeline.step >= TIMELINE_STEPS / 2 && timeline.step < TIMELINE_STEPS);
    CU_ASSERT(timeline.start_ns + (timeline.step + 1) * timeline.step_ns > freed.time_ns);
    timeline_reset(&timeline);
}

/* Time may be anything at all in a hostile trace. */
static void test_end_of_time(void)
{
    struct timeline timeline;
    CU_ASSERT_FATAL(timeline_init(&timeline, 1000));
    const uint64_t times[] = {5, UINT64_MAX - 1, 7, UINT64_MAX, 0};
    bool ok = true;
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        struct trace_event alloc = event_of(EVENT_OBJECT_ALLOC, times[i], 8);
        ok = timeline_put(&timeline, &alloc, 1) && ok;
    }
    timeline_finish(&timeline);
    CU_ASSERT(ok);
    CU_ASSERT(timeline.step < TIMELINE_STEPS);
    CU_ASSERT_EQUAL(timeline.steps[timeline.step].live_bytes, 40);
    timeline_reset(&timeline);
}

/* More classes than a step keeps: those with most bytes stay, in order. */
static void test_many_classes(void)
{
    struct timeline timeline;
    CU_ASSERT_FATAL(timeline_init(&timeline, 1000));
    bool ok = true;
    for (uint32_t i = 0; i < 4 * TIMELINE_CLASSES; i++) {
        struct trace_event alloc = event_of(EVENT_OBJECT_ALLOC, 10, (i * 7919) % 1009 + 1);
        alloc.class_id = i;
        ok = timeline_put(&timeline, &alloc, 1) && ok;
    }
    timeline_finish(&timeline);
    CU_ASSERT(ok);
    const struct timeline_step *step = &timeline.steps[0];
    CU_ASSERT_EQUAL(step->class_count, TIMELINE_CLASSES);
    size_t larger = 0;
    for (size_t i = 1; i < step->class_count; i++)
        CU_ASSERT(step->classes[i - 1].bytes >= step->classes[i].bytes);
    for (uint32_t i = 0; i < 4 * TIMELINE_CLASSES; i++)
        larger += (i * 7919) % 1009 + 1 > step->classes[TIMELINE_CLASSES - 1].bytes;
    CU_ASSERT_EQUAL(larger, TIMELINE_CLASSES - 1);
    timeline_reset(&timeline);
}

/* Threads cost what they do, not as much as time has steps. */
static void test_many_threads(void)
{
    struct timeline timeline;
    CU_ASSERT_FATAL(timeline_init(&timeline, 1000));
    bool ok = true;
    for (uint32_t i = 1; i <= 1000; i++) {
        struct trace_event alloc = event_of(EVENT_OBJECT_ALLOC, 10 * i, 8);
        alloc.thread_id = i;
        ok = timeline_put(&timeline, &alloc, 1) && ok;
    }
    CU_ASSERT(ok);
    size_t amounts = 0;
    for (uint32_t i = 1; i <= 1000; i++) {
        const struct timeline_thread *thread = id_table_find(&timeline.threads, i);
        amounts += thread->allocated_bytes.capacity + thread->calls.capacity;
    }
    CU_ASSERT_EQUAL(amounts, 1000);
    timeline_reset(&timeline);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("timeline", NULL, NULL);
    CU_add_test(suite, "steps fold", test_folding);
    CU_add_test(suite, "the end of time", test_end_of_time);
    CU_add_test(suite, "many classes", test_many_classes);
    CU_add_test(suite, "many threads", test_many_threads);
}
