/* SPDX-License-Identifier: Apache-2.0 */
/* Records by type and by the values of their fields, in order of time. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "converter/records/record_filter.h"
#include "steptrace/java_trace.h"
#include "steptrace/writer.h"
#include "tests/unit/run_suite.h"

static char path[64];
static struct step_reader *reader;

static void put_object(struct step_writer *writer, uint64_t thread, uint64_t time, uint64_t size)
{
    step_java_object_alloc_put(
        writer, 1 + thread,
        &(struct step_java_object_alloc){
            .time = time, .thread = thread, .class_ = 1, .size = size, .object = time});
}

/* The times of two threads' allocations alternate; a free is at 6. */
static void open_trace(void)
{
    struct step_writer_options options;
    struct step_writer *writer;
    uint64_t id;
    step_writer_options_init(&options);
    options.definition = &step_java_trace_definition;
    snprintf(path, sizeof path, "/tmp/filter-XXXXXX");
    int file = mkstemp(path);
    CU_ASSERT_FATAL(file >= 0);
    close(file);
    CU_ASSERT_EQUAL_FATAL(step_writer_open(path, &options, &writer, NULL), STEP_STATUS_OK);
    step_java_class_define(writer, &(struct step_java_class){.name = step_text("A")}, &id);
    step_java_thread_define(writer, &(struct step_java_thread){.name = step_text("one")}, &id);
    step_java_thread_define(writer, &(struct step_java_thread){.name = step_text("two")}, &id);
    put_object(writer, 1, 1, 16);
    put_object(writer, 1, 3, 32);
    put_object(writer, 1, 5, 48);
    put_object(writer, 2, 2, 64);
    put_object(writer, 2, 4, 80);
    step_java_object_free_put(writer, 2, &(struct step_java_object_free){6, 1, 3});
    CU_ASSERT_EQUAL_FATAL(step_writer_close(writer, NULL), STEP_STATUS_OK);
    step_writer_destroy(writer);
    CU_ASSERT_EQUAL_FATAL(step_reader_open(path, &reader, NULL), STEP_STATUS_OK);
}

static void close_trace(void)
{
    step_reader_destroy(reader);
    unlink(path);
}

/* Expects the records at these times, a digit each. */
static void expect_times(const struct record_selection *selection, const char *wanted)
{
    struct record_filter *filter = NULL;
    struct record_order *order = NULL;
    struct step_record_view view;
    char times[16] = "";
    size_t count = 0;
    CU_ASSERT_EQUAL_FATAL(record_filter_create(reader, selection, &filter, NULL), STEP_STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(
        record_order_create(reader, record_filter_selection(filter), &order, NULL), STEP_STATUS_OK);
    while (record_order_next(order, &view, NULL) == STEP_STATUS_OK && count < sizeof times - 1)
        if (record_filter_takes(filter, &view))
            times[count++] = (char) ('0' + view.slots[0]);
    CU_ASSERT_STRING_EQUAL(times, wanted);
    record_order_destroy(order);
    record_filter_destroy(filter);
}

static void test_taken(void)
{
    struct event_selection all;
    static const struct {
        const char *names, *conditions[2], *wanted;
    } rows[] = {
        {"ObjectAlloc,ObjectFree", {NULL}, "123456"},
        {"ObjectAlloc", {NULL}, "12345"},
        {"ObjectFree", {NULL}, "6"},
        {"ObjectAlloc", {"size>=48"}, "245"},
        {"ObjectAlloc", {"size<48", "size!=16"}, "3"},
        {"ObjectAlloc", {"size=64"}, "2"},
        {"ObjectAlloc,ObjectFree", {"size>0"}, "12345"}, /* a free has no size */
        {"ObjectAlloc,ObjectFree", {"object=3"}, "36"},
    };
    event_selection_init(&all);
    open_trace();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct record_selection selection = {.names = rows[i].names, .selected = &all};
        for (; selection.condition_count < 2; selection.condition_count++) {
            if (rows[i].conditions[selection.condition_count] == NULL)
                break;
            selection.conditions[selection.condition_count] =
                rows[i].conditions[selection.condition_count];
        }
        expect_times(&selection, rows[i].wanted);
    }
    close_trace();
}

static void test_refused(void)
{
    struct event_selection all;
    const struct record_selection bad[] = {
        {.names = "ObjectAlloca", .selected = &all},
        {.names = "ObjectFree", .selected = &all, .conditions = {"size>1"}, .condition_count = 1},
        {.names = "ObjectAlloc",
         .selected = &all,
         .conditions = {"size>many"},
         .condition_count = 1}};
    event_selection_init(&all);
    open_trace();
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct record_filter *filter = NULL;
        struct step_error error;
        CU_ASSERT_EQUAL(record_filter_create(reader, &bad[i], &filter, &error),
                        STEP_STATUS_INVALID);
        record_filter_destroy(filter);
    }
    close_trace();
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("filters of records", NULL, NULL);
    CU_add_test(suite, "taken", test_taken);
    CU_add_test(suite, "refused", test_refused);
}
