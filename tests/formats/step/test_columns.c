/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks as columns: the same values as record by record, whatever the types, fields and layout. */
#include <CUnit/Basic.h>
#include <stdlib.h>
#include <string.h>

#include "format/io/memory_output.h"
#include "records_test.h"
#include "steptrace/reader.h"
#include "steptrace/writer.h"
#include "tests/unit/run_suite.h"

static const char text[] =
    "package p {\n"
    "  record Event { int time <property:\"time\"> <encoding:\"delta\">; int thread; }\n"
    "  record Alloc extends Event { int size; int object\n"
    "    <property:\"unsigned\"> <encoding:\"stride=1\">; }\n"
    "  record AllocAt extends Alloc { int site; }\n"
    "  record AllocOdd extends Alloc { !size <encoding:\"default\">; }\n"
    "  record Point { int x; int y; }\n"
    "  record Place extends Event { Point at; string name; }\n"
    "}\n";

enum { RECORDS = 2000, SLOTS_MOST = 8 };

struct expected {
    uint32_t record;
    uint64_t slots[SLOTS_MOST];
};

/* Writes RECORDS records of the types of `kinds`, in a random order, and opens the file. */
static struct step_reader *make(const struct step_definition *definition, const char *kinds,
                                enum step_write_layout layout, unsigned seed,
                                struct step_buffer *file)
{
    static const char *const names[] = {"p.Event", "p.Alloc", "p.AllocAt", "p.AllocOdd", "p.Place"};
    struct step_writer_options options;
    struct step_writer *writer = NULL;
    struct step_reader *reader = NULL;
    step_writer_options_init(&options);
    options.definition = definition;
    options.output = step_memory_output(file);
    options.layout = layout;
    CU_ASSERT_EQUAL_FATAL(step_writer_create(&options, &writer, NULL), STEP_STATUS_OK);
    for (uint64_t i = 0; i < RECORDS; i++) {
        const char *name = names[kinds[(size_t) rand_r(&seed) % strlen(kinds)] - '0'];
        uint32_t record = step_definition_find(definition, name);
        struct step_bytes bytes = {(const uint8_t *) "abcdefgh", (size_t) rand_r(&seed) % 9};
        uint64_t slots[SLOTS_MOST] = {i * 10, 7, (uint64_t) rand_r(&seed), i, i / 3};
        if (record == step_definition_find(definition, "p.Place"))
            slots[4] = step_slot_of_bytes(&bytes);
        CU_ASSERT_EQUAL(step_writer_put(writer, 0, record, slots), STEP_STATUS_OK);
    }
    CU_ASSERT_EQUAL(step_writer_close(writer, NULL), STEP_STATUS_OK);
    step_writer_destroy(writer);
    CU_ASSERT_EQUAL_FATAL(step_reader_open_memory(file->data, file->length, "test", &reader, NULL),
                          STEP_STATUS_OK);
    return reader;
}

static void check_view(const struct step_definition *definition,
                       const struct step_column_view *view, const struct expected *expected,
                       uint32_t record, uint32_t owner, size_t slot)
{
    size_t row = 0;
    for (size_t i = 0; i < RECORDS; i++) {
        if (!step_record_extends(definition, expected[i].record, record))
            continue;
        bool has = step_record_extends(definition, expected[i].record, owner);
        CU_ASSERT_FATAL(row < view->count);
        CU_ASSERT_EQUAL(view->values[row * view->step], has ? expected[i].slots[slot] : 0);
        CU_ASSERT_EQUAL(view->validity == NULL || (view->validity[row / 8] >> row % 8 & 1) != 0,
                        has);
        row++;
    }
    CU_ASSERT_EQUAL(row, view->count);
}

/* All columns of all records, with all fields, against the records one by one. */
static void check_all(const char *kinds, enum step_write_layout layout)
{
    static struct expected expected[RECORDS];
    struct step_definition *definition = parse(text);
    struct step_buffer file = {0};
    struct step_reader *reader = make(definition, kinds, layout, 17, &file);
    struct step_block *block = NULL;
    struct step_record_view view;
    struct step_column_view column;
    CU_ASSERT_EQUAL_FATAL(step_reader_load(reader, 0, NULL, &block, NULL), STEP_STATUS_OK);
    for (size_t i = 0; step_block_next(block, &view) == STEP_STATUS_OK; i++) {
        expected[i].record = view.record;
        memcpy(expected[i].slots, view.slots,
               step_record_slot_count(definition, view.record) * sizeof(uint64_t));
    }
    for (uint32_t record = 0; record < definition->record_count; record++) {
        CU_ASSERT_EQUAL(step_block_types(block, record, &column, NULL), STEP_STATUS_OK);
        for (uint32_t owner = 0; owner < definition->record_count; owner++)
            for (size_t slot = 0; slot < step_record_slot_count(definition, owner); slot++) {
                enum step_status status =
                    step_block_column(block, record, owner, slot, &column, NULL);
                CU_ASSERT_EQUAL(status, step_record_extends(definition, owner, record)
                                            ? STEP_STATUS_OK
                                            : STEP_STATUS_INVALID);
                if (status == STEP_STATUS_OK)
                    check_view(definition, &column, expected, record, owner, slot);
            }
    }
    step_block_destroy(block);
    step_reader_destroy(reader);
    step_buffer_reset(&file);
    step_definition_destroy(definition);
}

static void test_columns_are_the_records(void)
{
    static const char *const mixes[] = {"0", "1", "12", "123", "01234", "4", "24"};
    for (size_t i = 0; i < sizeof mixes / sizeof mixes[0]; i++) {
        check_all(mixes[i], STEP_WRITE_COLUMNS);
        check_all(mixes[i], STEP_WRITE_ROWS);
    }
}

/* Fields that were not asked for are refused as columns, are 0 in records, and leave the others as
 * they are. */
static void test_a_choice_of_fields(void)
{
    struct step_definition *definition = parse(text);
    struct step_buffer file = {0};
    struct step_reader *reader = make(definition, "0124", STEP_WRITE_COLUMNS, 3, &file);
    struct step_block *block = NULL;
    struct step_record_view view;
    struct step_column_view time, object, column;
    uint32_t alloc = step_definition_find(definition, "p.Alloc");
    uint32_t at = step_definition_find(definition, "p.AllocAt");
    const uint8_t fields[] = {1, 0, 0, 1, 0};
    const uint8_t *by_record[16] = {0};
    by_record[alloc] = by_record[at] = fields;
    CU_ASSERT_EQUAL_FATAL(step_reader_load_fields(reader, 0, by_record, &block, NULL),
                          STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_block_column(block, alloc, alloc, 0, &time, NULL), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_block_column(block, alloc, alloc, 3, &object, NULL), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_block_column(block, alloc, alloc, 1, &column, NULL), STEP_STATUS_INVALID);
    CU_ASSERT_EQUAL(step_block_column(block, alloc, at, 4, &column, NULL), STEP_STATUS_INVALID);
    CU_ASSERT_EQUAL(step_block_column(block, alloc, alloc, 9, &column, NULL), STEP_STATUS_INVALID);
    CU_ASSERT_EQUAL(step_block_column(block, 99, alloc, 0, &column, NULL), STEP_STATUS_INVALID);
    size_t row = 0;
    for (; step_block_next(block, &view) == STEP_STATUS_OK; row++) {
        CU_ASSERT_EQUAL(view.slots[0], time.values[row]);
        CU_ASSERT_EQUAL(view.slots[3], object.values[row]);
        CU_ASSERT_EQUAL(view.slots[0], view.slots[3] * 10);
        CU_ASSERT_EQUAL(view.slots[2], 0);
    }
    CU_ASSERT_EQUAL(row, time.count);
    CU_ASSERT(row > RECORDS / 4 && row < RECORDS);
    uint32_t place = step_definition_find(definition, "p.Place");
    CU_ASSERT_EQUAL(step_block_column(block, place, place, 0, &column, NULL), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(column.count, 0);
    step_block_destroy(block);
    step_reader_destroy(reader);
    step_buffer_reset(&file);
    step_definition_destroy(definition);
}

/* What the index says of the ids, against the ids; a file that was cut says nothing. */
static void test_ranges(void)
{
    struct step_definition *definition = parse(text);
    struct step_buffer file = {0};
    struct step_reader *reader = make(definition, "0124", STEP_WRITE_COLUMNS, 9, &file);
    const struct step_block_info *info = step_reader_block_info(reader, 0);
    uint32_t alloc = step_definition_find(definition, "p.Alloc");
    struct step_block *block = NULL;
    struct step_column_view ids;
    CU_ASSERT_EQUAL_FATAL(info->range_count, 1);
    CU_ASSERT_EQUAL(info->ranges[0].record, alloc);
    CU_ASSERT_EQUAL(info->ranges[0].field, 3);
    CU_ASSERT_EQUAL(step_reader_load(reader, 0, NULL, &block, NULL), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_block_column(block, alloc, alloc, 3, &ids, NULL), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(info->ranges[0].least, ids.values[0]);
    CU_ASSERT_EQUAL(info->ranges[0].most, ids.values[ids.count - 1]);
    uint64_t end = info->offset + info->stored_bytes;
    step_block_destroy(block);
    step_reader_destroy(reader);
    reader = NULL;
    CU_ASSERT_EQUAL_FATAL(step_reader_open_memory(file.data, end, "test", &reader, NULL),
                          STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_reader_block_count(reader), 1);
    CU_ASSERT_EQUAL(step_reader_block_info(reader, 0)->range_count, 0);
    step_reader_destroy(reader);
    step_buffer_reset(&file);
    step_definition_destroy(definition);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("columns", NULL, NULL);
    CU_add_test(suite, "columns are the records", test_columns_are_the_records);
    CU_add_test(suite, "a choice of fields", test_a_choice_of_fields);
    CU_add_test(suite, "ranges", test_ranges);
}
