/* SPDX-License-Identifier: Apache-2.0 */
/* Records of many streams in one order, selections, and the files of step_writer_open(). */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/io/memory_output.h"
#include "steptrace/records.h"
#include "steptrace/writer.h"
#include "tests/formats/step/records_test.h"
#include "tests/unit/run_suite.h"

enum { STREAMS = 7, RECORDS = 2000, BLOCK = 64 };

static const char text[] =
    "package a { record Event { int time <property:\"time\">; int number; }"
    " record Left extends Event { } record Right extends Event { <map:\"to=Extra,n=number\"> } }"
    "package a { record Extra { int n; } } package b { record Left { int x; } }";

/* Record i goes into stream i % STREAMS, at time i / 3; every tenth is one without a time. */
static struct step_reader *write_trace(const struct step_definition *definition,
                                       struct step_buffer *memory)
{
    struct step_writer_options options;
    struct step_writer *writer = NULL;
    struct step_reader *reader = NULL;
    step_writer_options_init(&options);
    options.definition = definition;
    options.output = step_memory_output(memory);
    options.block_records = BLOCK;
    CU_ASSERT_EQUAL_FATAL(step_writer_create(&options, &writer, NULL), STEP_STATUS_OK);
    uint32_t left = step_definition_find(definition, "a.Left");
    uint32_t right = step_definition_find(definition, "a.Right");
    uint32_t untimed = step_definition_find(definition, "b.Left");
    for (uint64_t i = 0; i < RECORDS; i++) {
        const uint64_t slots[] = {i / 3, i};
        uint32_t record = i % 10 == 9 ? untimed : i % 2 == 0 ? left : right;
        CU_ASSERT_EQUAL(step_writer_put(writer, i % STREAMS, record, slots), STEP_STATUS_OK);
    }
    CU_ASSERT_EQUAL_FATAL(step_writer_close(writer, NULL), STEP_STATUS_OK);
    step_writer_destroy(writer);
    CU_ASSERT_EQUAL_FATAL(
        step_reader_open_memory(memory->data, memory->length, "memory", &reader, NULL),
        STEP_STATUS_OK);
    return reader;
}

static enum step_status write_to(const char *path, const struct step_definition *definition)
{
    struct step_writer_options options;
    struct step_writer *writer = NULL;
    step_writer_options_init(&options);
    options.definition = definition;
    enum step_status status = step_writer_open(path, &options, &writer, NULL);
    if (status == STEP_STATUS_OK)
        status = step_writer_close(writer, NULL);
    step_writer_destroy(writer);
    return status;
}

/* What is no plain file stays what it is. */
static void test_no_plain_file(void)
{
    struct step_definition *definition = parse(text);
    char directory[] = "/tmp/step_records_XXXXXX", path[64], magic[4] = "";
    struct stat status;
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/pipe", directory);
    CU_ASSERT_EQUAL_FATAL(mkfifo(path, 0600), 0);
    int pipe = open(path, O_RDWR); /* so that nothing waits */
    CU_ASSERT_EQUAL(write_to(path, definition), STEP_STATUS_OK);
    CU_ASSERT(stat(path, &status) == 0 && S_ISFIFO(status.st_mode));
    CU_ASSERT(read(pipe, magic, sizeof magic) == 4 && memcmp(magic + 1, "STP", 3) == 0);
    close(pipe);
    remove(path);
    CU_ASSERT_EQUAL(write_to("/dev/null", definition), STEP_STATUS_OK);
    CU_ASSERT(stat("/dev/null", &status) == 0 && S_ISCHR(status.st_mode));
    CU_ASSERT_EQUAL(write_to(directory, definition), STEP_STATUS_IO);
    CU_ASSERT_EQUAL(write_to("", definition), STEP_STATUS_INVALID);
    CU_ASSERT_EQUAL(rmdir(directory), 0); /* nothing was left in it */
    step_definition_destroy(definition);
}

/* How often each status comes; the records that are given are in the order of their numbers. */
struct checked_tally {
    uint64_t records, damaged, cut;
};

static struct checked_tally read_checked(const struct step_buffer *memory, size_t length)
{
    struct checked_tally tally = {0};
    struct step_reader *reader;
    struct step_records *records;
    struct step_record_view view;
    struct step_error error = {0};
    enum step_status status;
    CU_ASSERT_EQUAL_FATAL(step_reader_open_memory(memory->data, length, "memory", &reader, NULL),
                          STEP_STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(step_records_create(reader, NULL, &records, NULL), STEP_STATUS_OK);
    while ((status = step_records_next_checked(records, &view, &error)) != STEP_STATUS_END) {
        CU_ASSERT_FATAL(status == STEP_STATUS_OK || status == STEP_STATUS_CORRUPT ||
                        status == STEP_STATUS_CUT);
        tally.records += status == STEP_STATUS_OK;
        tally.damaged += status == STEP_STATUS_CORRUPT;
        tally.cut += status == STEP_STATUS_CUT;
        if (status != STEP_STATUS_OK)
            CU_ASSERT(error.status == status && error.message[0] != '\0');
    }
    CU_ASSERT_EQUAL(tally.damaged, step_reader_damage_count(reader));
    CU_ASSERT_EQUAL(step_records_next_checked(records, &view, &error), STEP_STATUS_END);
    step_records_destroy(records);
    step_reader_destroy(reader);
    return tally;
}

/* Damage is told once a place, what is behind it is given; a cut is told at the end. */
static void test_checked(void)
{
    struct step_definition *definition = parse(text);
    struct step_buffer memory = {.data = NULL};
    struct step_reader *reader = write_trace(definition, &memory);
    uint64_t offset = step_reader_block_info(reader, 2)->offset;
    uint64_t lost = step_reader_block_info(reader, 2)->record_count;
    uint64_t whole = step_reader_file_size(reader);
    step_reader_destroy(reader);
    struct checked_tally tally = read_checked(&memory, memory.length);
    CU_ASSERT(tally.records == RECORDS && tally.damaged == 0 && tally.cut == 0);
    memory.data[offset + 100] ^= 1;
    tally = read_checked(&memory, memory.length);
    CU_ASSERT(tally.records == RECORDS - lost && tally.damaged == 1 && tally.cut == 0);
    tally = read_checked(&memory, (size_t) whole - 1);
    CU_ASSERT(tally.records == RECORDS - lost && tally.damaged >= 1 && tally.cut == 1);
    memory.data[offset + 100] ^= 1;
    tally = read_checked(&memory, (size_t) offset);
    CU_ASSERT(tally.records > 0 && tally.records < RECORDS && tally.cut == 1);
    step_buffer_reset(&memory);
    step_definition_destroy(definition);
}

static void test_order(void)
{
    struct step_definition *definition = parse(text);
    struct step_buffer memory = {.data = NULL};
    struct step_reader *reader = write_trace(definition, &memory);
    struct step_records *records;
    struct step_record_view view;
    uint64_t count = 0, last = 0, done, all, of_stream[STREAMS] = {0};
    uint32_t untimed = step_definition_find(definition, "b.Left");
    CU_ASSERT_EQUAL_FATAL(step_records_create(reader, NULL, &records, NULL), STEP_STATUS_OK);
    for (; step_records_next(records, &view, NULL) == STEP_STATUS_OK; count++) {
        uint64_t stream = step_records_stream(records);
        CU_ASSERT_TRUE_FATAL(stream < STREAMS);
        if (view.record != untimed) {
            /* by time, at one time by stream, each stream in its order */
            CU_ASSERT_TRUE(view.slots[0] >= last);
            CU_ASSERT_EQUAL(view.slots[1] % STREAMS, stream);
            CU_ASSERT_TRUE(view.slots[1] >= of_stream[stream]);
            last = view.slots[0];
            of_stream[stream] = view.slots[1];
        }
    }
    CU_ASSERT_EQUAL(count, RECORDS);
    step_records_progress(records, &done, &all);
    CU_ASSERT_TRUE(done == all && all > 0);
    CU_ASSERT_EQUAL(step_records_next(records, &view, NULL), STEP_STATUS_END);
    step_records_destroy(records);
    step_reader_destroy(reader);
    step_buffer_reset(&memory);
    step_definition_destroy(definition);
}

/* ---- runs ---- */

struct place {
    uint64_t stream, time, number;
    uint32_t record;
};

/* The records in their order, and those that decide who waits. */
struct reading {
    const struct step_definition *definition;
    struct place places[RECORDS];
    size_t count, in_runs;
    uint64_t rights; /* how many records of a.Right came */
};

static void note_place(struct reading *reading, uint64_t stream, uint32_t record, uint64_t time,
                       uint64_t number)
{
    CU_ASSERT_FATAL(reading->count < RECORDS);
    reading->places[reading->count++] = (struct place){stream, time, number, record};
    reading->rights += record == step_definition_find(reading->definition, "a.Right");
}

static bool may_wait(const struct reading *reading, uint32_t record)
{
    return record == step_definition_find(reading->definition, "a.Left");
}

static bool must_wait(void *user, const struct step_records_front *front)
{
    const struct reading *reading = user;
    return may_wait(reading, front->view.record) && reading->rights % 3 != 0;
}

/* Streams of runs: ten records in one, then some in another, often several at one time. */
static void put_streams(struct step_writer *writer, const struct step_definition *definition)
{
    uint32_t left = step_definition_find(definition, "a.Left");
    uint32_t right = step_definition_find(definition, "a.Right");
    uint64_t back = 0;
    for (uint64_t i = 0; i < RECORDS; i++) {
        back = i % 97 == 96 ? 3 : 0; /* no stream need be sorted */
        const uint64_t slots[] = {i / 20 + 5 - back, i};
        CU_ASSERT_EQUAL(step_writer_put(writer, (i / 10 * i / 500) % STREAMS,
                                        i % 50 < 35 ? left : right, slots),
                        STEP_STATUS_OK);
    }
}

/* `most` 0: one by one. */
static void read_runs(const struct step_buffer *memory, bool waits, size_t most,
                      struct reading *reading)
{
    struct step_reader *reader;
    struct step_records *records;
    const struct step_records_front *front;
    struct step_records_run run;
    CU_ASSERT_EQUAL_FATAL(
        step_reader_open_memory(memory->data, memory->length, "memory", &reader, NULL),
        STEP_STATUS_OK);
    *reading = (struct reading){.definition = step_reader_borrow_definition(reader)};
    const struct step_records_rules rules = {.user = reading, .waits = waits ? must_wait : NULL};
    CU_ASSERT_EQUAL_FATAL(step_records_create_ordered(reader, &rules, &records, NULL),
                          STEP_STATUS_OK);
    while (step_records_next_front(records, &front, NULL) == STEP_STATUS_OK) {
        uint32_t record = front->view.record;
        note_place(reading, front->stream, record, front->view.slots[0], front->view.slots[1]);
        if (step_records_next_run(records, may_wait(reading, record), most, &run) == 0)
            continue;
        CU_ASSERT_TRUE(run.record == record && run.count <= most);
        for (size_t i = 0; i < run.count; i++)
            note_place(reading, front->stream, record, run.slots[0].values[i * run.slots[0].step],
                       run.slots[1].values[i * run.slots[1].step]);
        reading->in_runs += run.count;
    }
    CU_ASSERT_EQUAL(step_records_next_run(records, false, 10, &run), 0);
    step_records_destroy(records);
    step_reader_destroy(reader);
    reading->definition = NULL;
}

static bool are_equal(const struct reading *one, const struct reading *other)
{
    for (size_t i = 0; i < RECORDS; i++) {
        const struct place *a = &one->places[i], *b = &other->places[i];
        if (a->stream != b->stream || a->time != b->time || a->number != b->number ||
            a->record != b->record)
            return false;
    }
    return true;
}

/* By runs the records come in the same order as one by one, also where some wait for others. */
static void test_runs(void)
{
    static struct reading singly, by_runs;
    struct step_definition *definition = parse(text);
    struct step_buffer memory = {.data = NULL};
    struct step_writer_options options;
    struct step_writer *writer = NULL;
    step_writer_options_init(&options);
    options.definition = definition;
    options.output = step_memory_output(&memory);
    options.block_records = BLOCK;
    CU_ASSERT_EQUAL_FATAL(step_writer_create(&options, &writer, NULL), STEP_STATUS_OK);
    put_streams(writer, definition);
    CU_ASSERT_EQUAL_FATAL(step_writer_close(writer, NULL), STEP_STATUS_OK);
    step_writer_destroy(writer);
    for (int waits = 0; waits < 2; waits++) {
        read_runs(&memory, waits != 0, 0, &singly);
        CU_ASSERT_EQUAL(singly.count, RECORDS);
        CU_ASSERT_EQUAL(singly.in_runs, 0);
        for (size_t most = 1; most < 100; most *= 3) {
            read_runs(&memory, waits != 0, most, &by_runs);
            CU_ASSERT_TRUE(by_runs.in_runs > RECORDS / 20);
            CU_ASSERT_EQUAL(by_runs.count, RECORDS);
            CU_ASSERT_TRUE(are_equal(&by_runs, &singly));
        }
    }
    step_buffer_reset(&memory);
    step_definition_destroy(definition);
}

/* How many records a selection of these names gives, and whether they are what was asked for. */
static uint64_t count_selected(struct step_reader *reader, const char *const *names, size_t count,
                               bool maps, const char *asked)
{
    const struct step_definition *definition = step_reader_borrow_definition(reader);
    struct step_selection *selection = NULL;
    struct step_records *records = NULL;
    struct step_record_view view;
    uint64_t found = 0;
    CU_ASSERT_EQUAL_FATAL(step_selection_create(definition, names, count, maps, &selection, NULL),
                          STEP_STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(step_records_create(reader, selection, &records, NULL), STEP_STATUS_OK);
    uint32_t wanted = asked != NULL ? step_definition_find(definition, asked) : 0;
    for (; step_records_next(records, &view, NULL) == STEP_STATUS_OK; found++)
        CU_ASSERT_TRUE(asked == NULL || step_record_extends(definition, view.record, wanted));
    step_records_destroy(records);
    step_selection_destroy(selection);
    return found;
}

static void test_selection(void)
{
    struct step_definition *definition = parse(text);
    struct step_buffer memory = {.data = NULL};
    struct step_reader *reader = write_trace(definition, &memory);
    struct step_selection *selection = NULL;
    struct step_error error;
    const char *event[] = {"Event"}, *left[] = {"a.Left"}, *extra[] = {"Extra"};
    const char *both[] = {"a.Right", "b.Left"}, *unclear[] = {"Left"}, *none[] = {"a.Nothing"};
    CU_ASSERT_EQUAL(count_selected(reader, NULL, 0, false, NULL), RECORDS);
    CU_ASSERT_EQUAL(count_selected(reader, event, 1, false, "a.Event"), RECORDS * 9 / 10);
    CU_ASSERT_EQUAL(count_selected(reader, left, 1, false, "a.Left"), RECORDS / 2);
    CU_ASSERT_EQUAL(count_selected(reader, both, 2, false, NULL), RECORDS / 2);
    CU_ASSERT_EQUAL(count_selected(reader, extra, 1, false, "a.Extra"), 0);
    CU_ASSERT_EQUAL(count_selected(reader, extra, 1, true, "a.Extra"), RECORDS * 4 / 10);
    CU_ASSERT_EQUAL(step_selection_create(definition, unclear, 1, false, &selection, &error),
                    STEP_STATUS_INVALID);
    CU_ASSERT_STRING_EQUAL(error.message, "'Left' may be a.Left or b.Left");
    CU_ASSERT_EQUAL(step_selection_create(definition, none, 1, false, &selection, &error),
                    STEP_STATUS_NOT_FOUND);
    CU_ASSERT_PTR_NULL(selection);
    step_reader_destroy(reader);
    step_buffer_reset(&memory);
    step_definition_destroy(definition);
}

/* A damaged block is passed over, the rest comes. */
static void test_damage(void)
{
    struct step_definition *definition = parse(text);
    struct step_buffer memory = {.data = NULL};
    step_reader_destroy(write_trace(definition, &memory));
    struct step_reader *reader = NULL;
    CU_ASSERT_EQUAL_FATAL(
        step_reader_open_memory(memory.data, memory.length, "memory", &reader, NULL),
        STEP_STATUS_OK);
    const struct step_block_info *info = step_reader_block_info(reader, 3);
    memory.data[info->offset + info->stored_bytes - 1] ^= 0x55;
    CU_ASSERT_EQUAL(count_selected(reader, NULL, 0, false, NULL), RECORDS - info->record_count);
    CU_ASSERT_EQUAL(step_reader_damage_count(reader), 1);
    step_reader_destroy(reader);
    step_buffer_reset(&memory);
    step_definition_destroy(definition);
}

static void test_file_names(void)
{
    char directory[] = "/tmp/steptrace-records-XXXXXX", path[100], part[100], other[100];
    struct step_definition *definition = parse(text);
    struct step_writer_options options;
    struct step_writer *first = NULL, *second = NULL;
    struct step_reader *reader = NULL;
    const uint64_t slots[] = {1, 2};
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/x.step", directory);
    snprintf(part, sizeof part, "%s/x.step.part", directory);
    snprintf(other, sizeof other, "%s/x.step.1.part", directory);
    step_writer_options_init(&options);
    options.definition = definition;
    CU_ASSERT_EQUAL_FATAL(step_writer_open(path, &options, &first, NULL), STEP_STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(step_writer_open(path, &options, &second, NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE(access(path, F_OK) != 0 && access(part, F_OK) == 0 && access(other, F_OK) == 0);
    step_writer_put(first, 0, 0, slots);
    step_writer_flush(first);
    CU_ASSERT_EQUAL(step_writer_close(second, NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE(access(path, F_OK) == 0 && access(other, F_OK) != 0);
    step_writer_destroy(second);
    step_writer_destroy(first); /* not closed: what was written stays, under the other name */
    CU_ASSERT_EQUAL_FATAL(step_reader_open(part, &reader, NULL), STEP_STATUS_OK);
    CU_ASSERT_FALSE(step_reader_is_whole(reader));
    CU_ASSERT_EQUAL(step_reader_block_count(reader), 1);
    step_reader_destroy(reader);
    unlink(path);
    unlink(part);
    struct step_error error;
    snprintf(part, sizeof part, "%s/none/x.step", directory);
    CU_ASSERT_EQUAL(step_writer_open(part, &options, &first, &error), STEP_STATUS_IO);
    CU_ASSERT_PTR_NULL(first);
    CU_ASSERT_EQUAL(rmdir(directory), 0);
    step_definition_destroy(definition);
}

void add_suite(void)
{
    records_add_maps_suite();
    CU_pSuite suite = CU_add_suite("records", NULL, NULL);
    CU_ADD_TEST(suite, test_order);
    CU_ADD_TEST(suite, test_runs);
    CU_ADD_TEST(suite, test_checked);
    CU_ADD_TEST(suite, test_no_plain_file);
    CU_ADD_TEST(suite, test_selection);
    CU_ADD_TEST(suite, test_damage);
    CU_ADD_TEST(suite, test_file_names);
}
