/* SPDX-License-Identifier: Apache-2.0 */
/* Files of one recording are joined: dictionaries, objects that live across files, exact windows,
 * and files that do not belong together. */
#include <CUnit/Basic.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "converter/files/joined_files.h"
#include "steptrace/java_trace.h"
#include "steptrace/live.h"
#include "steptrace/writer.h"
#include "tests/unit/run_suite.h"

#define THREAD_STREAM 2u
#define LOTS (UINT64_C(1) << 53)

static char directory[64];

static void make_directory(void)
{
    snprintf(directory, sizeof directory, "/tmp/joined-XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(directory));
}

static void remove_directory(unsigned files)
{
    char path[128];
    for (unsigned i = 1; i <= files; i++) {
        snprintf(path, sizeof path, "%s/run.%06u.step", directory, i);
        unlink(path);
    }
    CU_ASSERT_EQUAL(rmdir(directory), 0);
}

/* A file of the ring, of which object ids from `first_object` on are. */
struct file {
    struct step_writer *writer;
    uint64_t time;
};

static struct file begin(unsigned number, uint64_t first_object, const char *set,
                         const char *engine)
{
    struct file file = {.time = 1000 * (uint64_t) number};
    struct step_writer_options options;
    char path[128], text[32];
    step_writer_options_init(&options);
    options.definition = &step_java_trace_definition;
    snprintf(path, sizeof path, "%s/run.%06u.step", directory, number);
    CU_ASSERT_EQUAL_FATAL(step_writer_open(path, &options, &file.writer, NULL), STEP_STATUS_OK);
    step_writer_property(file.writer, "engine", engine);
    step_writer_property(file.writer, "sample", "524288");
    step_writer_property(file.writer, "file-set", set);
    snprintf(text, sizeof text, "%u", number);
    step_writer_property(file.writer, "file-number", text);
    snprintf(text, sizeof text, "%" PRIu64, first_object);
    step_writer_property(file.writer, "first-object", text);
    if (strcmp(engine, "sampled") != 0)
        step_writer_property(file.writer, "window", "exact");
    struct step_java_vm_init event = {.time = file.time};
    step_java_vm_init_put(file.writer, STEP_LIVE_STREAM_GLOBAL, &event);
    return file;
}

static void end(struct file *file, uint64_t next_object)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, next_object);
    step_writer_property(file->writer, "next-object", text);
    step_writer_property(file->writer, "sample-repeats", "5");
    step_writer_property(file->writer, "file-set-repeats", "7");
    CU_ASSERT_EQUAL(step_writer_close(file->writer, NULL), STEP_STATUS_OK);
    step_writer_destroy(file->writer);
}

static uint64_t add_class(struct file *file, const char *name)
{
    uint64_t id;
    struct step_java_class entry = {.name = step_text(name)};
    step_java_class_define(file->writer, &entry, &id);
    return id;
}

static void add_thread(struct file *file, const char *name)
{
    uint64_t id;
    struct step_java_thread entry = {.name = step_text(name)};
    step_java_thread_define(file->writer, &entry, &id);
    struct step_java_thread_existing event = {.time = file->time, .thread = id};
    step_java_thread_existing_put(file->writer, STEP_LIVE_STREAM_GLOBAL, &event);
}

/* The agent met it before it listed the threads that there are. */
static void start_thread_again(struct file *file)
{
    struct step_java_thread_start event = {.time = file->time, .thread = 1};
    step_java_thread_start_put(file->writer, STEP_LIVE_STREAM_GLOBAL, &event);
}

static void allocate(struct file *file, uint64_t class, uint64_t object)
{
    struct step_java_object_alloc event = {
        .time = ++file->time, .thread = 1, .class_ = class, .size = 24, .object = object};
    step_java_object_alloc_put(file->writer, THREAD_STREAM, &event);
}

static void free_earlier(struct file *file, uint64_t object)
{
    struct step_java_object_free_earlier event = {.time = ++file->time, .object = object};
    step_java_object_free_earlier_put(file->writer, STEP_LIVE_STREAM_FREES, &event);
}

static void free_object(struct file *file, uint64_t object)
{
    struct step_java_object_free event = {.time = ++file->time, .object = object};
    step_java_object_free_put(file->writer, STEP_LIVE_STREAM_FREES, &event);
}

/* ---- what the joined trace has ---- */

struct seen {
    uint64_t allocs, frees, samples, threads, given_up, last_threshold;
    uint64_t class_of[16]; /* by object */
    uint64_t freed[16];    /* by object: when */
};

static void see(struct seen *seen, const struct step_java_trace_binding *binding,
                const struct step_record_view *view)
{
    struct step_java_object_sampled sampled;
    struct step_java_object_alloc alloc;
    struct step_java_object_free freed;
    struct step_java_object_given_up given_up;
    struct step_java_thread_start thread;
    if (step_java_object_sampled_get(binding, view, &sampled)) {
        CU_ASSERT_EQUAL(sampled.interval, 1);
        seen->samples++;
    }
    if (step_java_object_alloc_get(binding, view, &alloc)) {
        seen->allocs++;
        seen->class_of[alloc.object] = alloc.class_;
    } else if (step_java_object_free_get(binding, view, &freed)) {
        seen->frees++;
        seen->freed[freed.object] = freed.time;
    } else if (step_java_object_given_up_get(binding, view, &given_up)) {
        seen->given_up += given_up.object != 0;
        seen->last_threshold = given_up.threshold;
    } else if (step_java_thread_start_get(binding, view, &thread)) {
        seen->threads++;
    }
}

static struct seen read_all(struct step_reader *reader)
{
    struct seen seen = {.allocs = 0};
    struct step_java_trace_binding binding;
    struct step_block *block = NULL;
    struct step_record_view view;
    CU_ASSERT_EQUAL_FATAL(
        step_java_trace_bind(step_reader_borrow_definition(reader), &binding, NULL),
        STEP_STATUS_OK);
    for (size_t i = 0; i < step_reader_block_count(reader); i++) {
        CU_ASSERT_EQUAL_FATAL(step_reader_load(reader, i, NULL, &block, NULL), STEP_STATUS_OK);
        while (step_block_next(block, &view) == STEP_STATUS_OK)
            see(&seen, &binding, &view);
    }
    step_block_destroy(block);
    step_java_trace_unbind(&binding);
    return seen;
}

static struct step_reader *open_joined(void)
{
    char path[96];
    struct step_reader *reader;
    struct step_error error;
    snprintf(path, sizeof path, "%s/run.step", directory);
    CU_ASSERT_EQUAL_FATAL(joined_files_open(path, &reader, &error), STEP_STATUS_OK);
    CU_ASSERT_PTR_NOT_NULL_FATAL(reader);
    return reader;
}

static void write_two(void)
{
    struct file first = begin(1, 1, "a", "sampled");
    add_class(&first, "A");
    add_class(&first, "B");
    add_thread(&first, "main");
    allocate(&first, 1, 1);
    allocate(&first, 2, 2);
    end(&first, 3);
    struct file second = begin(2, 3, "a", "sampled");
    add_class(&second, "C");
    add_class(&second, "B");
    add_thread(&second, "main");
    start_thread_again(&second);
    add_thread(&second, "main");
    allocate(&second, 2, 3);
    allocate(&second, 1, 4);
    free_earlier(&second, 1);
    end(&second, 5);
}

static void test_two_files(void)
{
    make_directory();
    write_two();
    struct step_reader *reader = open_joined();
    struct seen seen = read_all(reader);
    CU_ASSERT(seen.allocs == 4 && seen.frees == 1 && seen.samples == 0);
    CU_ASSERT_EQUAL(seen.freed[1], 2003);
    CU_ASSERT(seen.class_of[1] == 1 && seen.class_of[2] == 2);
    CU_ASSERT(seen.class_of[3] == 2 && seen.class_of[4] == 3);
    CU_ASSERT_EQUAL(seen.threads, 2); /* two are called main in the second file */
    CU_ASSERT_STRING_EQUAL(step_reader_property(reader, "file-numbers"), "1 to 2");
    CU_ASSERT_STRING_EQUAL(step_reader_property(reader, "sample-repeats"), "7");
    CU_ASSERT_PTR_NULL(step_reader_property(reader, "file-set-gaps"));
    step_reader_destroy(reader);
    remove_directory(2);
}

/* Of four files the first and the third are not there. */
static void test_missing_files(void)
{
    make_directory();
    struct file second = begin(2, 3, "a", "sampled");
    add_class(&second, "A");
    allocate(&second, 1, 3);
    end(&second, 5);
    struct file fourth = begin(4, 9, "a", "sampled");
    free_earlier(&fourth, 1); /* of the first file */
    free_earlier(&fourth, 3);
    free_earlier(&fourth, 6); /* of the third file */
    end(&fourth, 9);
    struct step_reader *reader = open_joined();
    struct seen seen = read_all(reader);
    CU_ASSERT(seen.allocs == 1 && seen.frees == 1 && seen.freed[3] != 0);
    CU_ASSERT_STRING_EQUAL(step_reader_property(reader, "file-set-gaps"), "file 3 is missing");
    step_reader_destroy(reader);
    remove_directory(4);
}

/* Objects of the window stand for themselves; what outlives it is given up. */
static void test_window(void)
{
    make_directory();
    struct file first = begin(1, 1, "a", "sampled");
    add_class(&first, "A");
    allocate(&first, 1, 1);
    struct step_java_object_given_up event = {.time = first.time, .threshold = LOTS / 4};
    step_java_object_given_up_put(first.writer, STEP_LIVE_STREAM_FREES, &event);
    end(&first, 2);
    struct file window = begin(2, 2, "a", "bytecode");
    add_class(&window, "A");
    allocate(&window, 1, 2);
    allocate(&window, 1, 3);
    free_object(&window, 2);
    end(&window, 4);
    struct file third = begin(3, 4, "a", "sampled");
    free_earlier(&third, 1);
    end(&third, 4);
    struct step_reader *reader = open_joined();
    struct seen seen = read_all(reader);
    CU_ASSERT(seen.allocs == 3 && seen.samples == 2 && seen.frees == 2 && seen.given_up == 1);
    CU_ASSERT_EQUAL(seen.last_threshold, LOTS / 4);
    CU_ASSERT_STRING_EQUAL(step_reader_property(reader, "file-set-windows"), "1");
    CU_ASSERT_STRING_EQUAL(step_reader_property(reader, "engine"), "sampled");
    step_reader_destroy(reader);
    remove_directory(3);
}

static void refuse(const char *reason)
{
    char path[96];
    struct step_reader *reader;
    struct step_error error;
    snprintf(path, sizeof path, "%s/run.step", directory);
    CU_ASSERT_EQUAL(joined_files_open(path, &reader, &error), STEP_STATUS_CORRUPT);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, reason));
}

static void test_others(void)
{
    make_directory();
    struct file first = begin(1, 1, "a", "sampled");
    end(&first, 1);
    struct file second = begin(2, 1, "b", "sampled");
    end(&second, 1);
    refuse("different recordings");
    remove_directory(2);
    make_directory();
    first = begin(1, 1, "a", "sampled");
    add_class(&first, "A");
    first.time = UINT64_C(9000000000);
    allocate(&first, 1, 1);
    end(&first, 2);
    second = begin(2, 2, "a", "sampled");
    add_class(&second, "A");
    allocate(&second, 1, 2);
    end(&second, 3);
    refuse("it begins before");
    remove_directory(2);
    make_directory();
    first = begin(1, 1, "a", "bytecode");
    end(&first, 1);
    refuse("no file of its recording has samples");
    remove_directory(1);
}

/* Whoever puts a file of another recording there, first or last, does not keep the rest from being
 * read. */
static void test_planted(void)
{
    for (unsigned planted = 1; planted <= 3; planted += 2) {
        char gap[80];
        make_directory();
        for (unsigned number = 1; number <= 3; number++) {
            struct file file = begin(number, number, number == planted ? "b" : "a", "sampled");
            add_class(&file, "A");
            allocate(&file, 1, number);
            end(&file, number + 1);
        }
        struct step_reader *reader = open_joined();
        struct seen seen = read_all(reader);
        CU_ASSERT_EQUAL(seen.allocs, 2);
        const char *gaps = step_reader_property(reader, "file-set-gaps");
        snprintf(gap, sizeof gap, "file %u is missing; files of another recording were left out",
                 planted);
        CU_ASSERT(gaps != NULL && strcmp(gaps, gap) == 0);
        step_reader_destroy(reader);
        remove_directory(3);
    }
}

static void test_one_file(void)
{
    struct step_reader *reader;
    struct step_error error;
    CU_ASSERT_EQUAL(joined_files_open("/nowhere/run.step", &reader, &error), STEP_STATUS_OK);
    CU_ASSERT_PTR_NULL(reader);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("joined_files", NULL, NULL);
    CU_add_test(suite, "two files", test_two_files);
    CU_add_test(suite, "missing files", test_missing_files);
    CU_add_test(suite, "an exact window", test_window);
    CU_add_test(suite, "files of others", test_others);
    CU_add_test(suite, "a planted file", test_planted);
    CU_add_test(suite, "one file", test_one_file);
}
