/* SPDX-License-Identifier: Apache-2.0 */
/* Bad traces: faults with their offsets, files cut and changed at every byte, counts and sizes of
 * 2^63.  The generated reader has to end where the universal one ends, with the same error. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/formats/metatf/metatf_test.h"
#include "tests/unit/run_suite.h"

#define SEED UINT64_C(6364136223846793005)

static struct test_bytes write_trace(const struct generated *generated, size_t records,
                                     enum metatf_layout layout, enum step_compression compression)
{
    struct test_trace trace = test_trace_random(generated->dtd, records, SEED);
    struct metatf_writer_options options;
    struct step_error error = {.message = ""};
    struct test_bytes bytes = {0};
    metatf_writer_options_init(&options);
    options.layout = layout;
    options.compression = compression;
    options.embed_dtd = false;
    options.segment_bytes = 200;
    enum step_status status =
        test_write(generated->dtd, &trace, &options, true, SEED, &bytes, &error);
    if (status != STEP_STATUS_OK)
        fprintf(stderr, "%s\n", error.message);
    CU_ASSERT_EQUAL_FATAL(status, STEP_STATUS_OK);
    test_trace_free(&trace);
    return bytes;
}

/* Where metadata gave bytes a fixed width, the number that told their length may be any; generated
 * structs do not have it. */
static bool alike(const struct test_record *one, const struct test_record *other)
{
    for (size_t i = 1; i + 1 < one->count && one->count == other->count; i++)
        if (one->values[i + 1].bytes.length > 0)
            one->values[i].number = other->values[i].number;
    return test_record_equal(one, other);
}

/* Both readers; returns how many records there were. */
static size_t check_both(const struct generated *generated, const struct test_bytes *bytes,
                         struct step_error *error)
{
    struct test_trace one = {0}, other = {0};
    struct step_error other_error = {.offset = 0};
    *error = (struct step_error){.offset = 0};
    enum step_status status = test_read(generated->dtd, bytes, &one, error);
    enum step_status other_status = test_read_generated(generated, bytes, &other, &other_error);
    bool same = status == other_status && one.count == other.count &&
                (status == STEP_STATUS_OK || (error->offset == other_error.offset &&
                                              strcmp(error->message, other_error.message) == 0));
    for (size_t i = 0; same && i < one.count; i++)
        same = alike(&one.records[i], &other.records[i]);
    if (!same)
        fprintf(stderr, "%s: %s (%zu) or %s (%zu)\n", generated->name, error->message, one.count,
                other_error.message, other.count);
    CU_ASSERT_TRUE(same);
    error->status = status;
    size_t count = one.count;
    test_trace_free(&one);
    test_trace_free(&other);
    return count;
}

static void test_cut(void)
{
    for (unsigned i = 0; i < 6; i++) {
        struct test_bytes bytes = write_trace(
            &generated_readers[i % 2 * 2], 40, i % 3 == 2 ? METATF_INDEX : METATF_SEGMENTS,
            i % 3 == 1 ? STEP_COMPRESSION_ZSTD : STEP_COMPRESSION_NONE);
        size_t whole = bytes.length, last = 0;
        struct step_error error;
        for (bytes.length = 0; bytes.length < whole; bytes.length++) {
            struct test_bytes cut = {malloc(bytes.length + 1), bytes.length, 0};
            memcpy(cut.data, bytes.data, cut.length);
            size_t count = check_both(&generated_readers[i % 2 * 2], &cut, &error);
            CU_ASSERT_NOT_EQUAL(error.status, STEP_STATUS_OK);
            CU_ASSERT_TRUE(count >= last || i % 3 == 2); /* what was good is kept */
            last = count;
            free(cut.data);
        }
        free(bytes.data);
    }
}

static void test_changed_bytes(void)
{
    for (size_t g = 0; g < generated_count; g++) {
        struct test_bytes bytes =
            write_trace(&generated_readers[g], 60, METATF_SEGMENTS, STEP_COMPRESSION_NONE);
        struct step_error error;
        for (size_t i = 0; i < bytes.length; i++) {
            uint8_t old = bytes.data[i];
            bytes.data[i] ^= (uint8_t) (i % 3 == 0 ? 0xff : 1 << i % 8);
            check_both(&generated_readers[g], &bytes, &error);
            bytes.data[i] = old;
        }
        free(bytes.data);
    }
}

/* A file of class 1, little-endian, without an index; its DTD is the corpus'. */
static size_t read_run(const void *records, size_t length, struct step_error *error)
{
    uint8_t file[512] = {0x7f, 'M', 'T', 'F', 1, 1, 0};
    file[20] = 28;
    memcpy(file + 28, records, length);
    const struct test_bytes bytes = {file, 28 + length, 0};
    return check_both(&generated_readers[0], &bytes, error);
}

#define SECTION(n) 2, 0, 0, 0, n
#define FAULT(bytes_, offset_, text_)                                                              \
    do {                                                                                           \
        static const uint8_t bytes[] = bytes_;                                                     \
        struct step_error error;                                                                   \
        read_run(bytes, sizeof bytes, &error);                                                     \
        if (error.offset != (offset_) || strstr(error.message, text_) == NULL)                     \
            fprintf(stderr, "%llu: %s, not %s\n", (unsigned long long) error.offset,               \
                    error.message, text_);                                                         \
        CU_ASSERT_EQUAL(error.offset, offset_);                                                    \
        CU_ASSERT_PTR_NOT_NULL(strstr(error.message, text_));                                      \
    } while (0)
#define BYTES(...)                                                                                 \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static void test_faults(void)
{
    FAULT(BYTES(9, 9, 0, 0), 28, "record 1: unknown tag");
    FAULT(BYTES(SECTION(7)), 28, "a section that the DTD does not have");
    FAULT(BYTES(SECTION(20)), 28, "a section that the DTD does not have");
    FAULT(BYTES(SECTION(1), 10, 0, 0, 0, 1), 33, "record 2: the section ends inside the record");
    FAULT(BYTES(SECTION(1), 3, 0, 0, 0, 9, 0, 0, 0, 1, 0, 1, 0, 0, 0), 33, "no record that can");
    FAULT(BYTES(SECTION(1), 3, 0, 0, 0, 10, 0, 0, 0, 9, 0, 1, 0, 0, 0), 33, "no such field");
    FAULT(BYTES(SECTION(1), 3, 0, 0, 0, 10, 0, 0, 0, 0, 0, 1, 0, 0, 0), 33, "no such field");
    FAULT(BYTES(SECTION(1), 3, 0, 0, 0, 10, 0, 0, 0, 1, 8), 33, "unknown property");
    FAULT(BYTES(SECTION(1), 3, 0, 0, 0, 10, 0, 0, 0, 1, 0, 9, 0, 0, 0), 33, "width is too large");
    FAULT(BYTES(SECTION(1), 3, 0, 0, 0, 10, 0, 0, 0, 1, 7, 9, 0, 0, 0, 1, 0, 0, 0), 33,
          "not that of a number");
    FAULT(BYTES(SECTION(1), 3, 0, 0, 0, 10, 0, 0, 0, 1, 7, 20, 0, 0, 0, 9, 0, 0, 0), 33,
          "not that of a number");
    FAULT(BYTES(SECTION(1), 3, 0, 0, 0, 12, 0, 0, 0, 10, 3, 1, 0, 0, 0), 33, "bytes can be none");
    FAULT(BYTES(SECTION(1), 11, 0, 0, 0), 33, "too few numbers");
    FAULT(BYTES(SECTION(1), 13, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0x5b, 0, 0), 33, "DTD prescribes");
}

/* The count of `repeated` becomes 8 bytes wide, and 2^63; then so does the length of `untagged`. */
static void test_huge(void)
{
    FAULT(BYTES(SECTION(1), 3, 0, 0, 0, 12, 0, 0, 0, 1, 0, 8, 0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 0,
                0, 0, 0x80, 1, 2, 3),
          47, "a count is too large");
    FAULT(BYTES(SECTION(1), 3, 0, 0, 0, 12, 0, 0, 0, 8, 0, 8, 0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0x30,
                0, 0, 0, 0, 0, 1, 2, 3),
          47, "the section ends inside the record");
    FAULT(BYTES(SECTION(1), 3, 0, 0, 0, 14, 0, 0, 0, 1, 0, 8, 0, 0, 0, 14, 0, 0, 0, 0, 0, 0, 0, 0,
                0, 0, 0x80, 1, 2, 3),
          47, "a field is too long");
}

/* Headers and indices that lie. */
static void test_headers(void)
{
    struct test_bytes bytes =
        write_trace(&generated_readers[0], 20, METATF_INDEX, STEP_COMPRESSION_NONE);
    static const struct {
        size_t at;
        uint8_t value;
        enum step_status status;
    } rows[] = {{0, 0, STEP_STATUS_FORMAT},       {4, 3, STEP_STATUS_CORRUPT},
                {5, 0, STEP_STATUS_CORRUPT},      {7, 2, STEP_STATUS_UNSUPPORTED},
                {23, 0x80, STEP_STATUS_CUT},      {31, 0x80, STEP_STATUS_CUT},
                {40 + 15, 0x80, STEP_STATUS_CUT}, {40 + 4, 1, STEP_STATUS_CORRUPT},
                {40, 77, STEP_STATUS_CORRUPT}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct step_error error;
        uint8_t old = bytes.data[rows[i].at];
        bytes.data[rows[i].at] = rows[i].value;
        check_both(&generated_readers[0], &bytes, &error);
        if (error.status != rows[i].status)
            fprintf(stderr, "byte %zu: %s\n", rows[i].at, error.message);
        CU_ASSERT_EQUAL(error.status, rows[i].status);
        bytes.data[rows[i].at] = old;
    }
    free(bytes.data);
}

/* One section that the index lets end past the file: its records are read, then that is told. */
static void test_section_past_the_end(void)
{
    uint8_t file[] = {0x7f, 'M', 'T', 'F', 1,  1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                      1,    0,   0,   0,   40, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0,
                      40,   0,   0,   0,   9,  0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0};
    struct test_bytes bytes = {file, sizeof file, 0};
    struct step_error error;
    CU_ASSERT_EQUAL(check_both(&generated_readers[0], &bytes, &error), 2);
    CU_ASSERT_EQUAL(error.status, STEP_STATUS_CUT);
    CU_ASSERT_EQUAL(error.offset, sizeof file);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "the section ends past the end of the file"));
    file[36] = 8;
    CU_ASSERT_EQUAL(check_both(&generated_readers[0], &bytes, &error), 2);
    CU_ASSERT_EQUAL(error.status, STEP_STATUS_OK);
}

/* A header that tells of another number of records; sections that share bytes, or lie in the index.
 */
static void test_counts_and_places(void)
{
    uint8_t file[] = {0x7f, 'M', 'T', 'F', 1,  1,   0,   0, 0, 0, 0, 0, 0, 0, 0, 0, /* class 1 */
                      2,    0,   0,   0,   52, 0,   0,   0, 1, 0, 0, 0, /* 2, from 52, 1 record */
                      9,    0,   0,   0,   52, 0,   0,   0, 7, 0, 0, 0, /* table */
                      20,   0,   0,   0,   59, 0,   0,   0, 1, 0, 0, 0, /* numbers */
                      10,   0,   0,   0,   2,  'a', 'b', 0};            /* entry "ab" */
    struct test_bytes bytes = {file, sizeof file, 0};
    struct step_error error;
    CU_ASSERT_EQUAL(check_both(&generated_readers[0], &bytes, &error), 1);
    CU_ASSERT_EQUAL(error.status, STEP_STATUS_OK);
    file[24] = 99;
    CU_ASSERT_EQUAL(check_both(&generated_readers[0], &bytes, &error), 1);
    CU_ASSERT_EQUAL(error.status, STEP_STATUS_CORRUPT);
    CU_ASSERT_EQUAL(error.offset, 24);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "announces 99 data records, and has 1"));
    file[24] = 0; /* not told */
    check_both(&generated_readers[0], &bytes, &error);
    CU_ASSERT_EQUAL(error.status, STEP_STATUS_OK);
    file[44] = 58;
    check_both(&generated_readers[0], &bytes, &error);
    CU_ASSERT_EQUAL(error.status, STEP_STATUS_CORRUPT);
    CU_ASSERT_EQUAL(error.offset, 58);
    file[44] = 51;
    check_both(&generated_readers[0], &bytes, &error);
    CU_ASSERT_EQUAL(error.offset, 51);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("bad metatf traces", NULL, NULL);
    CU_add_test(suite, "faults", test_faults);
    CU_add_test(suite, "huge", test_huge);
    CU_add_test(suite, "headers", test_headers);
    CU_add_test(suite, "section past the end", test_section_past_the_end);
    CU_add_test(suite, "counts and places", test_counts_and_places);
    CU_add_test(suite, "cut", test_cut);
    CU_add_test(suite, "changed bytes", test_changed_bytes);
}
