/* SPDX-License-Identifier: Apache-2.0 */
/* The meaning of a Java trace's records: events, names, facts and phases (docs/formats/java.md). */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "converter/step/event_of_record.h"
#include "converter/step/phase_spans.h"
#include "steptrace/java_trace.h"
#include "steptrace/live.h"
#include "steptrace/records.h"
#include "steptrace/writer.h"
#include "tests/unit/run_suite.h"

#define THREAD_STREAM 2u

static char path[64];
static struct step_writer *writer;
static struct step_reader *reader;

static void begin_trace(const char *numbers)
{
    struct step_writer_options options;
    step_writer_options_init(&options);
    options.definition = &step_java_trace_definition;
    snprintf(path, sizeof path, "/tmp/event-XXXXXX");
    int file = mkstemp(path);
    CU_ASSERT_FATAL(file >= 0);
    close(file);
    CU_ASSERT_EQUAL_FATAL(step_writer_open(path, &options, &writer, NULL), STEP_STATUS_OK);
    if (numbers != NULL)
        step_writer_property(writer, THREAD_NUMBERS_PROPERTY, numbers);
}

static void open_trace(struct java_records *java)
{
    CU_ASSERT_EQUAL_FATAL(step_writer_close(writer, NULL), STEP_STATUS_OK);
    step_writer_destroy(writer);
    CU_ASSERT_EQUAL_FATAL(step_reader_open(path, &reader, NULL), STEP_STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(java_records_init(java, reader, NULL), STEP_STATUS_OK);
}

static void close_trace(struct java_records *java)
{
    java_records_reset(java);
    step_reader_destroy(reader);
    unlink(path);
}

static bool is_text(struct step_bytes bytes, const char *text)
{
    return bytes.length == strlen(text) && memcmp(bytes.data, text, bytes.length) == 0;
}

/* ---- events ---- */

static void define_names(void)
{
    uint64_t id;
    step_java_class_define(writer, &(struct step_java_class){.name = step_text("a/B")}, &id);
    step_java_method_define(
        writer, &(struct step_java_method){1, step_text("run"), step_text("()V"), 9}, &id);
    step_java_thread_define(writer, &(struct step_java_thread){step_text("#17 main"), 1}, &id);
    step_java_frame_define(writer, &(struct step_java_frame){.method = 1, .line = 5}, &id);
    step_java_frame_define(writer, &(struct step_java_frame){1, 1, 6, 0}, &id);
}

static void put_events(void)
{
    step_java_object_alloc_at_put(writer, THREAD_STREAM,
                                  &(struct step_java_object_alloc_at){.time = 10,
                                                                      .thread = 1,
                                                                      .class_ = 1,
                                                                      .size = 24,
                                                                      .object = 7,
                                                                      .padding = 3,
                                                                      .stack = 2});
    step_java_method_entry_put(writer, THREAD_STREAM,
                               &(struct step_java_method_entry){11, 1, 1, 7});
    step_java_object_death_put(
        writer, THREAD_STREAM,
        &(struct step_java_object_death){
            .time = 12, .thread = 1, .object = 7, .collected = 90, .how = 1});
    step_java_method_count_put(writer, THREAD_STREAM,
                               &(struct step_java_method_count){.time = 13,
                                                                .thread = 1,
                                                                .method = 1,
                                                                .calls = 4,
                                                                .exceptions = 1,
                                                                .inclusive = 50,
                                                                .exclusive = 20});
}

struct decoded {
    struct trace_event events[8];
    uint64_t ticks[8];
    size_t count;
    struct trace_fact fact;
    unsigned facts;
};

static void decode_all(struct stepfile_decoder *decoder, struct decoded *decoded)
{
    struct step_block *block = NULL;
    struct step_record_view view;
    *decoded = (struct decoded){.count = 0};
    for (size_t i = 0; i < step_reader_block_count(reader); i++) {
        CU_ASSERT_EQUAL_FATAL(step_reader_load(reader, i, NULL, &block, NULL), STEP_STATUS_OK);
        while (step_block_next(block, &view) == STEP_STATUS_OK) {
            bool is_event = stepfile_decoder_event(decoder, &view, &decoded->events[decoded->count],
                                                   &decoded->ticks[decoded->count]);
            decoded->count += is_event;
            decoded->facts += stepfile_decoder_fact(decoder, &view, &decoded->fact);
        }
    }
    step_block_destroy(block);
}

static void test_events(void)
{
    static struct decoded decoded;
    struct stepfile_decoder decoder = {.names = NULL};
    struct trace_names names;
    begin_trace(THREAD_NUMBERS_IN_NAMES);
    define_names();
    put_events();
    trace_names_init(&names);
    open_trace(&decoder.java);
    decoder.names = &names;
    decode_all(&decoder, &decoded);
    CU_ASSERT_EQUAL_FATAL(decoded.count, 3);
    const struct trace_event *alloc = &decoded.events[0], *entry = &decoded.events[1],
                             *death = &decoded.events[2];
    CU_ASSERT_TRUE(alloc->kind == EVENT_OBJECT_ALLOC && alloc->flags == 0 && alloc->size == 24);
    CU_ASSERT_TRUE(alloc->object == 7 && alloc->padding == 3 && alloc->stack_id == 2);
    CU_ASSERT_TRUE(alloc->class_id == 1 && alloc->thread_id == 1 && decoded.ticks[0] == 10);
    CU_ASSERT_TRUE(entry->kind == EVENT_METHOD_ENTRY && entry->object == 7);
    CU_ASSERT_EQUAL(entry->method_id, 1);
    CU_ASSERT_TRUE(death->kind == EVENT_OBJECT_FREE && death->collected_ns == 90);
    CU_ASSERT_EQUAL(death->flags, TRACE_DATED | TRACE_BOUND);
    CU_ASSERT_EQUAL(decoded.ticks[2], 12);
    CU_ASSERT_EQUAL(decoded.facts, 1);
    CU_ASSERT_TRUE(decoded.fact.kind == TRACE_METHOD_COUNT && decoded.fact.calls == 4);
    CU_ASSERT_TRUE(decoded.fact.exceptions == 1 && decoded.fact.exclusive_ns == 20);
    CU_ASSERT_TRUE(is_text(trace_class_of(&names, 1)->name, "a/B"));
    CU_ASSERT_TRUE(is_text(trace_method_of(&names, 1)->descriptor, "()V"));
    CU_ASSERT_EQUAL(trace_thread_of(&names, 1)->number, 17);
    CU_ASSERT_TRUE(is_text(trace_thread_of(&names, 1)->name, "main"));
    CU_ASSERT_EQUAL(trace_frame_of(&names, 2)->parent, 1);
    CU_ASSERT_EQUAL(trace_frame_of(&names, 1)->line, 5);
    CU_ASSERT_TRUE(stepfile_decoder_name(&decoder, STEP_JAVA_CLASS, 1));
    CU_ASSERT_FALSE(stepfile_decoder_name(&decoder, STEP_JAVA_CLASS, 2));
    close_trace(&decoder.java);
    trace_names_reset(&names);
}

/* ---- runs ---- */

enum { RUN_EVENTS = 700 };

/* Ids that are defined, 0, and such as no dictionary has; more than are remembered. */
static void put_runs(void)
{
    for (uint64_t i = 0; i < RUN_EVENTS; i++) {
        uint64_t class = i % 7 == 0 ? 0 : i % 11 == 0 ? UINT64_C(1) << 40 | 1 : i % 300 + 1;
        uint64_t thread = i < 400 ? 1 : i < 500 ? 0 : UINT64_MAX;
        uint64_t stack = i % 13 == 0 ? UINT64_MAX : i % 3;
        if (i % 100 < 40)
            step_java_object_alloc_at_put(writer, THREAD_STREAM,
                                          &(struct step_java_object_alloc_at){
                                              i, thread, class, i * i, i + 1, i % 400, stack});
        else if (i % 100 < 70)
            step_java_object_alloc_put(
                writer, THREAD_STREAM,
                &(struct step_java_object_alloc){i, thread, class, 16, i + 1, 0});
        else
            step_java_object_free_put(writer, THREAD_STREAM,
                                      &(struct step_java_object_free){i, thread, i - 69});
    }
}

/* Sets `events` to what the records are one by one, or with runs where they are taken.  Returns
 * their number. */
static size_t read_events(bool by_runs, struct trace_event *events, size_t *in_runs)
{
    struct stepfile_decoder decoder = {.names = NULL};
    struct trace_names names;
    struct step_records *records;
    struct step_records_run run;
    const struct step_records_front *front;
    size_t count = 0;
    CU_ASSERT_EQUAL_FATAL(step_reader_open(path, &reader, NULL), STEP_STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(java_records_init(&decoder.java, reader, NULL), STEP_STATUS_OK);
    trace_names_init(&names);
    decoder.names = &names;
    CU_ASSERT_EQUAL_FATAL(step_records_create(reader, NULL, &records, NULL), STEP_STATUS_OK);
    while (step_records_next_front(records, &front, NULL) == STEP_STATUS_OK) {
        uint32_t record = front->view.record;
        uint64_t ticks;
        CU_ASSERT_TRUE(stepfile_decoder_event(&decoder, &front->view, &events[count], &ticks));
        events[count++].time_ns = ticks * decoder.java.resolution_ns;
        if (!by_runs || !stepfile_decoder_takes_runs(&decoder, record) ||
            step_records_next_run(records, false, RUN_EVENTS, &run) == 0)
            continue;
        stepfile_decoder_run(&decoder, &run, &events[count]);
        count += run.count;
        *in_runs += run.count;
    }
    step_records_destroy(records);
    java_records_reset(&decoder.java);
    trace_names_reset(&names);
    step_reader_destroy(reader);
    return count;
}

static void test_runs(void)
{
    static struct trace_event singly[RUN_EVENTS], by_runs[RUN_EVENTS];
    size_t in_runs = 0;
    begin_trace(NULL);
    step_writer_property(writer, "resolution-ns", "1000");
    define_names();
    put_runs();
    CU_ASSERT_EQUAL_FATAL(step_writer_close(writer, NULL), STEP_STATUS_OK);
    step_writer_destroy(writer);
    CU_ASSERT_EQUAL(read_events(false, singly, &in_runs), RUN_EVENTS);
    CU_ASSERT_EQUAL(in_runs, 0);
    CU_ASSERT_EQUAL(read_events(true, by_runs, &in_runs), RUN_EVENTS);
    CU_ASSERT_TRUE(in_runs > RUN_EVENTS * 9 / 10);
    for (size_t i = 0; i < RUN_EVENTS; i++)
        CU_ASSERT_EQUAL(memcmp(&singly[i], &by_runs[i], sizeof singly[i]), 0);
    unlink(path);
}

/* Without the property a number is a part of the name, and the thread's is its id. */
static void test_thread_names(void)
{
    struct java_records java;
    struct step_java_thread entry;
    uint64_t number;
    begin_trace(NULL);
    define_names();
    open_trace(&java);
    CU_ASSERT_TRUE(java_thread(&java, 1, &entry, &number));
    CU_ASSERT_TRUE(is_text(entry.name, "#17 main") && number == 1);
    CU_ASSERT_FALSE(java_thread(&java, 2, &entry, &number));
    CU_ASSERT_TRUE(is_text(java_class_name(&java, 1), "a/B"));
    CU_ASSERT_TRUE(is_text(java_class_name(&java, 9), "?"));
    CU_ASSERT_TRUE(java.kinds[java_record_of(&java, STEP_JAVA_VM_DEATH)]->traits == JAVA_IS_LAST);
    close_trace(&java);
}

/* Within a tick the global stream comes first, what ends the trace last. */
static void test_ranks(void)
{
    static const struct java_kind event = {.traits = 0}, end = {.traits = JAVA_IS_LAST};
    uint8_t global = java_rank(&event, STEP_LIVE_STREAM_GLOBAL);
    uint8_t buffer = java_rank(&event, THREAD_STREAM);
    uint8_t frees = java_rank(&event, STEP_LIVE_STREAM_FREES);
    CU_ASSERT_TRUE(global < buffer && buffer < frees);
    CU_ASSERT_TRUE(frees < java_rank(&end, STEP_LIVE_STREAM_GLOBAL));
}

static void test_limits(void)
{
    CU_ASSERT_EQUAL(java_id(UINT32_MAX), 0);
    CU_ASSERT_EQUAL(java_id(UINT32_MAX - 1), UINT32_MAX - 1);
    CU_ASSERT_EQUAL(java_padding(300), UINT8_MAX);
    CU_ASSERT_EQUAL(java_interval(1u << 30), 1u << 30);
    CU_ASSERT_EQUAL(java_interval((1u << 30) + 1), 0);
}

/* ---- phases ---- */

static void mark_phase(bool begins, uint64_t time, uint64_t name, uint64_t scope)
{
    if (begins)
        step_java_phase_begin_put(
            writer, THREAD_STREAM,
            &(struct step_java_phase_begin){
                .time = time, .thread = 1, .name = name, .scope = scope, .depth = 1});
    else
        step_java_phase_end_put(
            writer, THREAD_STREAM,
            &(struct step_java_phase_end){
                .time = time, .thread = 1, .name = name, .scope = scope, .depth = 1});
}

/* An end without a begin is left out; what is open comes last, without an end. */
static void test_phases(void)
{
    struct java_records java;
    struct phase_spans spans;
    struct trace_phase phase;
    uint64_t id;
    begin_trace(NULL);
    define_names();
    step_java_phase_name_define(writer, &(struct step_java_phase_name){step_text("load")}, &id);
    step_java_phase_name_define(writer, &(struct step_java_phase_name){step_text("run")}, &id);
    mark_phase(false, 1, 1, 0);
    mark_phase(true, 2, 1, 0);
    mark_phase(true, 3, 2, 1);
    mark_phase(true, 4, 2, 0);
    mark_phase(false, 5, 1, 0);
    mark_phase(false, 6, 2, 1);
    open_trace(&java);
    CU_ASSERT_EQUAL_FATAL(phase_spans_open(&spans, &java, NULL), STEP_STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(phase_spans_next(&spans, &phase, NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE(is_text(phase.name, "load") && !phase.of_program && phase.thread_id == 1);
    CU_ASSERT_TRUE(phase.begin_ns == 2 && phase.end_ns == 5);
    CU_ASSERT_EQUAL_FATAL(phase_spans_next(&spans, &phase, NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE(is_text(phase.name, "run") && phase.of_program);
    CU_ASSERT_TRUE(phase.begin_ns == 3 && phase.end_ns == 6);
    CU_ASSERT_EQUAL_FATAL(phase_spans_next(&spans, &phase, NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE(is_text(phase.name, "run") && !phase.of_program);
    CU_ASSERT_TRUE(phase.begin_ns == 4 && phase.end_ns == UINT64_MAX);
    CU_ASSERT_EQUAL(phase_spans_next(&spans, &phase, NULL), STEP_STATUS_END);
    phase_spans_reset(&spans);
    close_trace(&java);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("records of Java traces", NULL, NULL);
    CU_add_test(suite, "events", test_events);
    CU_add_test(suite, "runs", test_runs);
    CU_add_test(suite, "names of threads", test_thread_names);
    CU_add_test(suite, "ranks", test_ranks);
    CU_add_test(suite, "limits", test_limits);
    CU_add_test(suite, "phases", test_phases);
}
