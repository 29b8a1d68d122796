/* SPDX-License-Identifier: Apache-2.0 */
/* Every byte of a small trace flipped, and every truncation: no crash, an error or damage that
 * tells where, and the undamaged blocks are read. */
#include <CUnit/Basic.h>
#include <stdlib.h>
#include <string.h>

#include "format/step/layout.h"
#include "tests/formats/step/sample_trace.h"
#include "tests/unit/run_suite.h"

enum { STREAMS = 3, RECORDS = 60, BLOCK_RECORDS = 30, NAMES = 4 };

static struct step_definition *definition;
static struct step_buffer file;
static struct step_block_info blocks[STREAMS * RECORDS];
static size_t block_count;

static int set_up(enum step_write_layout layout)
{
    struct step_reader *reader;
    struct sample_shape shape = {
        STEP_COMPRESSION_ZSTD, layout, BLOCK_RECORDS, STREAMS, RECORDS, NAMES};
    definition = sample_definition();
    sample_write_shape(definition, &file, &shape);
    if (step_reader_open_memory(file.data, file.length, "x", &reader, NULL) != STEP_STATUS_OK)
        return 1;
    block_count = step_reader_block_count(reader);
    for (size_t i = 0; i < block_count; i++)
        blocks[i] = *step_reader_block_info(reader, i);
    step_reader_destroy(reader);
    return 0;
}

static int set_up_columns(void)
{
    return set_up(STEP_WRITE_COLUMNS);
}

static int set_up_rows(void)
{
    return set_up(STEP_WRITE_ROWS);
}

static int tear_down(void)
{
    step_definition_destroy(definition);
    step_buffer_reset(&file);
    return 0;
}

/* Records in blocks that lie wholly in [0, end) and do not hold the byte `hit`. */
static uint64_t undamaged(size_t end, size_t hit)
{
    uint64_t records = 0;
    for (size_t i = 0; i < block_count; i++) {
        uint64_t start = blocks[i].offset;
        uint64_t stop = start + blocks[i].stored_bytes;
        if (stop <= end && !(hit >= start && hit < stop))
            records += blocks[i].record_count;
    }
    return records;
}

static bool offsets_are_in(const struct step_reader *reader, size_t length)
{
    for (size_t i = 0; i < step_reader_damage_count(reader); i++)
        if (step_reader_damage(reader, i)->offset > length ||
            step_reader_damage(reader, i)->message[0] == '\0')
            return false;
    return true;
}

static void test_flips(void)
{
    static const uint8_t masks[] = {0x01, 0x80, 0xff};
    for (size_t hit = 0; hit < file.length; hit++)
        for (size_t m = 0; m < sizeof masks; m++) {
            struct step_reader *reader;
            struct step_error error = {.offset = STEP_NO_OFFSET};
            uint64_t good;
            uint64_t bad;
            file.data[hit] ^= masks[m];
            enum step_status status =
                step_reader_open_memory(file.data, file.length, "x", &reader, &error);
            if (status == STEP_STATUS_OK) {
                sample_compare(reader, &good, &bad);
                CU_ASSERT_EQUAL(bad, 0);
                CU_ASSERT(good >= undamaged(file.length, hit));
                CU_ASSERT(step_reader_damage_count(reader) > 0);
                CU_ASSERT(offsets_are_in(reader, file.length));
                step_reader_destroy(reader);
            } else {
                CU_ASSERT(status == STEP_STATUS_CORRUPT || status == STEP_STATUS_FORMAT ||
                          status == STEP_STATUS_UNSUPPORTED);
                CU_ASSERT(error.offset <= file.length);
                CU_ASSERT(hit < 32); /* the file header; the definition has a copy */
            }
            file.data[hit] ^= masks[m];
        }
}

static void test_truncations(void)
{
    for (size_t length = 0; length < file.length; length++) {
        struct step_reader *reader;
        struct step_error error = {.offset = STEP_NO_OFFSET};
        uint64_t good;
        uint64_t bad;
        uint8_t *copy = malloc(length + (length == 0));
        memcpy(copy, file.data, length);
        enum step_status status = step_reader_open_memory(copy, length, "x", &reader, &error);
        if (status == STEP_STATUS_OK) {
            CU_ASSERT_FALSE(step_reader_is_whole(reader));
            CU_ASSERT_EQUAL(sample_compare(reader, &good, &bad), 0);
            CU_ASSERT_EQUAL(bad, 0);
            CU_ASSERT_EQUAL(good, undamaged(length, SIZE_MAX));
            CU_ASSERT(offsets_are_in(reader, length));
            step_reader_destroy(reader);
        } else {
            CU_ASSERT(status == STEP_STATUS_CORRUPT || status == STEP_STATUS_FORMAT);
            CU_ASSERT(error.offset <= length);
            CU_ASSERT(length < blocks[0].offset);
        }
        free(copy);
    }
}

/* Bytes taken out of the middle, and foreign ones put in. */
static void test_shifts(void)
{
    struct step_buffer copy = {0};
    for (size_t hit = (size_t) blocks[0].offset; hit < file.length; hit += 13) {
        for (int put_in = 0; put_in < 2; put_in++) {
            struct step_reader *reader;
            uint64_t good;
            uint64_t bad;
            size_t after = put_in || file.length - hit < 5 ? hit : hit + 5;
            copy.length = 0;
            CU_ASSERT(step_buffer_append(&copy, file.data, hit));
            if (put_in)
                CU_ASSERT(step_buffer_append(&copy, step_block_magic, 4));
            CU_ASSERT(step_buffer_append(&copy, file.data + after, file.length - after));
            if (step_reader_open_memory(copy.data, copy.length, "x", &reader, NULL) !=
                STEP_STATUS_OK) {
                CU_FAIL("cannot open");
                continue;
            }
            sample_compare(reader, &good, &bad);
            CU_ASSERT_EQUAL(bad, 0);
            /* the block that was hit is lost, and one more where the hole reaches into it */
            CU_ASSERT(good >= (uint64_t) STREAMS * RECORDS - 2 * BLOCK_RECORDS);
            step_reader_destroy(reader);
        }
    }
    step_buffer_reset(&copy);
}

void add_suite(void)
{
    CU_pSuite suites[] = {CU_add_suite("step damage, columns", set_up_columns, tear_down),
                          CU_add_suite("step damage, rows", set_up_rows, tear_down)};
    for (size_t i = 0; i < 2; i++) {
        CU_add_test(suites[i], "flips", test_flips);
        CU_add_test(suites[i], "truncations", test_truncations);
        CU_add_test(suites[i], "shifts", test_shifts);
    }
}
