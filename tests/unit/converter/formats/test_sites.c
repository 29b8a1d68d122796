/* SPDX-License-Identifier: Apache-2.0 */
/* Call stacks of a STEP trace: frames that are damaged, and a copy that keeps them. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "converter/formats/format_table.h"
#include "converter/heap/heap_sites.h"
#include "converter/output/output_file.h"
#include "converter/step/stepfile.h"
#include "converter/trace/trace_sink.h"
#include "steptrace/java_trace.h"
#include "tests/unit/run_suite.h"

#define STREAM 2u

static enum step_status write_file(void *user, const void *data, size_t length,
                                   struct step_error *error)
{
    (void) error;
    return fwrite(data, 1, length, user) == length ? STEP_STATUS_OK : STEP_STATUS_IO;
}

static void put_frame(struct step_writer *writer, uint64_t parent, uint64_t method, uint64_t line)
{
    const struct step_java_frame frame = {.parent = parent, .method = method, .line = line};
    CU_ASSERT_EQUAL_FATAL(step_java_frame_define(writer, &frame, NULL), STEP_STATUS_OK);
}

static void put_alloc(struct step_writer *writer, uint64_t object, uint64_t stack)
{
    const struct step_java_object_alloc_at alloc = {
        .time = object, .class_ = 1, .size = 16, .object = object, .stack = stack};
    CU_ASSERT_EQUAL_FATAL(step_java_object_alloc_at_put(writer, STREAM, &alloc), STEP_STATUS_OK);
}

/* Frame 1: m; 2: m called from m; 3: called from itself; 4: called from one that comes later; 5: of
 * a method that is not there. */
static void write_trace(char *path)
{
    struct step_writer_options options;
    struct step_writer *writer = NULL;
    FILE *file = fdopen(mkstemp(path), "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    step_writer_options_init(&options);
    options.definition = &step_java_trace_definition;
    options.output = (struct step_output){file, write_file};
    CU_ASSERT_EQUAL_FATAL(step_writer_create(&options, &writer, NULL), STEP_STATUS_OK);
    const struct step_java_class class = {.name = {(const uint8_t *) "C", 1}};
    const struct step_java_method method = {.class_ = 1,
                                            .name = {(const uint8_t *) "m", 1},
                                            .descriptor = {(const uint8_t *) "()V", 3}};
    CU_ASSERT_EQUAL(step_java_class_define(writer, &class, NULL), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_java_method_define(writer, &method, NULL), STEP_STATUS_OK);
    put_frame(writer, 0, 1, 10);
    put_frame(writer, 1, 1, 20);
    put_frame(writer, 3, 1, 30);
    put_frame(writer, 5, 1, 40);
    put_frame(writer, 2, 77, 50);
    for (uint64_t i = 1; i <= 5; i++)
        put_alloc(writer, i, i);
    put_alloc(writer, 6, 2);
    CU_ASSERT_EQUAL(step_writer_close(writer, NULL), STEP_STATUS_OK);
    step_writer_destroy(writer);
    fclose(file);
}

/* The stacks of the trace's allocations, innermost frame first: "C.m:20<C.m:10 ...". */
static const char *stacks_of(const char *path)
{
    static char text[1024];
    char frame[128];
    struct event_selection selected;
    struct event_source *source = NULL;
    struct trace_event events[8];
    struct heap_sites sites;
    size_t count = 0, used = 0;
    event_selection_init(&selected);
    CU_ASSERT_EQUAL_FATAL(trace_open_events(path, NULL, &selected, &source, NULL, NULL),
                          STEP_STATUS_OK);
    CU_ASSERT_EQUAL(source->operations->read(source, events, 8, &count, NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE_FATAL(heap_sites_init(&sites, &source->names));
    for (size_t i = 0; i < count; i++) {
        const char *separator = i > 0 ? " " : "";
        for (uint32_t at = heap_sites_of_frame(&sites, events[i].stack_id); at != 0;
             at = sites.items[at].parent) {
            heap_site_print(&sites, at, frame, sizeof frame);
            used += (size_t) snprintf(text + used, sizeof text - used, "%s%s", separator, frame);
            separator = "<";
        }
    }
    heap_sites_reset(&sites);
    source->operations->destroy(source);
    return text;
}

static void copy_trace(const char *from, const char *to)
{
    struct event_selection selected;
    struct event_source *source = NULL;
    struct trace_sink *sink = NULL;
    struct output_file output;
    struct trace_event events[8];
    size_t count = 0;
    event_selection_init(&selected);
    CU_ASSERT_EQUAL_FATAL(trace_open_events(from, NULL, &selected, &source, NULL, NULL),
                          STEP_STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(output_file_open(&output, to, NULL), STEP_STATUS_OK);
    const struct format_output to_file = {&format_step, &output, source, NULL};
    CU_ASSERT_EQUAL_FATAL(trace_sink_create(&to_file, false, &sink, NULL), STEP_STATUS_OK);
    while (source->operations->read(source, events, 8, &count, NULL) == STEP_STATUS_OK)
        CU_ASSERT_EQUAL(trace_sink_put(sink, events, count, NULL), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(trace_sink_close(sink, NULL), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(output_file_commit(&output, NULL), STEP_STATUS_OK);
    trace_sink_destroy(sink);
    source->operations->destroy(source);
}

static void test_stacks(void)
{
    static const char expected[] =
        "C.m:10 C.m:20<C.m:10 C.m:30 C.m:40 ?77:50<C.m:20<C.m:10 C.m:20<C.m:10";
    static const char copied[] =
        "C.m:10 C.m:20<C.m:10 C.m:30 C.m:40 ?.?77:50<C.m:20<C.m:10 C.m:20<C.m:10";
    char path[] = "/tmp/steptrace-sites-XXXXXX", copy[64];
    write_trace(path);
    snprintf(copy, sizeof copy, "%s.step", path);
    CU_ASSERT_STRING_EQUAL(stacks_of(path), expected);
    copy_trace(path, copy);
    /* the copy has an entry for the class of the method that is not there, too */
    CU_ASSERT_STRING_EQUAL(stacks_of(copy), copied);
    unlink(path);
    unlink(copy);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("sites", NULL, NULL);
    CU_add_test(suite, "stacks of a trace", test_stacks);
}
