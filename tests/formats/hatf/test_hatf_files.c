/* SPDX-License-Identifier: Apache-2.0 */
/* HATF in files: plain, gzip, zstd, split; lines; cuts and damage of each. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "steptrace/packed.h"
#include "tests/formats/hatf/hatf_sample.h"
#include "tests/unit/run_suite.h"

enum { COUNT = 20000 };

static struct hatf_record records[COUNT];
static char path[128];

static void write_file(const char *name, enum hatf_split split, enum hatf_encoding encoding)
{
    struct hatf_writer *writer = NULL;
    struct hatf_encoder *encoder = NULL;
    struct step_error error = {.message = ""};
    snprintf(path, sizeof path, "hatf-files-%d-%s", (int) getpid(), name);
    CU_ASSERT_EQUAL_FATAL(hatf_writer_open(path, split, 0, &writer, &error), STEP_STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(hatf_encoder_create(writer, encoding, &encoder, &error), STEP_STATUS_OK);
    for (size_t i = 0; i < COUNT; i++)
        CU_ASSERT_EQUAL_FATAL(hatf_encoder_put(encoder, &records[i], &error), STEP_STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(hatf_encoder_flush(encoder, &error), STEP_STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(hatf_writer_close(writer, &error), STEP_STATUS_OK);
    hatf_encoder_destroy(encoder);
    hatf_writer_destroy(writer);
}

/* How many records read well; `*status` is how the reading ended. */
static size_t read_file(enum step_status *status)
{
    struct hatf_reader *reader = NULL;
    struct hatf_record record;
    struct step_error error;
    size_t at = 0;
    *status = hatf_reader_open(path, &reader, &error);
    while (*status == STEP_STATUS_OK) {
        *status = hatf_reader_next(reader, &record, &error);
        if (*status != STEP_STATUS_OK || record.tag == HATF_METADATA)
            continue;
        if (at == COUNT || !sample_same(&record, &records[at]))
            break;
        at++;
    }
    hatf_reader_destroy(reader);
    return at;
}

/* What the file at `path` is packed with, by its bytes. */
static void check_packing(enum step_packing packing)
{
    struct step_packed_input *input = NULL;
    CU_ASSERT_EQUAL_FATAL(step_packed_input_open(path, &input, NULL), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_packed_input_packing(input), packing);
    step_packed_input_close(input);
}

static void test_files(void)
{
    static const struct {
        const char *name;
        enum hatf_split split;
        enum step_packing packing;
    } files[] = {
        {"plain.hatf", HATF_SPLIT_NONE, STEP_PACKING_NONE},
        {"packed.hatf.gz", HATF_SPLIT_NONE, STEP_PACKING_GZIP},
#if STEPTRACE_ZSTD
        {"packed.hatf.zst", HATF_SPLIT_NONE, STEP_PACKING_ZSTD},
#endif
        {"fields.hatf.zip", HATF_SPLIT_FIELDS, STEP_PACKING_NONE},
        {"address.hatf.zip", HATF_SPLIT_ADDRESS, STEP_PACKING_NONE},
    };
    static const enum hatf_encoding encodings[] = {HATF_ENCODING_NAIVE, HATF_ENCODING_OPTIMAL};
    sample_fill(records, COUNT, 99);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        for (size_t j = 0; j < 2; j++) {
            enum step_status status;
            write_file(files[i].name, files[i].split, encodings[j]);
            check_packing(files[i].packing);
            CU_ASSERT_EQUAL(read_file(&status), COUNT);
            CU_ASSERT_EQUAL(status, STEP_STATUS_END);
            unlink(path);
        }
}

/* Whatever is cut off, the reader gives what is there, and says that it is not all. */
static void test_cut_files(void)
{
    static const char *const names[] = {"cut.hatf", "cut.hatf.gz", "cut.hatf.zip"};
    sample_fill(records, COUNT, 98);
    for (size_t i = 0; i < 3; i++) {
        enum step_status status;
        write_file(names[i], i == 2 ? HATF_SPLIT_FIELDS : HATF_SPLIT_NONE, HATF_ENCODING_BEST);
        FILE *file = fopen(path, "rb");
        CU_ASSERT_PTR_NOT_NULL_FATAL(file);
        fseek(file, 0, SEEK_END);
        long length = ftell(file);
        fclose(file);
        for (int part = 9; part > 0; part--) {
            CU_ASSERT_EQUAL_FATAL(truncate(path, length * part / 10 + 1), 0);
            size_t read = read_file(&status);
            CU_ASSERT_TRUE(read < COUNT);
            CU_ASSERT_TRUE(status != STEP_STATUS_OK && (i == 0 || status != STEP_STATUS_END));
        }
        unlink(path);
    }
}

/* A stream that is longer than its records need is no trace. */
static void test_left_over(void)
{
    static const uint8_t main_bytes[] = {HATF_FREE};
    static const uint8_t address[] = {0, 0, 0, 9, 7};
    struct step_packed_input *inputs[2] = {NULL, NULL};
    struct hatf_input streams[HATF_STREAM_COUNT] = {{NULL, NULL}};
    struct hatf_reader *reader = NULL;
    struct hatf_record record;
    struct step_error error = {.message = ""};
    step_packed_input_open_memory(main_bytes, sizeof main_bytes, "a", &inputs[0], NULL);
    step_packed_input_open_memory(address, sizeof address, "b", &inputs[1], NULL);
    streams[HATF_STREAM_MAIN] = (struct hatf_input){inputs[0], step_packed_input_read};
    streams[HATF_STREAM_OF(HATF_ADDRESS)] = (struct hatf_input){inputs[1], step_packed_input_read};
    CU_ASSERT_EQUAL_FATAL(
        hatf_reader_create_split(streams, HATF_SPLIT_ADDRESS, "split", &reader, &error),
        STEP_STATUS_OK);
    CU_ASSERT_EQUAL(hatf_reader_next(reader, &record, &error), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(record.address, 9);
    CU_ASSERT_EQUAL(hatf_reader_next(reader, &record, &error), STEP_STATUS_CORRUPT);
    CU_ASSERT_STRING_EQUAL(error.message, "the stream address goes on after the last record");
    hatf_reader_destroy(reader);
    step_packed_input_close(inputs[0]);
    step_packed_input_close(inputs[1]);
}

/* Collects up to the room of `packed_bytes`. */
static uint8_t packed_bytes[8u << 20];
static size_t packed_length;

static enum step_status collect(void *user, const void *data, size_t length,
                                struct step_error *error)
{
    (void) user;
    (void) error;
    CU_ASSERT_FATAL(length <= sizeof packed_bytes - packed_length);
    memcpy(packed_bytes + packed_length, data, length);
    packed_length += length;
    return STEP_STATUS_OK;
}

/* Returns how many of `mib` MiB of zeros, packed, can be read back, and how that ends. */
static uint64_t read_zeros(enum step_packing packing, unsigned mib, enum step_status *status)
{
    static uint8_t bytes[1u << 20];
    struct step_packed_output *output = NULL;
    struct step_packed_input *input = NULL;
    uint64_t all = 0;
    size_t got = 1;
    memset(bytes, 0, sizeof bytes);
    packed_length = 0;
    CU_ASSERT_EQUAL_FATAL(
        step_packed_output_create(packing, 9, &(struct step_output){NULL, collect}, &output, NULL),
        STEP_STATUS_OK);
    const struct step_output to = step_packed_output_as_output(output);
    for (unsigned i = 0; i < mib; i++)
        to.write(to.user, bytes, sizeof bytes, NULL);
    CU_ASSERT_EQUAL_FATAL(step_packed_output_close(output, NULL), STEP_STATUS_OK);
    step_packed_output_destroy(output);
    step_packed_input_open_memory(packed_bytes, packed_length, "zeros", &input, NULL);
    for (*status = STEP_STATUS_OK; *status == STEP_STATUS_OK && got > 0; all += got)
        *status = step_packed_input_read(input, bytes, sizeof bytes, &got, NULL);
    step_packed_input_close(input);
    return all;
}

/* A small file cannot stand for any number of bytes. */
static void test_long_zeros(void)
{
    enum step_status status;
    CU_ASSERT_EQUAL(read_zeros(STEP_PACKING_GZIP, 1100, &status), UINT64_C(1100) << 20);
    CU_ASSERT_EQUAL(status, STEP_STATUS_OK);
#if STEPTRACE_ZSTD
    uint64_t all = read_zeros(STEP_PACKING_ZSTD, 1280, &status);
    CU_ASSERT_EQUAL(status, STEP_STATUS_CORRUPT);
    CU_ASSERT(all >= UINT64_C(1) << 30 && all < UINT64_C(1280) << 20);
#endif
}

/* ---- lines ---- */

static void test_lines(void)
{
    static char line[HATF_LINE_MAX];
    static uint8_t bytes[HATF_LINE_MAX];
    struct sample_output out = {NULL, 0, 0};
    sample_fill(records, COUNT, 97);
    for (size_t i = 0; i < COUNT; i++) {
        struct hatf_record back;
        size_t length = hatf_line_format(&records[i], line);
        CU_ASSERT_TRUE_FATAL(length > 1 && line[length - 1] == '\n');
        CU_ASSERT_PTR_NULL_FATAL(hatf_line_parse(line, length - 1, &back, bytes));
        CU_ASSERT_TRUE(sample_same(&back, &records[i]));
        sample_write(&out, line, length, NULL);
    }
    struct hatf_text_reader *reader = NULL;
    struct hatf_record record;
    struct step_error error = {.message = ""};
    CU_ASSERT_EQUAL_FATAL(
        hatf_text_reader_open_memory(out.data, out.length, "lines", &reader, &error),
        STEP_STATUS_OK);
    size_t at = 0;
    while (hatf_text_reader_next(reader, &record, &error) == STEP_STATUS_OK)
        CU_ASSERT_TRUE_FATAL(at < COUNT && sample_same(&record, &records[at++]));
    CU_ASSERT_EQUAL(at, COUNT);
    hatf_text_reader_destroy(reader);
    free(out.data);
}

/* All bytes survive, and what a line may not hold is escaped. */
static void test_escapes(void)
{
    static char line[HATF_LINE_MAX];
    static uint8_t bytes[HATF_LINE_MAX];
    uint8_t all[256];
    for (unsigned i = 0; i < 256; i++)
        all[i] = (uint8_t) i;
    struct hatf_record record = {.tag = HATF_ALLOC, .attributes = {all, sizeof all}};
    struct hatf_record back;
    size_t length = hatf_line_format(&record, line);
    CU_ASSERT_PTR_EQUAL(memchr(line, '\n', length), line + length - 1);
    CU_ASSERT_PTR_NULL(hatf_line_parse(line, length - 1, &back, bytes));
    CU_ASSERT_TRUE(sample_same(&record, &back));
    record = (struct hatf_record){.tag = HATF_COMMENT, .comment = {all, sizeof all}};
    length = hatf_line_format(&record, line);
    CU_ASSERT_PTR_EQUAL(memchr(line, '\n', length), line + length - 1);
    CU_ASSERT_PTR_NULL(hatf_line_parse(line, length - 1, &back, bytes));
    CU_ASSERT_TRUE(sample_same(&record, &back));
}

static void test_bad_lines(void)
{
    static const struct {
        const char *line;
        const char *fault;
    } bad[] = {
        {"", "unknown tag"},
        {"malloc 1 2", "unknown tag"},
        {"alloc  1", "a number is expected"},
        {"alloc 1 ", "a number is expected"},
        {"alloc 1 2x", "a number is expected"},
        {"alloc 18446744073709551616", "a number is expected"},
        {"free 1 2", "a number in a column that the tag does not have"},
        {"createThread 0 0 0 1 2", "a number in a column that the tag does not have"},
        {"alloc 1 2 0 0 0 0 a b", "too many columns"},
        {"alloc 1 2 0 0 0 0 \\x1", "a backslash that begins neither \\\\ nor \\xHH"},
        {"alloc 1 2 0 0 0 0 \\x1G", "a backslash that begins neither \\\\ nor \\xHH"},
        {"# \\", "a backslash that begins neither \\\\ nor \\xHH"},
    };
    uint8_t bytes[64];
    struct hatf_record record;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const char *fault = hatf_line_parse(bad[i].line, strlen(bad[i].line), &record, bytes);
        CU_ASSERT_PTR_NOT_NULL_FATAL(fault);
        CU_ASSERT_STRING_EQUAL(fault, bad[i].fault);
    }
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("hatf files", NULL, NULL);
    CU_add_test(suite, "files", test_files);
    CU_add_test(suite, "cut files", test_cut_files);
    CU_add_test(suite, "left over", test_left_over);
    CU_add_test(suite, "long zeros", test_long_zeros);
    CU_add_test(suite, "lines", test_lines);
    CU_add_test(suite, "escapes", test_escapes);
    CU_add_test(suite, "bad lines", test_bad_lines);
}
