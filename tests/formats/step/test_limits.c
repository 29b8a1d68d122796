/* SPDX-License-Identifier: Apache-2.0 */
/* What a writer does not take: records that it refuses alone, and what no reader would take. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "format/io/memory_output.h"
#include "format/step/block/block_read.h"
#include "format/step/columns/pending_records.h"
#include "format/step/layout.h"
#include "steptrace/reader.h"
#include "steptrace/records.h"
#include "steptrace/writer.h"
#include "tests/unit/run_suite.h"

static struct step_definition *define(const char *text)
{
    struct step_definition *definition = NULL;
    CU_ASSERT_EQUAL_FATAL(
        step_definition_parse(text, strlen(text), "test", NULL, NULL, &definition, NULL),
        STEP_STATUS_OK);
    return definition;
}

static struct step_writer *start(const struct step_definition *definition, struct step_buffer *file,
                                 bool verify)
{
    struct step_writer_options options;
    struct step_writer *writer = NULL;
    step_writer_options_init(&options);
    options.definition = definition;
    options.output = step_memory_output(file);
    options.verify = verify;
    CU_ASSERT_EQUAL_FATAL(step_writer_create(&options, &writer, NULL), STEP_STATUS_OK);
    return writer;
}

/* The records of a whole trace. */
static uint64_t count_records(const struct step_buffer *file)
{
    struct step_reader *reader = NULL;
    struct step_block *block = NULL;
    struct step_record_view view;
    uint64_t count = 0;
    CU_ASSERT_EQUAL_FATAL(step_reader_open_memory(file->data, file->length, "test", &reader, NULL),
                          STEP_STATUS_OK);
    CU_ASSERT(step_reader_is_whole(reader));
    for (size_t i = 0; i < step_reader_block_count(reader); i++) {
        CU_ASSERT_EQUAL_FATAL(step_reader_load(reader, i, NULL, &block, NULL), STEP_STATUS_OK);
        while (step_block_next(block, &view) == STEP_STATUS_OK)
            count++;
    }
    CU_ASSERT_EQUAL(step_reader_damage_count(reader), 0);
    step_block_destroy(block);
    step_reader_destroy(reader);
    return count;
}

/* Two streams by turns, whose blocks are written because of their memory: a stream that has once
 * had as much as it may does not write a block with each record. */
static void test_blocks_of_little_memory(void)
{
    enum { RECORDS = 20000, FEWEST = 500 }; /* records, and those of a block */
    struct step_definition *definition = define("record R { int a; int b; }");
    struct step_buffer file = {0};
    struct step_writer_options options;
    struct step_writer *writer = NULL;
    struct step_reader *reader = NULL;
    step_writer_options_init(&options);
    options.definition = definition;
    options.output = step_memory_output(&file);
    options.memory_bytes = 64 << 10;
    CU_ASSERT_EQUAL_FATAL(step_writer_create(&options, &writer, NULL), STEP_STATUS_OK);
    for (uint64_t i = 0; i < RECORDS; i++)
        CU_ASSERT_EQUAL(step_writer_put(writer, i % 2, 0, (const uint64_t[]){i, i}),
                        STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_writer_close(writer, NULL), STEP_STATUS_OK);
    step_writer_destroy(writer);
    CU_ASSERT_EQUAL(count_records(&file), RECORDS);
    CU_ASSERT_EQUAL_FATAL(step_reader_open_memory(file.data, file.length, "test", &reader, NULL),
                          STEP_STATUS_OK);
    CU_ASSERT(step_reader_block_count(reader) < RECORDS / FEWEST);
    step_reader_destroy(reader);
    step_buffer_reset(&file);
    step_definition_destroy(definition);
}

/* Good records before and after a bad one reach the file; closing tells of the bad ones. */
static void test_refused_alone(void)
{
    struct step_definition *definition = define(
        "record R { int a <encoding:\"constant\">; int b <encoding:\"size=1\">; "
        "string c <encoding:\"charset=US-ASCII\">; } record D { int b <encoding:\"size=1\">; "
        "} record U { D d <encoding:\"identifier\">; }");
    struct step_buffer file = {0};
    struct step_writer *writer = start(definition, &file, true);
    struct step_error error = {0};
    static const struct step_bytes good = {(const uint8_t *) "x", 1};
    static const struct step_bytes bad = {(const uint8_t *) "\xff", 1};
    uint64_t text = step_slot_of_bytes(&good), id = 5;
    /* the first record is refused: its constant is not that of the others */
    const uint64_t records[][3] = {
        {9, 1000, text}, {1, 2, text}, {2, 2, text}, {1, 3, text}, {1, 4, step_slot_of_bytes(&bad)},
        {1, 5, text}};
    static const bool taken[] = {false, true, false, true, false, true};
    for (size_t i = 0; i < 6; i++)
        CU_ASSERT_EQUAL(step_writer_put(writer, 0, 0, records[i]),
                        taken[i] ? STEP_STATUS_OK : STEP_STATUS_INVALID);
    CU_ASSERT_EQUAL(step_writer_define(writer, 1, (uint64_t[]){1000}, &id), STEP_STATUS_INVALID);
    CU_ASSERT_EQUAL(id, 0);
    CU_ASSERT_EQUAL(step_writer_define(writer, 1, (uint64_t[]){10}, &id), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(id, 1);
    CU_ASSERT_EQUAL(step_writer_put(writer, 0, 3, records[1]), STEP_STATUS_INVALID);
    CU_ASSERT_EQUAL(step_writer_refused_count(writer), 5);
    CU_ASSERT_EQUAL(step_writer_put_count(writer, 0), 3);
    CU_ASSERT_EQUAL(step_writer_close(writer, &error), STEP_STATUS_INVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "5 records were refused; the first: "));
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "field b is 0x3e8"));
    step_writer_destroy(writer);
    CU_ASSERT_EQUAL(count_records(&file), 3);
    step_buffer_reset(&file);
    step_definition_destroy(definition);
}

/* A record that is too large, among others. */
static void test_large_record(void)
{
    struct step_definition *definition =
        define("record R { int a <encoding:\"constant\">; data d; }");
    struct step_buffer file = {0};
    struct step_writer *writer = start(definition, &file, true);
    size_t length = (size_t) STEP_MAX_RECORD_BYTES + 1;
    uint8_t *data = calloc(length, 1);
    struct step_bytes bytes = {data, length};
    CU_ASSERT_PTR_NOT_NULL_FATAL(data);
    CU_ASSERT_EQUAL(step_writer_put(writer, 0, 0, (uint64_t[]){1, step_slot_of_bytes(&bytes)}),
                    STEP_STATUS_LIMIT);
    bytes.length = 10;
    for (uint64_t i = 0; i < 10; i++)
        CU_ASSERT_EQUAL(step_writer_put(writer, 0, 0, (uint64_t[]){2, step_slot_of_bytes(&bytes)}),
                        STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_writer_close(writer, NULL), STEP_STATUS_LIMIT);
    step_writer_destroy(writer);
    CU_ASSERT_EQUAL(count_records(&file), 10);
    free(data);
    step_buffer_reset(&file);
    step_definition_destroy(definition);
}

/* A record whose bytes are few, and that a reader would need too much memory for. */
static void test_large_decoded(void)
{
    enum { ITEMS = 12 << 20 };
    struct step_definition *definition = define("record R { string[] a; }");
    struct step_buffer file = {0};
    struct step_writer *writer = start(definition, &file, false);
    uint64_t *slots = calloc(ITEMS, sizeof *slots);
    struct step_array array = {slots, ITEMS};
    CU_ASSERT_PTR_NOT_NULL_FATAL(slots);
    CU_ASSERT_EQUAL(step_writer_put(writer, 0, 0, (uint64_t[]){step_slot_of_array(&array)}),
                    STEP_STATUS_LIMIT);
    array.count = 100;
    CU_ASSERT_EQUAL(step_writer_put(writer, 0, 0, (uint64_t[]){step_slot_of_array(&array)}),
                    STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_writer_close(writer, NULL), STEP_STATUS_LIMIT);
    step_writer_destroy(writer);
    CU_ASSERT_EQUAL(count_records(&file), 1);
    free(slots);
    step_buffer_reset(&file);
    step_definition_destroy(definition);
}

enum { BOMB_STREAMS = 14, BOMB_BYTES = 100 << 20 };

/* Each stream has one block: of two small records, and between them one of BOMB_BYTES zeros.  They
 * all begin at time 0, or one after the other. */
static void write_bomb(struct step_buffer *file, bool overlap)
{
    struct step_definition *definition =
        define("record R { int t <property:\"time\"> <property:\"unsigned\">; data d; }");
    struct step_writer *writer = start(definition, file, false);
    uint8_t *zeros = calloc(BOMB_BYTES, 1);
    const struct step_bytes large = {zeros, BOMB_BYTES}, none = {NULL, 0};
    CU_ASSERT_PTR_NOT_NULL_FATAL(zeros);
    for (uint64_t i = 0; i < BOMB_STREAMS; i++) {
        uint64_t first = overlap ? 0 : i * 3;
        for (uint64_t k = 0; k < 3; k++)
            CU_ASSERT_EQUAL(step_writer_put(writer, i, 0,
                                            (uint64_t[]){first + k, step_slot_of_bytes(
                                                                        k == 1 ? &large : &none)}),
                            STEP_STATUS_OK);
        CU_ASSERT_EQUAL(step_writer_flush(writer), STEP_STATUS_OK);
    }
    CU_ASSERT_EQUAL(step_writer_close(writer, NULL), STEP_STATUS_OK);
    step_writer_destroy(writer);
    free(zeros);
    step_definition_destroy(definition);
}

/* Streams at the same time: what their blocks take together has a limit.  Blocks beyond it are
 * damage with a place and a reason, and all others are read. */
static void test_streams(void)
{
    for (int i = 0; i < 2; i++) {
        bool overlap = i == 0;
        struct step_buffer file = {0};
        struct step_reader *reader = NULL;
        struct step_records *records = NULL;
        struct step_record_view view;
        uint64_t count = 0;
        write_bomb(&file, overlap);
        CU_ASSERT_FATAL(file.length < BOMB_BYTES / 8);
        CU_ASSERT_EQUAL_FATAL(
            step_reader_open_memory(file.data, file.length, "test", &reader, NULL), STEP_STATUS_OK);
        CU_ASSERT_EQUAL_FATAL(step_records_create(reader, NULL, &records, NULL), STEP_STATUS_OK);
        while (step_records_next(records, &view, NULL) == STEP_STATUS_OK)
            count++;
        size_t damaged = step_reader_damage_count(reader);
        CU_ASSERT_EQUAL(count, 3 * (BOMB_STREAMS - damaged));
        CU_ASSERT(overlap ? damaged > 0 && damaged < BOMB_STREAMS : damaged == 0);
        for (size_t k = 0; k < damaged; k++) {
            const struct step_damage *damage = step_reader_damage(reader, k);
            CU_ASSERT(damage->offset > 0 && damage->offset < file.length);
            CU_ASSERT_PTR_NOT_NULL(strstr(damage->message, "more memory than the limit of"));
        }
        step_records_destroy(records);
        step_reader_destroy(reader);
        step_buffer_reset(&file);
    }
}

/* Of each definition: the values of a record's slots, again, and others. */
static void check_constant(const char *text, const uint64_t *slots, const uint64_t *same,
                           const uint64_t *others)
{
    struct step_definition *definition = define(text);
    struct step_buffer file = {0};
    struct step_writer *writer = start(definition, &file, true);
    struct step_error error = {0};
    for (size_t i = 0; i < 100; i++)
        CU_ASSERT_EQUAL(step_writer_put(writer, 0, 0, i % 2 == 0 ? slots : same), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_writer_put(writer, 0, 0, others), STEP_STATUS_INVALID);
    CU_ASSERT_EQUAL(step_writer_put(writer, 0, 0, slots), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_writer_close(writer, &error), STEP_STATUS_INVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "is constant, and changes"));
    step_writer_destroy(writer);
    CU_ASSERT_EQUAL(count_records(&file), 101);
    step_buffer_reset(&file);
    step_definition_destroy(definition);
}

/* `constant` on any value: strings, data, records by value, arrays, variants; on a whole record. */
static void test_constants(void)
{
    static const struct step_bytes one = {(const uint8_t *) "one", 3};
    static const struct step_bytes too = {(const uint8_t *) "one+", 3};
    static const struct step_bytes two = {(const uint8_t *) "two", 3};
    const uint64_t numbers[] = {1, 2, 1, 3};
    const struct step_array a = {numbers, 2}, b = {numbers, 3}, c = {numbers + 2, 2};
    const struct step_variant v = {1, numbers}, w = {1, numbers + 1};
    const uint64_t s1[] = {step_slot_of_bytes(&one)}, s1_again[] = {step_slot_of_bytes(&too)};
    const uint64_t s2[] = {step_slot_of_bytes(&two)};
    check_constant("record R { string s <encoding:\"constant\">; }", s1, s1_again, s2);
    check_constant("record R { data s <encoding:\"constant\">; }", s1, s1_again, s2);
    check_constant("record R { int[] a <encoding:\"constant\">; }",
                   (uint64_t[]){step_slot_of_array(&a)}, (uint64_t[]){step_slot_of_array(&a)},
                   (uint64_t[]){step_slot_of_array(&b)});
    check_constant("record R { int[] a <encoding:\"constant\">; }",
                   (uint64_t[]){step_slot_of_array(&a)}, (uint64_t[]){step_slot_of_array(&a)},
                   (uint64_t[]){step_slot_of_array(&c)});
    check_constant("record R { P p <encoding:\"constant\">; int n; } record P { int x; string s; }",
                   (uint64_t[]){1, s1[0], 5}, (uint64_t[]){1, s1_again[0], 6},
                   (uint64_t[]){1, s2[0], 5});
    check_constant("record R { P p <encoding:\"constant\">; } record P { int[] x; int y; }",
                   (uint64_t[]){step_slot_of_array(&a), 1}, (uint64_t[]){step_slot_of_array(&a), 1},
                   (uint64_t[]){step_slot_of_array(&c), 1});
    check_constant("record R { P p <encoding:\"constant,type=variable\">; } record P { int x; }",
                   (uint64_t[]){step_slot_of_variant(&v)}, (uint64_t[]){step_slot_of_variant(&v)},
                   (uint64_t[]){step_slot_of_variant(&w)});
    check_constant("record R { <encoding:\"constant\"> int x, y; string s; }",
                   (uint64_t[]){1, 2, s1[0]}, (uint64_t[]){1, 2, s1_again[0]},
                   (uint64_t[]){1, 3, s1[0]});
}

/* What a writer counts for records is no less than what a reader takes. */
static void check_decoded(const char *text, const uint64_t *slots, enum step_write_layout layout)
{
    struct step_definition *definition = define(text);
    struct step_writer_options options;
    struct step_writer *writer = NULL;
    struct step_reader *reader = NULL;
    struct step_block *block = NULL;
    struct step_plan *plan = NULL;
    struct step_buffer file = {0};
    struct step_pending rows = {0};
    enum { COUNT = 500, FIXED = 4096 };
    step_writer_options_init(&options);
    options.definition = definition;
    options.output = step_memory_output(&file);
    options.layout = layout;
    CU_ASSERT_EQUAL_FATAL(step_writer_create(&options, &writer, NULL), STEP_STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(step_plan_create(definition, &plan, NULL), STEP_STATUS_OK);
    for (size_t i = 0; i < COUNT; i++) {
        CU_ASSERT_EQUAL(step_writer_put(writer, 0, 0, slots), STEP_STATUS_OK);
        CU_ASSERT_EQUAL(step_pending_append(&rows, plan, 0, slots), STEP_STATUS_OK);
    }
    CU_ASSERT_EQUAL(step_writer_close(writer, NULL), STEP_STATUS_OK);
    step_writer_destroy(writer);
    CU_ASSERT_EQUAL_FATAL(step_reader_open_memory(file.data, file.length, "test", &reader, NULL),
                          STEP_STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(step_reader_load(reader, 0, NULL, &block, NULL), STEP_STATUS_OK);
    CU_ASSERT(block->arena.taken <= step_pending_decoded_bytes(&rows) + FIXED);
    step_block_destroy(block);
    step_reader_destroy(reader);
    step_plan_destroy(plan);
    step_pending_reset(&rows);
    step_buffer_reset(&file);
    step_definition_destroy(definition);
}

static void test_decoded(void)
{
    static const struct step_bytes word = {(const uint8_t *) "word", 4};
    const uint64_t pairs[] = {1, step_slot_of_bytes(&word), 2, step_slot_of_bytes(&word)};
    const struct step_array two = {pairs, 2}, none = {NULL, 0};
    const uint64_t arrays[] = {step_slot_of_array(&none), step_slot_of_array(&none)};
    const struct step_array empties = {arrays, 2};
    const struct step_variant variant = {1, pairs};
    for (int i = 0; i < 2; i++) {
        enum step_write_layout layout = i == 0 ? STEP_WRITE_ROWS : STEP_WRITE_COLUMNS;
        check_decoded("record R { int a, b; }", (uint64_t[]){1, 2}, layout);
        check_decoded("record R { string s, t; }",
                      (uint64_t[]){step_slot_of_bytes(&word), step_slot_of_bytes(NULL)}, layout);
        check_decoded("record R { P[] a; P[] b; } record P { int x; string s; }",
                      (uint64_t[]){step_slot_of_array(&two), step_slot_of_array(&none)}, layout);
        check_decoded("record R { int[][] a; }", (uint64_t[]){step_slot_of_array(&empties)},
                      layout);
        check_decoded("record R { P v <encoding:\"type=variable\">; } "
                      "record P { int x; string s; }",
                      (uint64_t[]){step_slot_of_variant(&variant)}, layout);
    }
}

/* Dictionaries: the entry that passes what readers hold is refused, and has no number. */
static void test_dictionaries(void)
{
    struct step_definition *definition =
        define("record D { data d; } record U { D d <encoding:\"identifier\">; }");
    struct step_buffer file = {0};
    struct step_writer *writer = start(definition, &file, false);
    struct step_bytes bytes = {NULL, (size_t) 64 << 20};
    uint8_t *data = calloc(bytes.length, 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(data);
    bytes.data = data;
    uint64_t last = 0, id = 1;
    for (uint64_t i = 1; id != 0; i++) {
        last = id;
        enum step_status status =
            step_writer_define(writer, 0, (uint64_t[]){step_slot_of_bytes(&bytes)}, &id);
        CU_ASSERT_EQUAL(status, id == 0 ? STEP_STATUS_LIMIT : STEP_STATUS_OK);
        CU_ASSERT_FATAL(i * bytes.length <= STEP_MAX_DICTIONARY_MEMORY + bytes.length);
    }
    CU_ASSERT_EQUAL(last, STEP_MAX_DICTIONARY_MEMORY / bytes.length - 1);
    CU_ASSERT_EQUAL(step_writer_close(writer, NULL), STEP_STATUS_LIMIT);
    step_writer_destroy(writer);
    free(data);
    step_buffer_reset(&file);
    step_definition_destroy(definition);
}

/* A block takes memory for the record types that it has, not for all that there are. */
static void test_many_blocks(void)
{
    enum { TYPES = 8192, BLOCKS = 16400, ITEM = 32 };
    char *text = malloc(TYPES * ITEM);
    size_t length = 0;
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    for (int i = 0; i < TYPES; i++)
        length += (size_t) snprintf(text + length, ITEM, "record R%d { }\n", i);
    struct step_definition *definition = define(text);
    struct step_buffer file = {0};
    struct step_writer *writer = start(definition, &file, false);
    for (uint32_t i = 0; i < BLOCKS; i++) {
        CU_ASSERT_EQUAL(step_writer_put(writer, 0, i % TYPES, NULL), STEP_STATUS_OK);
        CU_ASSERT_EQUAL(step_writer_flush(writer), STEP_STATUS_OK);
    }
    CU_ASSERT_EQUAL(step_writer_close(writer, NULL), STEP_STATUS_OK);
    step_writer_destroy(writer);
    CU_ASSERT_EQUAL(count_records(&file), BLOCKS);
    step_buffer_reset(&file);
    step_definition_destroy(definition);
    free(text);
}

enum { TYPES = 60000, TYPE_BYTES = 64, PLAN_SECONDS_MOST = 10 };

/* Each type holds a variant of the next one: what is searched for is bounded by what it finds (it
 * took 18 s, now 0.1 s). */
static void test_many_variants(void)
{
    size_t used = 0;
    char *text = malloc((size_t) TYPES * TYPE_BYTES);
    struct step_definition *definition = NULL;
    struct step_writer *writer = NULL;
    struct step_writer_options options;
    struct step_buffer file = {0};
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    for (unsigned i = 0; i < TYPES; i++)
        used += (size_t) snprintf(text + used, TYPE_BYTES,
                                  "record R%u { R%u v <encoding:\"type=variable\">; }\n", i,
                                  (i + 1) % TYPES);
    CU_ASSERT_EQUAL_FATAL(step_definition_parse(text, used, "test", NULL, NULL, &definition, NULL),
                          STEP_STATUS_OK);
    step_writer_options_init(&options);
    options.definition = definition;
    options.output = step_memory_output(&file);
    clock_t begin = clock();
    CU_ASSERT_EQUAL(step_writer_create(&options, &writer, NULL), STEP_STATUS_LIMIT);
    CU_ASSERT((clock() - begin) / CLOCKS_PER_SEC < PLAN_SECONDS_MOST);
    step_writer_destroy(writer);
    step_definition_destroy(definition);
    step_buffer_reset(&file);
    free(text);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("step limits", NULL, NULL);
    CU_add_test(suite, "refused alone", test_refused_alone);
    CU_add_test(suite, "blocks of little memory", test_blocks_of_little_memory);
    CU_add_test(suite, "large record", test_large_record);
    CU_add_test(suite, "large record, decoded", test_large_decoded);
    CU_add_test(suite, "streams at the same time", test_streams);
    CU_add_test(suite, "constants", test_constants);
    CU_add_test(suite, "decoded bytes", test_decoded);
    CU_add_test(suite, "dictionaries", test_dictionaries);
    CU_add_test(suite, "many blocks", test_many_blocks);
    CU_add_test(suite, "many variants", test_many_variants);
}
