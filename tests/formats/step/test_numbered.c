/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Automatic identifiers: records, variants and arrays that are given once in a block and then by
 * their numbers; in every layout, in and around other values, and with bytes that are wrong.
 */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/core/checksum.h"
#include "format/io/memory_output.h"
#include "format/step/layout.h"
#include "steptrace/reader.h"
#include "steptrace/writer.h"
#include "tests/unit/format/definitions/values.h"
#include "tests/unit/run_suite.h"

enum { RECORDS = 400, KINDS = 7, FORMS = 4 };

static const struct form {
    enum step_write_layout layout;
    enum step_compression compression;
} forms[FORMS] = {{STEP_WRITE_ROWS, STEP_COMPRESSION_NONE},
                  {STEP_WRITE_COLUMNS, STEP_COMPRESSION_NONE},
                  {STEP_WRITE_SMALLEST, STEP_COMPRESSION_ZLIB},
                  {STEP_WRITE_COLUMNS, STEP_COMPRESSION_BEST}};

static struct step_definition *define(const char *text)
{
    struct step_definition *definition = NULL;
    struct step_error error = {0};
    step_definition_parse(text, strlen(text), "test", NULL, NULL, &definition, &error);
    if (definition == NULL)
        fprintf(stderr, "%s\n", error.message);
    CU_ASSERT_PTR_NOT_NULL_FATAL(definition);
    return definition;
}

static struct step_writer *begin(const struct step_definition *definition, const struct form *form,
                                 struct step_buffer *file)
{
    struct step_writer_options options;
    struct step_writer *writer = NULL;
    step_writer_options_init(&options);
    options.definition = definition;
    options.output = step_memory_output(file);
    options.layout = form->layout;
    options.compression = form->compression;
    options.verify = true;
    CU_ASSERT_EQUAL_FATAL(step_writer_create(&options, &writer, NULL), STEP_STATUS_OK);
    return writer;
}

static struct step_reader *finish(struct step_writer *writer, struct step_buffer *file)
{
    struct step_reader *reader = NULL;
    struct step_error error = {0};
    CU_ASSERT_EQUAL(step_writer_close(writer, &error), STEP_STATUS_OK);
    if (error.status != STEP_STATUS_OK)
        fprintf(stderr, "%s\n", error.message);
    step_writer_destroy(writer);
    CU_ASSERT_EQUAL_FATAL(step_reader_open_memory(file->data, file->length, "test", &reader, NULL),
                          STEP_STATUS_OK);
    return reader;
}

/* Records of all types by turns, of `kinds` different values each; returns the file's bytes. */
static size_t check_definition(const char *text, const struct form *form, uint64_t kinds)
{
    struct step_definition *definition = define(text);
    struct step_buffer file = {0};
    struct step_block *block = NULL;
    struct step_record_view view;
    struct step_writer *writer = begin(definition, form, &file);
    for (uint64_t i = 0; i < RECORDS; i++) {
        uint32_t record = (uint32_t) (i % definition->record_count);
        CU_ASSERT_EQUAL(
            step_writer_put(writer, 0, record, values_make(definition, record, i % kinds)),
            STEP_STATUS_OK);
        values_release();
    }
    struct step_reader *reader = finish(writer, &file);
    CU_ASSERT_EQUAL_FATAL(step_reader_load(reader, 0, NULL, &block, NULL), STEP_STATUS_OK);
    uint64_t i = 0;
    for (; step_block_next(block, &view) == STEP_STATUS_OK; i++) {
        CU_ASSERT_EQUAL(view.record, i % definition->record_count);
        CU_ASSERT(values_same(definition, view.record, view.slots,
                              values_make(definition, view.record, i % kinds)));
        values_release();
    }
    CU_ASSERT_EQUAL(i, RECORDS);
    size_t bytes = file.length;
    step_block_destroy(block);
    step_reader_destroy(reader);
    step_buffer_reset(&file);
    step_definition_destroy(definition);
    return bytes;
}

#define INNER                                                                                      \
    "record P { int a; string s; int[] l; data d <encoding:\"identifier\">; }"                     \
    "record Q extends P { P held; } record Empty {} "                                              \
    "record Node { int v; } record Pair extends Node { Node <encoding:\"type=variable\"> "         \
    "left, right; P p <encoding:\"numbered\">; }"                                                  \
    "record Box { P in <encoding:\"numbered\">; int after <encoding:\"delta\">; }"

/* In all places where a value can be, and seen from types that share the columns. */
static void test_places(void)
{
    static const char *const texts[] = {
        INNER "record R { int t <encoding:\"delta\">; P p <encoding:\"numbered\">; int z; }"
              "record S extends R { int u; } record T extends R { ~p.a <encoding:\"default\">; }",
        INNER "record R { P v <encoding:\"type=variable,numbered\">; "
              "Node tree <encoding:\"type=variable,numbered\">; Empty e <encoding:\"numbered\">; }",
        INNER "record R { P[] whole <encoding:\"numbered\">; P[][] parts; "
              "~parts.element.element <encoding:\"numbered\">; P <encoding:\"numbered\">[] own; }",
        INNER "record R { Box b <encoding:\"numbered\">; Box[] boxes <encoding:\"numbered\">; "
              "P e <encoding:\"identifier\">; Empty[] none <encoding:\"numbered\">; }",
        INNER "record R { int[] usual <encoding:\"default\">; string[][] names "
              "<encoding:\"default\">; P[] list <encoding:\"default\">; P p "
              "<encoding:\"default\">; }",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        for (size_t k = 0; k < FORMS; k++) {
            check_definition(texts[i], &forms[k], KINDS);
            check_definition(texts[i], &forms[k], RECORDS); /* nothing comes again */
            check_definition(texts[i], &forms[k], 1);
        }
}

static const char plain[] = "record P { int a; string s; int[] l; data d; } record R { P p; }";
static const char numbered[] =
    "record P { int a; string s; int[] l; data d; } record R { P p <encoding:\"numbered\">; }";

/* Values that come again cost their numbers; where none does, nothing is lost. */
static void test_saves(void)
{
    for (size_t k = 0; k < 2; k++) {
        size_t with = check_definition(numbered, &forms[k], KINDS);
        size_t without = check_definition(plain, &forms[k], KINDS);
        CU_ASSERT(with + RECORDS * 2 < without); /* half of the records are not numbered */
        CU_ASSERT(check_definition(numbered, &forms[k], RECORDS) <
                  check_definition(plain, &forms[k], RECORDS) + 100);
    }
    CU_ASSERT(check_definition("record R { string[] a <encoding:\"default\">; }", &forms[0], 1) <
              check_definition("record R { string[] a <encoding:\"identifier\">; }", &forms[0], 1) -
                  RECORDS);
}

/* Blocks do not know of each other. */
static void test_blocks(void)
{
    struct step_definition *definition = define("record P { int x, y; }"
                                                "record R { P p <encoding:\"numbered\">; }");
    struct step_buffer file = {0};
    struct step_record_view view;
    struct step_writer *writer = begin(definition, &forms[1], &file);
    for (uint64_t i = 0; i < 30; i++) {
        uint64_t slots[] = {i / 4, 7};
        CU_ASSERT_EQUAL(step_writer_put(writer, 0, 1, slots), STEP_STATUS_OK);
        if (i % 10 == 9)
            CU_ASSERT_EQUAL(step_writer_flush(writer), STEP_STATUS_OK);
    }
    struct step_reader *reader = finish(writer, &file);
    CU_ASSERT_EQUAL(step_reader_block_count(reader), 3);
    for (uint64_t i = 0; i < 30; i += 10) {
        struct step_block *block = NULL;
        CU_ASSERT_EQUAL_FATAL(step_reader_load(reader, i / 10, NULL, &block, NULL), STEP_STATUS_OK);
        for (uint64_t k = i; step_block_next(block, &view) == STEP_STATUS_OK; k++)
            CU_ASSERT(view.slots[0] == k / 4 && view.slots[1] == 7);
        step_block_destroy(block);
    }
    step_reader_destroy(reader);
    step_buffer_reset(&file);
    step_definition_destroy(definition);
}

/* Values that are the same as the file has them have one number. */
static void test_resolution(void)
{
    static const uint64_t given[] = {11, 12, 25, 19, 21}, read[] = {10, 10, 20, 10, 20};
    struct step_definition *definition = define("record P { int x <encoding:\"resolution=10\">; }"
                                                "record R { P p <encoding:\"numbered\">; }");
    for (size_t k = 0; k < FORMS; k++) {
        struct step_buffer file = {0};
        struct step_block *block = NULL;
        struct step_record_view view;
        struct step_writer *writer = begin(definition, &forms[k], &file);
        for (size_t i = 0; i < 5; i++)
            CU_ASSERT_EQUAL(step_writer_put(writer, 0, 1, &given[i]), STEP_STATUS_OK);
        struct step_reader *reader = finish(writer, &file);
        CU_ASSERT_EQUAL_FATAL(step_reader_load(reader, 0, NULL, &block, NULL), STEP_STATUS_OK);
        for (size_t i = 0; i < 5; i++) {
            CU_ASSERT_EQUAL(step_block_next(block, &view), STEP_STATUS_OK);
            CU_ASSERT_EQUAL(view.slots[0], read[i]);
        }
        step_block_destroy(block);
        step_reader_destroy(reader);
        step_buffer_reset(&file);
    }
    step_definition_destroy(definition);
}

/* A constant array is one as a whole: another is refused, and it costs nothing after the first. */
static void test_constant(void)
{
    static const uint64_t elements[] = {3, 1, 4, 1, 5};
    struct step_array same = {elements, 5}, other = {elements, 4};
    uint64_t slot = step_slot_of_array(&same), wrong = step_slot_of_array(&other);
    struct step_definition *definition = define("record R { int[] a <encoding:\"constant\">; }");
    struct step_buffer file = {0};
    struct step_writer *writer = begin(definition, &forms[0], &file);
    for (size_t i = 0; i < RECORDS; i++)
        CU_ASSERT_EQUAL(step_writer_put(writer, 0, 0, &slot), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_writer_put(writer, 0, 0, &wrong), STEP_STATUS_INVALID);
    CU_ASSERT_EQUAL(step_writer_close(writer, NULL), STEP_STATUS_INVALID);
    CU_ASSERT_EQUAL(step_writer_refused_count(writer), 1);
    step_writer_destroy(writer);
    CU_ASSERT(file.length < RECORDS + 1000); /* a byte for each record's type */
    step_buffer_reset(&file);
    step_definition_destroy(definition);
}

static const char golden_text[] =
    "record P { int x, y; } record R { P p <encoding:\"numbered\">; int n; }";
/* After the directory; the example of docs/formats/step.md. */
static const uint8_t golden_rows[] = {0,  2, 0, 1,  0, 1, 1, 0, 1, 1, 6, 2,  1, 3, 2, 4,
                                      18, 1, 1, 18, 0, 1, 1, 1, 6, 6, 8, 18, 1, 1, 16};

static size_t write_golden(const struct form *form, struct step_buffer *file)
{
    static const uint64_t slots[][3] = {{1, 2, 9}, {1, 2, 9}, {3, 4, 9}, {1, 2, 8}};
    struct step_definition *definition = define(golden_text);
    struct step_writer *writer = begin(definition, form, file);
    for (size_t i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(step_writer_put(writer, 0, 1, slots[i]), STEP_STATUS_OK);
    struct step_reader *reader = finish(writer, file);
    const struct step_block_info *info = step_reader_block_info(reader, 0);
    size_t end = (size_t) (info->offset + info->stored_bytes);
    step_reader_destroy(reader);
    step_definition_destroy(definition);
    return end;
}

static void test_golden(void)
{
    struct step_buffer file = {0};
    size_t end = write_golden(&forms[0], &file);
    CU_ASSERT_EQUAL(memcmp(file.data + end - sizeof golden_rows, golden_rows, sizeof golden_rows),
                    0);
    step_buffer_reset(&file);
}

/* Any byte of the block changes, and the checksums are good: an error, or other values; in the
 * sanitizers' builds no harm is seen. */
static void test_hostile(void)
{
    for (size_t k = 0; k < 2; k++) {
        struct step_buffer file = {0};
        size_t end = write_golden(&forms[k], &file), start = end;
        while (memcmp(file.data + start, "\xb5\x62\xd3\x0c", 4) != 0)
            start--;
        for (size_t i = start + STEP_BLOCK_HEADER_BYTES; i < end; i++)
            for (unsigned value = 0; value < 256; value += value < 32 ? 1 : 31) {
                uint8_t kept = file.data[i];
                struct step_block_header header;
                struct step_reader *reader = NULL;
                struct step_block *block = NULL;
                struct step_record_view view;
                file.data[i] = (uint8_t) value;
                CU_ASSERT(step_block_header_unpack(file.data + start, &header));
                const uint8_t *payload = file.data + start + STEP_BLOCK_HEADER_BYTES;
                header.summary_checksum = (uint32_t) step_checksum(payload, header.summary_bytes);
                header.payload_checksum = step_checksum(payload, (size_t) header.payload_bytes);
                step_block_header_pack(&header, file.data + start);
                if (step_reader_open_memory(file.data, end, "test", &reader, NULL) ==
                        STEP_STATUS_OK &&
                    step_reader_block_count(reader) > 0 &&
                    step_reader_load(reader, 0, NULL, &block, NULL) == STEP_STATUS_OK)
                    while (step_block_next(block, &view) == STEP_STATUS_OK)
                        ;
                step_block_destroy(block);
                step_reader_destroy(reader);
                file.data[i] = kept;
            }
        step_buffer_reset(&file);
    }
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("step numbered", NULL, NULL);
    CU_add_test(suite, "places", test_places);
    CU_add_test(suite, "saves", test_saves);
    CU_add_test(suite, "blocks", test_blocks);
    CU_add_test(suite, "resolution", test_resolution);
    CU_add_test(suite, "constant", test_constant);
    CU_add_test(suite, "golden", test_golden);
    CU_add_test(suite, "hostile", test_hostile);
}
