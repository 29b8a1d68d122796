/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of all DTDs in all layouts, classes, byte orders and compressions: what one reader gives,
 * the other gives, and what one writer writes, the other writes. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "metatf_test.h"
#include "tests/unit/run_suite.h"

#define RECORDS 300u
#define SEED UINT64_C(88172645463325252)

/* Within a section the order is kept; between sections only that from piece to piece. */
static bool same_sections(const struct test_trace *one, const struct test_trace *other,
                          bool in_order)
{
    if (one->count != other->count)
        return false;
    size_t next[256] = {0};
    for (size_t i = 0; i < one->count; i++) {
        uint32_t section = one->records[i].section;
        size_t at = in_order ? i : next[section];
        while (!in_order && at < other->count && other->records[at].section != section)
            at++;
        if (at == other->count || !test_record_equal(&one->records[i], &other->records[at]))
            return false;
        next[section] = at + 1;
    }
    return true;
}

static void say(const char *what, const struct generated *generated,
                const struct metatf_writer_options *options, const struct step_error *error)
{
    fprintf(stderr, "%s: %s, layout %d, %s, %s, compression %d, seed %llu: %s\n", what,
            generated->name, options->layout, options->wide ? "wide" : "narrow",
            options->big_endian ? "big" : "little", options->compression, (unsigned long long) SEED,
            error->message);
}

static void check_case(const struct generated *generated, const struct test_trace *trace,
                       const struct metatf_writer_options *options, bool metadata)
{
    struct test_bytes bytes = {0}, universal = {0}, written = {0};
    struct test_trace read = {0}, read_generated = {0};
    struct step_error error = {.message = ""};
    bool good = test_write(generated->dtd, trace, options, metadata, SEED, &bytes, &error) ==
                    STEP_STATUS_OK &&
                test_read(generated->dtd, &bytes, &read, &error) == STEP_STATUS_OK;
    good = good && same_sections(trace, &read, options->layout == METATF_RECORDS);
    if (!good)
        say("universal", generated, options, &error);
    CU_ASSERT_TRUE_FATAL(good);
    good = test_read_generated(generated, &bytes, &read_generated, &error) == STEP_STATUS_OK &&
           same_sections(&read, &read_generated, true);
    if (!good)
        say("generated reader", generated, options, &error);
    CU_ASSERT_TRUE_FATAL(good);
    good = test_write(generated->dtd, &read, options, false, 0, &universal, &error) ==
               STEP_STATUS_OK &&
           test_copy_generated(generated, &bytes, options, &written, &error) == STEP_STATUS_OK &&
           universal.length == written.length &&
           memcmp(universal.data, written.data, written.length) == 0;
    if (!good)
        say("generated writer", generated, options, &error);
    CU_ASSERT_TRUE_FATAL(good);
    test_trace_free(&read);
    test_trace_free(&read_generated);
    free(bytes.data);
    free(universal.data);
    free(written.data);
}

static bool has_data(const struct metatf_dtd *dtd)
{
    for (uint32_t i = 0; i < dtd->section_count; i++)
        if (dtd->sections[i].is_data)
            return true;
    return false;
}

static void check_dtd(const struct generated *generated)
{
    struct test_trace trace = test_trace_random(generated->dtd, RECORDS, SEED);
    for (unsigned i = 0; i < 3 * 2 * 2 * 3 * 2; i++) {
        struct metatf_writer_options options;
        metatf_writer_options_init(&options);
        options.layout = (enum metatf_layout)(i % 3);
        options.wide = i / 3 % 2 == 0;
        options.big_endian = i / 6 % 2 == 0;
        options.compression = (enum step_compression)(i / 12 % 3);
        options.segment_bytes = i / 36 == 0 ? 700 : 0;
        options.short_ints = i % 2 == 0 && options.layout != METATF_SEGMENTS;
        options.dtd_name = i % 5 == 0 ? "http://example.org/trace.dtd" : "";
        if (options.layout == METATF_RECORDS) {
            if (has_data(generated->dtd) || options.compression != STEP_COMPRESSION_NONE)
                continue;
            options.embed_dtd = false;
        }
        check_case(generated, &trace, &options, false);
        check_case(generated, &trace, &options, true);
    }
    test_trace_free(&trace);
}

static void test_all(void)
{
    for (size_t i = 0; i < generated_count; i++)
        check_dtd(&generated_readers[i]);
}

/* The DTD that the file carries is the one that it was written with. */
static void test_embedded(void)
{
    const struct generated *generated = &generated_readers[0];
    struct test_trace trace = test_trace_random(generated->dtd, 5, SEED);
    struct test_bytes bytes = {0};
    struct step_error error;
    struct metatf_file *file;
    struct metatf_dtd *dtd;
    struct metatf_reader *reader;
    struct metatf_writer_options options;
    metatf_writer_options_init(&options);
    options.dtd_name = "corpus.dtd";
    CU_ASSERT_EQUAL_FATAL(test_write(generated->dtd, &trace, &options, false, 0, &bytes, &error),
                          STEP_STATUS_OK);
    const struct metatf_input input = test_input(&bytes);
    CU_ASSERT_EQUAL_FATAL(metatf_file_open(&input, "t", &file, &error), STEP_STATUS_OK);
    const struct metatf_file_about *about = metatf_file_about(file);
    CU_ASSERT_STRING_EQUAL(about->dtd_name, "corpus.dtd");
    CU_ASSERT_TRUE(about->records > 0 && about->records <= 5);
    CU_ASSERT_TRUE(about->whole);
    CU_ASSERT_EQUAL(about->dtd_length, generated->dtd->text_length);
    CU_ASSERT_EQUAL_FATAL(
        metatf_dtd_parse(about->dtd_text, about->dtd_length, "t", NULL, NULL, &dtd, &error),
        STEP_STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(metatf_reader_create(file, dtd, &reader, &error), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(metatf_reader_check(reader, generated->dtd, &error), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(metatf_reader_check(reader, generated_readers[1].dtd, &error),
                    STEP_STATUS_UNSUPPORTED);
    metatf_reader_destroy(reader);
    metatf_dtd_destroy(dtd);
    metatf_file_close(file);
    test_trace_free(&trace);
    free(bytes.data);
}

/* The header as the paper prints it, byte for byte, and the figure of HATF's metadata on slide 20:
 * the width of field 2 of alloc becomes 2 bytes. */
static void test_bytes_by_hand(void)
{
    static const char text[] = "tag.width = 1; size.width = 4; size.interpretation = none;"
                               "address.width = 4; address.interpretation = none;"
                               "section heap 1 { alloc : (tag, size, address) { tag.value = 4; } }";
    static const uint8_t expected[] = {
        0x7f, 'M', 'T', 'F', 1,  2,   1,   0,  0,    0, 0, 0,  0,
        0,    0,   0,                                               /* class 1, big-endian */
        0,    0,   0,   1,   0,  0,   0,   41, 0,    0, 0, 2,  'D', /* one section, 2 records */
        0,    0,   0,   1,   0,  0,   0,   41, 0,    0, 0, 24,      /* heap: 24 bytes from 41 */
        4,    0,   0,   0,   32, 0,   0,   4,  0xa0,                /* alloc 32 at 0x4a0 */
        3,    4,   2,   0,   0,  0,   0,   2,                       /* metadata alloc 2 width 2 */
        4,    0,   0,   0,   16, 0xf, 0x10};                        /* alloc 16 at 0xf10 */
    struct metatf_dtd *dtd;
    struct metatf_writer *writer;
    struct step_error error;
    struct test_bytes bytes = {0};
    struct metatf_writer_options options;
    CU_ASSERT_EQUAL_FATAL(
        metatf_dtd_parse(text, sizeof text - 1, "slide", NULL, NULL, &dtd, &error), STEP_STATUS_OK);
    metatf_writer_options_init(&options);
    options.dtd = dtd;
    options.output = test_output(&bytes);
    options.layout = METATF_INDEX;
    options.wide = options.embed_dtd = options.adapt = false;
    options.big_endian = true;
    options.dtd_name = "D";
    CU_ASSERT_EQUAL_FATAL(metatf_writer_create(&options, &writer, &error), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(metatf_writer_check(writer, dtd, &error), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(metatf_writer_check(writer, generated_readers[0].dtd, &error),
                    STEP_STATUS_UNSUPPORTED);
    struct metatf_value values[3] = {{.number = 4}, {.number = 32}, {.number = 0x4a0}};
    const struct metatf_metadata narrow = {.tag = 4, .field = 2, .value = 2};
    CU_ASSERT_EQUAL(metatf_writer_put(writer, 1, 0, values, 3, NULL, &error), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(metatf_writer_position(writer), 0);
    CU_ASSERT_EQUAL(metatf_writer_put_metadata(writer, 1, &narrow, &error), STEP_STATUS_OK);
    values[1].number = 16;
    values[2].number = 0xf10;
    CU_ASSERT_EQUAL(metatf_writer_put(writer, 1, 0, values, 3, NULL, &error), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(metatf_writer_position(writer), 17);
    uint32_t misfit = 0;
    values[2].number = 0x10000;
    CU_ASSERT_EQUAL(metatf_writer_put(writer, 1, 0, values, 3, &misfit, &error), STEP_STATUS_LIMIT);
    CU_ASSERT_EQUAL(misfit, 2);
    CU_ASSERT_EQUAL(metatf_writer_close(writer, &error), STEP_STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(bytes.length, sizeof expected);
    CU_ASSERT_EQUAL(memcmp(bytes.data, expected, sizeof expected), 0);
    metatf_writer_destroy(writer);
    metatf_dtd_destroy(dtd);
    free(bytes.data);
}

/* Bytes of a trace of 3000 equal records whose section `section` is compressed with zlib; 0: the
 * writer refused. */
static size_t compressed_bytes(const struct metatf_dtd *dtd, enum metatf_layout layout,
                               uint32_t section)
{
    struct metatf_writer *writer;
    struct test_trace read = {0};
    struct step_error error;
    struct test_bytes bytes = {0};
    struct metatf_writer_options options;
    metatf_writer_options_init(&options);
    options.dtd = dtd;
    options.output = test_output(&bytes);
    options.layout = layout;
    options.embed_dtd = false;
    CU_ASSERT_EQUAL_FATAL(metatf_writer_create(&options, &writer, &error), STEP_STATUS_OK);
    bool refused = metatf_writer_set_compression(writer, section, STEP_COMPRESSION_ZLIB, &error) !=
                   STEP_STATUS_OK;
    struct metatf_value values[2] = {{.number = 4}, {.number = 32}};
    for (int i = 0; i < 3000; i++)
        CU_ASSERT_EQUAL(metatf_writer_put(writer, 1, 0, values, 2, NULL, &error), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(metatf_writer_close(writer, &error), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(test_read(dtd, &bytes, &read, &error), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(read.count, 3000);
    size_t length = refused ? 0 : bytes.length;
    metatf_writer_destroy(writer);
    test_trace_free(&read);
    free(bytes.data);
    return length;
}

/* One section can be compressed and another not, where there are pieces to compress. */
static void test_compression_of_a_section(void)
{
    static const char text[] = "tag.width = 1; size.width = 4; size.interpretation = none;"
                               "section one 1 { a : (tag, size) { tag.value = 4; } }"
                               "section two 2 { b : (tag, size) { tag.value = 4; } }";
    struct metatf_dtd *dtd;
    struct step_error error;
    CU_ASSERT_EQUAL_FATAL(metatf_dtd_parse(text, sizeof text - 1, "t", NULL, NULL, &dtd, &error),
                          STEP_STATUS_OK);
    CU_ASSERT(compressed_bytes(dtd, METATF_SEGMENTS, 2) > 15000);
    size_t packed = compressed_bytes(dtd, METATF_SEGMENTS, 1);
    CU_ASSERT(packed > 0 && packed < 2000);
    CU_ASSERT_EQUAL(compressed_bytes(dtd, METATF_SEGMENTS, 3), 0);
    CU_ASSERT_EQUAL(compressed_bytes(dtd, METATF_RECORDS, 1), 0);
    metatf_dtd_destroy(dtd);
}

/* A number of a section of records, by their tag, that another section's field strides to: each is
 * both. */
static void test_stride_through_records(void)
{
    static const char text[] =
        "tag.width = 2; tag.interpretation = none; x.interpretation = sectionStride 7 6;\n"
        "section one 1 { r : (tag, x, y) { tag.value = 4; y.width = 1; y.interpretation = none; } "
        "}\n"
        "section seven 7 { q : (tag, z) { tag.value = 5; z.width = 4; z.interpretation = none; } }";
    static const uint8_t expected[] = {
        0x7f, 'M', 'T', 'F', 2, 2,  1, 0,  0, 0, 0, 0,  0,   0, 0, 0, /* class 2, ints of 4 bytes */
        0,    0,   0,   2,   0, 0,  0, 53, 0, 0, 0, 5,  'D',          /* 2 sections, 5 records */
        0,    0,   0,   1,   0, 0,  0, 53, 0, 0, 0, 6,                /* one */
        0,    0,   0,   7,   0, 0,  0, 59, 0, 0, 0, 18,               /* seven */
        0,    4,   1,   0,   4, 2,                                    /* r, r */
        0,    5,   0,   0,   0, 70, 0, 5,  1, 2, 3, 4,  0,   5, 0, 0,
        0,    9}; /* 70, 0x1020304, and one more */
    struct metatf_dtd *dtd;
    struct metatf_writer *writer;
    struct step_error error;
    struct test_bytes bytes = {0};
    struct test_trace read = {0};
    struct metatf_writer_options options;
    CU_ASSERT_EQUAL_FATAL(metatf_dtd_parse(text, sizeof text - 1, "t", NULL, NULL, &dtd, &error),
                          STEP_STATUS_OK);
    metatf_writer_options_init(&options);
    options.dtd = dtd;
    options.output = test_output(&bytes);
    options.layout = METATF_INDEX;
    options.short_ints = options.big_endian = true;
    options.embed_dtd = false;
    options.dtd_name = "D";
    CU_ASSERT_EQUAL_FATAL(metatf_writer_create(&options, &writer, &error), STEP_STATUS_OK);
    const struct metatf_value first[] = {{.number = 4}, {.number = 70}, {.number = 1}};
    const struct metatf_value second[] = {{.number = 4}, {.number = 0x1020304}, {.number = 2}};
    const struct metatf_value wide[] = {{.number = 4}, {.number = 1ull << 32}, {.number = 2}};
    const struct metatf_value alone[] = {{.number = 5}, {.number = 9}};
    CU_ASSERT_EQUAL(metatf_writer_put(writer, 1, 0, first, 3, NULL, &error), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(metatf_writer_put(writer, 1, 0, wide, 3, NULL, &error), STEP_STATUS_LIMIT);
    CU_ASSERT_EQUAL(metatf_writer_put(writer, 1, 0, second, 3, NULL, &error), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(metatf_writer_put(writer, 2, 0, alone, 2, NULL, &error), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(metatf_writer_position(writer), 12);
    CU_ASSERT_EQUAL(metatf_writer_close(writer, &error), STEP_STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(bytes.length, sizeof expected);
    CU_ASSERT_EQUAL(memcmp(bytes.data, expected, sizeof expected), 0);
    CU_ASSERT_EQUAL(test_read(dtd, &bytes, &read, &error), STEP_STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(read.count, 5);
    CU_ASSERT_EQUAL(read.records[1].values[1].number, 0x1020304);
    CU_ASSERT_EQUAL(read.records[4].section, 7);
    CU_ASSERT_EQUAL(read.records[4].values[1].number, 9);
    test_trace_free(&read);
    bytes.data[60] = 1; /* a comment where a number should be */
    CU_ASSERT_EQUAL(test_read(dtd, &bytes, &read, &error), STEP_STATUS_CORRUPT);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "where a field strides to"));
    test_trace_free(&read);
    metatf_writer_destroy(writer);
    metatf_dtd_destroy(dtd);
    free(bytes.data);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("metatf corpus", NULL, NULL);
    CU_add_test(suite, "every DTD, layout, class, byte order, compression", test_all);
    CU_add_test(suite, "embedded DTD", test_embedded);
    CU_add_test(suite, "bytes by hand", test_bytes_by_hand);
    CU_add_test(suite, "stride through records", test_stride_through_records);
    CU_add_test(suite, "compression of a section", test_compression_of_a_section);
}
