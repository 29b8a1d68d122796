/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns that need each other: circles and long chains of `age` and `given` are written so that
 * they can be read; and a writer that verifies says so where a block cannot be.
 */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/io/memory_output.h"
#include "format/step/block/block_verify.h"
#include "format/step/block/block_write.h"
#include "steptrace/reader.h"
#include "steptrace/writer.h"
#include "tests/unit/run_suite.h"

enum { RECORDS = 3000 };

static struct step_definition *define(const char *text)
{
    struct step_definition *definition = NULL;
    CU_ASSERT_EQUAL_FATAL(
        step_definition_parse(text, strlen(text), "test", NULL, NULL, &definition, NULL),
        STEP_STATUS_OK);
    return definition;
}

/* A walk through all fields of all records: the value just before is one step of -1 to 1 away, the
 * field's own last value at least two, so that an age takes fewer bytes than a difference. */
static uint64_t value_of(size_t i, size_t field)
{
    static uint64_t walk[RECORDS * 4];
    if (walk[0] == 0) {
        walk[0] = 1000000;
        for (size_t k = 1; k < RECORDS * 4; k++)
            walk[k] = walk[k - 1] + (k * k * UINT64_C(0x9e3779b97f4a7c15) >> 40) % 3 - 1;
    }
    return walk[i * 2 + field];
}

/* Records of all types by turns, all fields ints; written, read and compared.  Returns the bytes.
 */
static size_t check_definition(const char *text, enum step_write_layout layout)
{
    struct step_definition *definition = define(text);
    struct step_writer_options options;
    struct step_writer *writer = NULL;
    struct step_reader *reader = NULL;
    struct step_block *block = NULL;
    struct step_buffer file = {0};
    struct step_record_view view;
    uint64_t *slots = calloc(definition->record_count * 4 + 1024, sizeof *slots);
    step_writer_options_init(&options);
    options.definition = definition;
    options.output = step_memory_output(&file);
    options.layout = layout;
    options.verify = true;
    CU_ASSERT_EQUAL_FATAL(step_writer_create(&options, &writer, NULL), STEP_STATUS_OK);
    for (size_t i = 0; i < RECORDS; i++) {
        uint32_t record = (uint32_t) (i % definition->record_count);
        for (size_t k = 0; k < definition->records[record].field_count; k++)
            slots[k] = value_of(i, k);
        CU_ASSERT_EQUAL(step_writer_put(writer, 0, record, slots), STEP_STATUS_OK);
    }
    CU_ASSERT_EQUAL(step_writer_close(writer, NULL), STEP_STATUS_OK);
    step_writer_destroy(writer);
    CU_ASSERT_EQUAL_FATAL(step_reader_open_memory(file.data, file.length, "test", &reader, NULL),
                          STEP_STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(step_reader_load(reader, 0, NULL, &block, NULL), STEP_STATUS_OK);
    size_t i = 0;
    for (; step_block_next(block, &view) == STEP_STATUS_OK; i++)
        for (size_t k = 0; k < definition->records[view.record].field_count; k++)
            CU_ASSERT_EQUAL(view.slots[k], value_of(i, k));
    CU_ASSERT_EQUAL(i, RECORDS);
    CU_ASSERT_EQUAL(step_reader_damage_count(reader), 0);
    size_t bytes = file.length;
    step_block_destroy(block);
    step_reader_destroy(reader);
    step_buffer_reset(&file);
    step_definition_destroy(definition);
    free(slots);
    return bytes;
}

static void check_layouts(const char *text)
{
    static const enum step_write_layout layouts[] = {STEP_WRITE_ROWS, STEP_WRITE_COLUMNS,
                                                     STEP_WRITE_SMALLEST};
    for (size_t i = 0; i < 3; i++)
        check_definition(text, layouts[i]);
}

static void test_circles(void)
{
    check_layouts("record A { int x <encoding:\"age=B.y\">; } "
                  "record B { int y <encoding:\"age=A.x\">; }");
    check_layouts("record A { int x <encoding:\"age=C.z\">; } "
                  "record B { int y <encoding:\"age=A.x\">; } "
                  "record C { int z <encoding:\"age=B.y\">; }");
    /* through `given`, in the record and in a record by value */
    check_layouts("record A { int x <encoding:\"age=B.y\">; } "
                  "record B { int z <encoding:\"age=A.x\">; int y <encoding:\"given=z\">; }");
    check_layouts("record A { int x <encoding:\"age=B.y\">; int y <encoding:\"given=x\">; } "
                  "record B { int y <encoding:\"age=A.y\">; }");
    /* two circles with one column in common, and a circle of one record's fields */
    check_layouts("record A { int x <encoding:\"age=B.y\">; } "
                  "record B { int y <encoding:\"age=A.x\">; } "
                  "record C { int z <encoding:\"age=A.x\">; int w <encoding:\"age=C.z\">; } "
                  "record D { int v <encoding:\"age=D.u\">; int u <encoding:\"age=D.v\">; }");
}

/* The others of a circle go on as they are asked to: only one is set apart. */
static void test_circle_costs_one(void)
{
    size_t circle = check_definition("record A { int x <encoding:\"age=B.y\">; } "
                                     "record B { int y <encoding:\"age=A.x\">; }",
                                     STEP_WRITE_COLUMNS);
    size_t half = check_definition("record A { int x; } "
                                   "record B { int y <encoding:\"age=A.x\">; }",
                                   STEP_WRITE_COLUMNS);
    CU_ASSERT(circle < half + 100);
}

/* A reader goes from column to column: not so deep that its stack could end. */
static void test_chain(void)
{
    enum { LENGTH = 2500, ITEM = 64 };
    char *text = malloc(LENGTH * ITEM);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    size_t length = 0;
    for (int i = 0; i < LENGTH; i++)
        length += (size_t) snprintf(text + length, ITEM,
                                    "record R%d { int x <encoding:\"age=R%d.x\">; }\n", i,
                                    i + 1 < LENGTH ? i + 1 : i);
    check_definition(text, STEP_WRITE_COLUMNS);
    free(text);
}

static void check_refused(struct step_block_verifier *verifier, const struct step_columns *columns,
                          const struct step_buffer *block)
{
    struct step_error error = {0};
    CU_ASSERT_EQUAL(step_block_verify(verifier, columns, block, &error), STEP_STATUS_INVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "cannot be read again"));
}

/* A byte of the block changes on its way, or it has other values: the verifier sees it. */
static void test_verifier(void)
{
    struct step_definition *definition = define("record A { int x; string s; }");
    struct step_plan *plan = NULL;
    struct step_block_verifier *verifier = NULL;
    struct step_columns *columns = NULL;
    struct step_block_writer blocks;
    struct step_pending rows = {0};
    struct step_block_header header = {.kind = STEP_BLOCK_DATA};
    struct step_error error = {0};
    CU_ASSERT_EQUAL_FATAL(step_plan_create(definition, &plan, NULL), STEP_STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(step_columns_create(plan, &columns), STEP_STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(step_block_verifier_create(plan, &verifier), STEP_STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(step_block_writer_init(&blocks, STEP_COMPRESSION_NONE, 0),
                          STEP_STATUS_OK);
    for (uint64_t i = 0; i < 50; i++) {
        struct step_bytes text = {(const uint8_t *) "abcdefgh", 1 + i % 8};
        uint64_t slots[] = {i * i, step_slot_of_bytes(&text)};
        CU_ASSERT_EQUAL(step_pending_append(&rows, plan, 0, slots), STEP_STATUS_OK);
    }
    CU_ASSERT_EQUAL(step_columns_fill(columns, &rows), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_block_write_columns(&blocks, columns, &header), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_block_verify(verifier, columns, &blocks.block, &error), STEP_STATUS_OK);
    for (size_t i = STEP_BLOCK_HEADER_BYTES; i < blocks.block.length; i++) {
        blocks.block.data[i] ^= 1;
        check_refused(verifier, columns, &blocks.block);
        blocks.block.data[i] ^= 1;
    }
    for (size_t i = 0; i < 2; i++) { /* a number, and a length; then a letter */
        columns->columns[columns->used[i]].values[49]++;
        check_refused(verifier, columns, &blocks.block);
        columns->columns[columns->used[i]].values[49]--;
    }
    columns->columns[columns->used[2]].bytes.data[7]++;
    check_refused(verifier, columns, &blocks.block);
    columns->columns[columns->used[2]].bytes.data[7]--;
    CU_ASSERT_EQUAL(step_block_verify(verifier, columns, &blocks.block, &error), STEP_STATUS_OK);
    step_block_verifier_destroy(verifier);
    step_block_writer_reset(&blocks);
    step_columns_destroy(columns);
    step_pending_reset(&rows);
    step_plan_destroy(plan);
    step_definition_destroy(definition);
}

/* Writes several blocks of which each column is related to another.  Returns the file. */
static struct step_buffer write_with(unsigned threads, enum step_compression compression)
{
    enum { MANY = 70000, BLOCK = 30000 }; /* smaller blocks are not shared */
    struct step_definition *definition =
        define("record A { int x <encoding:\"age=B.y\">; int y <encoding:\"given=x\">; string s; } "
               "record B { int y <encoding:\"age=A.x\">; int z; }");
    struct step_writer_options options;
    struct step_writer *writer = NULL;
    struct step_buffer file = {0};
    step_writer_options_init(&options);
    options.definition = definition;
    options.output = step_memory_output(&file);
    options.compression = compression;
    options.block_records = BLOCK;
    options.verify = true;
    CU_ASSERT_EQUAL_FATAL(step_writer_create(&options, &writer, NULL), STEP_STATUS_OK);
    if (threads != 1)
        CU_ASSERT_EQUAL(step_writer_use_threads(writer, threads), STEP_STATUS_OK);
    for (size_t i = 0; i < MANY; i++) {
        struct step_bytes text = {(const uint8_t *) "abcdefgh", i % 8};
        uint64_t slots[] = {value_of(i % RECORDS, 0), i % 7, step_slot_of_bytes(&text)};
        CU_ASSERT_EQUAL(step_writer_put(writer, i % 2, (uint32_t) (i % 3 == 0), slots),
                        STEP_STATUS_OK);
    }
    CU_ASSERT_EQUAL(step_writer_close(writer, NULL), STEP_STATUS_OK);
    step_writer_destroy(writer);
    step_definition_destroy(definition);
    return file;
}

static void test_threads(void)
{
    static const enum step_compression methods[] = {STEP_COMPRESSION_ZLIB, STEP_COMPRESSION_BEST};
    for (size_t i = 0; i < 2; i++) {
        struct step_buffer alone = write_with(1, methods[i]);
        for (unsigned threads = 0; threads <= 5; threads += threads == 0 ? 2 : 3) {
            struct step_buffer shared = write_with(threads, methods[i]);
            CU_ASSERT_EQUAL_FATAL(shared.length, alone.length);
            CU_ASSERT_EQUAL(memcmp(shared.data, alone.data, alone.length), 0);
            step_buffer_reset(&shared);
        }
        step_buffer_reset(&alone);
    }
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("step order", NULL, NULL);
    CU_add_test(suite, "threads", test_threads);
    CU_add_test(suite, "circles", test_circles);
    CU_add_test(suite, "a circle costs one", test_circle_costs_one);
    CU_add_test(suite, "a long chain", test_chain);
    CU_add_test(suite, "verifier", test_verifier);
}
