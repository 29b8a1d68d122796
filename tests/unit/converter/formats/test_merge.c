/* SPDX-License-Identifier: Apache-2.0 */
/* The order that the streams of a trace are merged into, and what a slice of it needs. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "converter/formats/format_table.h"
#include "steptrace/java_trace.h"
#include "steptrace/live.h"
#include "tests/unit/run_suite.h"

#define GLOBAL STEP_LIVE_STREAM_GLOBAL
#define FREES STEP_LIVE_STREAM_FREES
#define A (FREES + 1)
#define B (FREES + 2)

static char path[64];
static struct step_writer *writer;

static enum step_status write_file(void *user, const void *data, size_t length,
                                   struct step_error *error)
{
    (void) error;
    return fwrite(data, 1, length, user) == length ? STEP_STATUS_OK : STEP_STATUS_IO;
}

static FILE *file;

/* Starts a trace with blocks of `block_records` records, the class "C" and the method "m". */
static void start(uint32_t block_records)
{
    struct step_writer_options options;
    strcpy(path, "/tmp/steptrace-merge-XXXXXX");
    int descriptor = mkstemp(path);
    CU_ASSERT_FATAL(descriptor >= 0);
    file = fdopen(descriptor, "wb");
    step_writer_options_init(&options);
    options.definition = &step_java_trace_definition;
    options.output = (struct step_output){file, write_file};
    options.block_records = block_records;
    CU_ASSERT_FATAL(step_writer_create(&options, &writer, NULL) == STEP_STATUS_OK);
    step_writer_property(writer, "resolution-ns", "1000");
    const struct step_java_class class = {.name = {(const uint8_t *) "C", 1}};
    const struct step_java_method method = {.class_ = 1,
                                            .name = {(const uint8_t *) "m", 1},
                                            .descriptor = {(const uint8_t *) "()V", 3}};
    CU_ASSERT_FATAL(step_java_class_define(writer, &class, NULL) == STEP_STATUS_OK);
    CU_ASSERT_FATAL(step_java_method_define(writer, &method, NULL) == STEP_STATUS_OK);
    for (unsigned i = 0; i < 3; i++) {
        const struct step_java_thread thread = {.name = {(const uint8_t *) "t", 1}};
        CU_ASSERT_FATAL(step_java_thread_define(writer, &thread, NULL) == STEP_STATUS_OK);
    }
}

static void put_alloc(uint64_t stream, uint64_t time, uint64_t object)
{
    step_java_object_alloc_put(
        writer, stream,
        &(struct step_java_object_alloc){.time = time, .class_ = 1, .size = 16, .object = object});
}

static void put_free(uint64_t time, uint64_t object)
{
    step_java_object_free_put(writer, FREES,
                              &(struct step_java_object_free){.time = time, .object = object});
}

static void put_entry(uint64_t stream, uint64_t time, uint64_t object)
{
    step_java_method_entry_put(
        writer, stream,
        &(struct step_java_method_entry){
            .time = time, .thread = stream - FREES, .method = 1, .object = object});
}

static void put_class(uint64_t time)
{
    step_java_class_load_put(writer, GLOBAL,
                             &(struct step_java_class_load){.time = time, .class_ = 1});
}

static void finish(void)
{
    CU_ASSERT(step_writer_close(writer, NULL) == STEP_STATUS_OK);
    step_writer_destroy(writer);
    fclose(file);
}

/* The events in order, as "OA1 OF1 MN7 ..." with times in ticks: "OA1@5". */
static const char *order(const struct event_selection *selected)
{
    static char text[4096];
    struct event_source *source = NULL;
    struct trace_event events[3];
    size_t count;
    text[0] = '\0';
    CU_ASSERT_FATAL(trace_open_events(path, NULL, selected, &source, NULL, NULL) == STEP_STATUS_OK);
    while (source->operations->read(source, events, 3, &count, NULL) == STEP_STATUS_OK) {
        for (size_t i = 0; i < count; i++) {
            size_t used = strlen(text);
            snprintf(text + used, sizeof text - used, "%s%s%u@%u%s", used > 0 ? " " : "",
                     step_text_kind_name((enum step_text_kind) events[i].kind),
                     (unsigned) events[i].object, (unsigned) (events[i].time_ns / 1000),
                     events[i].kind == EVENT_OBJECT_FREE && events[i].class_id != 1 ? "?" : "");
        }
    }
    source->operations->destroy(source);
    return text;
}

static const char *whole_order(void)
{
    struct event_selection selected;
    event_selection_init(&selected);
    return order(&selected);
}

/* At one tick: the global stream, buffers, frees; VM death last. */
static void test_ranks(void)
{
    start(0);
    put_free(5, 1);
    put_alloc(A, 3, 1);
    put_alloc(A, 5, 2);
    put_class(2);
    put_class(5);
    step_java_vm_death_put(writer, GLOBAL, &(struct step_java_vm_death){.time = 5});
    finish();
    CU_ASSERT_STRING_EQUAL(whole_order(), "CL0@2 OA1@3 CL0@5 OA2@5 OF1@5 VD0@5");
    unlink(path);
}

/* An event waits for the allocation of its object, which another buffer tells of at the same tick;
 * a stream's own order stays. */
static void test_dependencies(void)
{
    start(0);
    put_class(1);
    put_entry(A, 5, 20); /* needs what B allocates after its own entry of 10 */
    put_alloc(A, 5, 10);
    put_alloc(B, 5, 20);
    put_entry(B, 5, 10);
    finish();
    CU_ASSERT_STRING_EQUAL(whole_order(), "CL0@1 OA20@5 MN20@5 OA10@5 MN10@5");
    unlink(path);
}

/* Nobody tells of the objects: the trace comes all the same. */
static void test_no_deadlock(void)
{
    start(0);
    put_entry(A, 5, 1);
    put_alloc(A, 5, 2);
    put_entry(B, 5, 2);
    put_alloc(B, 5, 1);
    put_free(5, 99);
    finish();
    CU_ASSERT_STRING_EQUAL(whole_order(), "MN1@5 OA2@5 MN2@5 OA1@5 OF99@5?");
    unlink(path);
}

/* A single stream is given as it is, also where time goes back. */
static void test_single_stream(void)
{
    start(2);
    put_alloc(A, 9, 1);
    put_alloc(A, 3, 2);
    put_entry(A, 7, 5);
    put_alloc(A, 1, 3);
    put_alloc(A, 8, 4);
    finish();
    CU_ASSERT_STRING_EQUAL(whole_order(), "OA1@9 OA2@3 MN5@7 OA3@1 OA4@8");
    unlink(path);
}

/* Blocks of a stream are loaded as the merge reaches them; ties may go on in the next block. */
static void test_small_blocks(void)
{
    start(1);
    put_class(0);
    for (unsigned i = 1; i <= 3; i++) {
        put_alloc(A, 5, i);
        put_entry(B, 5, i);
    }
    put_free(5, 1);
    put_free(6, 2);
    finish();
    CU_ASSERT_STRING_EQUAL(whole_order(), "CL0@0 OA1@5 OA2@5 OA3@5 MN1@5 MN2@5 MN3@5 OF1@5 OF2@6");
    unlink(path);
}

static void test_many_streams(void)
{
    enum { STREAMS = 2000 };
    start(0);
    for (uint64_t i = 0; i < STREAMS; i++) {
        put_alloc(A + i, STREAMS - i, i + 1);
        put_alloc(A + i, 2 * STREAMS - i, STREAMS + i + 1);
    }
    finish();
    struct event_selection selected;
    struct event_source *source;
    struct trace_event event;
    size_t count;
    uint64_t last = 0;
    unsigned events = 0;
    unsigned wrong = 0;
    event_selection_init(&selected);
    CU_ASSERT_FATAL(trace_open_events(path, NULL, &selected, &source, NULL, NULL) ==
                    STEP_STATUS_OK);
    while (source->operations->read(source, &event, 1, &count, NULL) == STEP_STATUS_OK) {
        wrong += event.time_ns < last;
        last = event.time_ns;
        events++;
    }
    CU_ASSERT_EQUAL(events, 2 * STREAMS);
    CU_ASSERT_EQUAL(wrong, 0);
    source->operations->destroy(source);
    unlink(path);
}

/* A late free knows the class of an object from before the slice. */
static void test_slices(void)
{
    struct event_selection selected;
    start(2);
    for (unsigned i = 1; i <= 10; i++)
        put_alloc(A, i, i);
    put_entry(A, 11, 3);
    put_free(12, 2);
    put_free(12, 7);
    finish();
    event_selection_init(&selected);
    selected.from_ns = 10000;
    CU_ASSERT_STRING_EQUAL(order(&selected), "OA10@10 MN3@11 OF2@12 OF7@12");
    selected.kinds = TRACE_KIND_BIT(EVENT_OBJECT_FREE);
    CU_ASSERT_STRING_EQUAL(order(&selected), "OF2@12 OF7@12");
    selected.kinds = TRACE_KIND_BIT(EVENT_OBJECT_ALLOC);
    CU_ASSERT_STRING_EQUAL(order(&selected), "OA10@10");
    event_selection_init(&selected);
    selected.to_ns = 3999;
    CU_ASSERT_STRING_EQUAL(order(&selected), "OA1@1 OA2@2 OA3@3");
    event_selection_init(&selected);
    selected.threads = (struct selected_globs){.items = {"1"}, .count = 1};
    CU_ASSERT_STRING_EQUAL(order(&selected), "MN3@11");
    unlink(path);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("convert_merge", NULL, NULL);
    CU_ADD_TEST(suite, test_ranks);
    CU_ADD_TEST(suite, test_dependencies);
    CU_ADD_TEST(suite, test_no_deadlock);
    CU_ADD_TEST(suite, test_single_stream);
    CU_ADD_TEST(suite, test_small_blocks);
    CU_ADD_TEST(suite, test_many_streams);
    CU_ADD_TEST(suite, test_slices);
}
