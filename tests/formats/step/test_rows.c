/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The encoders of rows: the exact bytes of a small block, what each attribute of Appendix B costs,
 * that all of them give back what they were given, and what contradicts them.
 */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/codec/row/encoder.h"
#include "format/io/memory_output.h"
#include "format/step/block/block_write.h"
#include "steptrace/reader.h"
#include "tests/unit/run_suite.h"

enum { MAX_SLOTS = 4 };

static struct step_definition *define(const char *text)
{
    struct step_definition *definition = NULL;
    struct step_error error = {0};
    step_definition_parse(text, strlen(text), "rows", NULL, NULL, &definition, &error);
    if (definition == NULL)
        fprintf(stderr, "%s\n", error.message);
    CU_ASSERT_PTR_NOT_NULL_FATAL(definition);
    return definition;
}

static struct step_writer *start(const struct step_definition *definition, struct step_buffer *file,
                                 enum step_write_layout layout)
{
    struct step_writer_options options;
    struct step_writer *writer = NULL;
    step_writer_options_init(&options);
    options.definition = definition;
    options.output = step_memory_output(file);
    options.compression = STEP_COMPRESSION_NONE;
    options.layout = layout;
    CU_ASSERT_EQUAL_FATAL(step_writer_create(&options, &writer, NULL), STEP_STATUS_OK);
    return writer;
}

static struct step_reader *finish(struct step_writer *writer, struct step_buffer *file)
{
    struct step_reader *reader = NULL;
    struct step_error error = {0};
    if (step_writer_close(writer, &error) != STEP_STATUS_OK)
        fprintf(stderr, "%s\n", error.message);
    step_writer_destroy(writer);
    CU_ASSERT_EQUAL_FATAL(
        step_reader_open_memory(file->data, file->length, "rows", &reader, &error), STEP_STATUS_OK);
    return reader;
}

/* The example of docs/formats/step.md. */
static void test_bytes(void)
{
    static const char text[] = "record R { int v <encoding:\"default\">;"
                               " int w <encoding:\"delta=10,size=2\">; }";
    static const uint64_t records[][2] = {{5, 100}, {5, 105}, {6, 1000}, {6, 1001}};
    static const uint8_t expected[] = {
        2, /* encoders */
        0, 0, 0, 7, 'd', 'e', 'f', 'a', 'u', 'l', 't', 0, 1, 0, 15, 'd', 'e', 'l', 't', 'a', '=',
        '1', '0', ',', 's', 'i', 'z', 'e', '=', '2',
        /* a new record type: the change comes before its number */
        0, 1, 0, 1, 0, 0, 10, 100, 0,
        /* all regular: the type, nothing, the difference */
        1, 10,
        /* v deviates, w is far from the value before: two changes, each of another encoder */
        0, 2, 1, 1, 0, 1, 1, 1, 2, 1, 1, 1, 12, 0, 1, 1, 3, 2, 1, 2, 0xe8, 3,
        /* v deviates again in the same way: that is usual from now on */
        0, 1, 1, 1, 0, 1, 1, 2, 2, 1, 1, 12, 2};
    struct step_definition *definition = define(text);
    struct step_buffer file = {0};
    struct step_writer *writer = start(definition, &file, STEP_WRITE_ROWS);
    for (size_t i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(step_writer_put(writer, 0, 0, records[i]), STEP_STATUS_OK);
    struct step_reader *reader = finish(writer, &file);
    const struct step_block_info *info = step_reader_block_info(reader, 0);
    /* the summary is 3 bytes, then come the method and the length */
    const uint8_t *rows = file.data + info->offset + STEP_BLOCK_HEADER_BYTES + 5;
    size_t length = (size_t) info->stored_bytes - STEP_BLOCK_HEADER_BYTES - 5;
    CU_ASSERT_EQUAL(length, sizeof expected);
    bool same = length == sizeof expected && memcmp(rows, expected, length) == 0;
    CU_ASSERT(same);
    for (size_t i = 0; i < length && !same; i++)
        fprintf(stderr, "%u ", rows[i]);
    step_reader_destroy(reader);
    step_buffer_reset(&file);
    step_definition_destroy(definition);
}

static uint64_t constant(uint64_t i)
{
    (void) i;
    return 123456789;
}
static uint64_t rarely(uint64_t i)
{
    return i % 100 == 99 ? i : 7;
}
static uint64_t phases(uint64_t i)
{
    return i / 250;
}
static uint64_t few(uint64_t i)
{
    return (i * 7 % 5) * UINT64_C(0x123456789abc);
}
static uint64_t near(uint64_t i)
{
    return UINT64_C(0x7f0000000000) + i * 24 + i % 3 + (i % 200 == 0 ? i * 100000 : 0);
}
static uint64_t strides(uint64_t i)
{
    return 1000 + 16 * i + (i >= 500);
}
static uint64_t clustered(uint64_t i)
{
    return UINT64_C(1000000000) - 50 + i % 100;
}
static uint64_t wandering(uint64_t i)
{
    return i / 300 * 1000000 + i % 60;
}
static uint64_t small(uint64_t i)
{
    return i % 250;
}
static uint64_t growing(uint64_t i)
{
    return i * i;
}
static uint64_t any(uint64_t i)
{
    return (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
}
static uint64_t negative(uint64_t i)
{
    return 0 - i % 100;
}
static uint64_t cycle(uint64_t i)
{
    static const uint64_t values[] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5};
    return values[i % 11] * 100000;
}
static uint64_t climbing_cycle(uint64_t i)
{
    static const uint64_t steps[] = {0, 1000, 5000, 90000};
    return i / 4 * 100000 + steps[i % 4];
}
static uint64_t recent(uint64_t i)
{
    return UINT64_C(0x5555000000) + (i / 100) * 4096 + i % 3 * 64;
}

static const struct {
    const char *attributes;
    uint64_t (*value)(uint64_t number);
    unsigned most; /* hundredths of a byte a record, its type's included; 0: not looked at */
} strategies[] = {
    {"constant", constant, 105},
    {"default", rarely, 125},
    {"default", phases, 115},
    {"identifier", few, 210},
    {"identifier,size=8", few, 210},
    {"delta=100", near, 230},
    {"delta", near, 230},
    {"delta=5", any, 0},
    {"stride=16", strides, 110},
    {"stride=-16", strides, 0},
    {"offset=1000000000", clustered, 210},
    {"window=60", wandering, 210},
    {"window=60,size=8", wandering, 210},
    {"size=1", negative, 205},
    {"size=1,unsigned", small, 205},
    {"size=8", any, 905},
    {"size=1..", growing, 420},
    {"size=2+", growing, 0},
    {"size=1+,unsigned", rarely, 220},
    {"size=creep", growing, 405},
    {"unsigned", small, 270},
    {"", any, 0},
    {"", negative, 240},
    {"context=2", cycle, 245},
    {"fcm=1", any, 0},
    {"dfcm=2", climbing_cycle, 215},
    {"recent=4", recent, 215},
    {"recent=4,unsigned", any, 0},
    {"default,delta=10,size=4", phases, 115},
    {"identifier,delta=100,size=1+", near, 0},
    {"identifier,stride=1", any, 0},
    {"constant,default,identifier,delta=1,stride=5", few, 210},
    {"sequence", strides, 0},
    {"sequence,unsigned", any, 0},
    {"frobnicate=3", any, 0}, /* not known: as if it were not there */
};

/* Writes 1,000 records, reads them, and returns the block's bytes beside its header. */
static size_t round_trip(const char *text, uint64_t (*value)(uint64_t),
                         enum step_write_layout layout, uint8_t *used)
{
    struct step_definition *definition = define(text);
    struct step_buffer file = {0};
    struct step_writer *writer = start(definition, &file, layout);
    for (uint64_t i = 0; i < 1000; i++) {
        uint64_t slot = value(i);
        CU_ASSERT_EQUAL(step_writer_put(writer, 0, 0, &slot), STEP_STATUS_OK);
    }
    struct step_reader *reader = finish(writer, &file);
    const struct step_block_info *info = step_reader_block_info(reader, 0);
    struct step_block *block = NULL;
    struct step_record_view view;
    CU_ASSERT_EQUAL(step_reader_load(reader, 0, NULL, &block, NULL), STEP_STATUS_OK);
    uint64_t good = 0;
    while (step_block_next(block, &view) == STEP_STATUS_OK && view.slots[0] == value(good))
        good++;
    CU_ASSERT_EQUAL(good, 1000);
    size_t bytes = (size_t) info->stored_bytes - STEP_BLOCK_HEADER_BYTES;
    *used = file.data[info->offset + 5];
    step_block_destroy(block);
    step_reader_destroy(reader);
    step_buffer_reset(&file);
    step_definition_destroy(definition);
    return bytes;
}

static void test_strategies(void)
{
    for (size_t i = 0; i < sizeof strategies / sizeof strategies[0]; i++) {
        char text[160];
        uint8_t layout;
        snprintf(text, sizeof text, "record R { int v <encoding:\"%s\">; }",
                 strategies[i].attributes);
        size_t rows = round_trip(text, strategies[i].value, STEP_WRITE_ROWS, &layout);
        CU_ASSERT_EQUAL(layout, STEP_LAYOUT_ROWS);
        if (strategies[i].most > 0 && rows > 10u * strategies[i].most + 60)
            fprintf(stderr, "%s: %zu bytes\n", strategies[i].attributes, rows);
        CU_ASSERT(strategies[i].most == 0 || rows <= 10u * strategies[i].most + 60);
        size_t columns = round_trip(text, strategies[i].value, STEP_WRITE_COLUMNS, &layout);
        CU_ASSERT_EQUAL(layout, STEP_LAYOUT_COLUMNS);
        size_t smallest = round_trip(text, strategies[i].value, STEP_WRITE_SMALLEST, &layout);
        CU_ASSERT_EQUAL(smallest, rows < columns ? rows : columns);
    }
}

/* Changes in the middle of arrays and of nested records, several in one record. */
static void test_nested(void)
{
    static const char text[] =
        "record P { int x <encoding:\"default\">; int y <encoding:\"delta=3,size=1+\">; }"
        "record R { P p; int[] all <encoding:\"default\">; P[] points; string s; int z; "
        "           ~all.length <encoding:\"default\">; ~s.length <encoding:\"size=1..\">; "
        "           ~p.x <encoding:\"identifier\">; }";
    struct step_definition *definition = define(text);
    struct step_buffer file = {0};
    struct step_writer *writer = start(definition, &file, STEP_WRITE_ROWS);
    static char long_text[700];
    enum { COUNT = 300 };
    for (uint64_t i = 0; i < COUNT; i++) {
        uint64_t elements[8] = {5, 5, 5, i % 9, 5, i % 4, i, i};
        uint64_t points[6] = {1, i, i % 2, i * i, 1, i};
        struct step_array all = {elements, i % 7 == 0 ? 3 : 8}, some = {points, i % 4};
        struct step_bytes string = {(const uint8_t *) long_text, i == 200 ? 700 : i % 5};
        uint64_t slots[] = {i % 3 * 1000,
                            i * 2,
                            step_slot_of_array(&all),
                            step_slot_of_array(&some),
                            step_slot_of_bytes(&string),
                            i};
        CU_ASSERT_EQUAL(step_writer_put(writer, 0, 1, slots), STEP_STATUS_OK);
    }
    struct step_reader *reader = finish(writer, &file);
    struct step_block *block = NULL;
    struct step_record_view view;
    uint64_t i = 0;
    CU_ASSERT_EQUAL(step_reader_load(reader, 0, NULL, &block, NULL), STEP_STATUS_OK);
    for (; step_block_next(block, &view) == STEP_STATUS_OK; i++) {
        uint64_t elements[8] = {5, 5, 5, i % 9, 5, i % 4, i, i};
        uint64_t points[6] = {1, i, i % 2, i * i, 1, i};
        const struct step_array *all = step_slot_array(view.slots[2]);
        const struct step_array *some = step_slot_array(view.slots[3]);
        CU_ASSERT_EQUAL(view.slots[0], i % 3 * 1000);
        CU_ASSERT_EQUAL(view.slots[1], i * 2);
        CU_ASSERT_EQUAL_FATAL(all->count, i % 7 == 0 ? 3 : 8);
        CU_ASSERT(memcmp(all->slots, elements, all->count * 8) == 0);
        CU_ASSERT_EQUAL_FATAL(some->count, i % 4);
        CU_ASSERT(some->count == 0 || memcmp(some->slots, points, some->count * 16) == 0);
        CU_ASSERT_EQUAL(step_slot_bytes(view.slots[4])->length, i == 200 ? 700 : i % 5);
        CU_ASSERT_EQUAL(view.slots[5], i);
    }
    CU_ASSERT_EQUAL(i, COUNT);
    step_block_destroy(block);
    step_reader_destroy(reader);
    step_buffer_reset(&file);
    step_definition_destroy(definition);
}

/* Records in the place of their parents: type=variable, default and constant, in arrays too. */
static void check_variants(enum step_write_layout layout)
{
    static const char text[] =
        "record A { int a; } record B extends A { string b; } record C extends B { int c; }"
        "record R { A v <encoding:\"type=variable\">; A d <encoding:\"type=default\">;"
        "           A k <encoding:\"type=constant\">; A[] all <encoding:\"type=variable\">; }";
    struct step_definition *definition = define(text);
    struct step_buffer file = {0};
    struct step_writer *writer = start(definition, &file, layout);
    CU_ASSERT_EQUAL(step_record_slot_count(definition, 3), 4);
    enum { COUNT = 200 };
    for (uint64_t i = 0; i < COUNT; i++) {
        struct step_bytes string = {(const uint8_t *) "some text", i % 9};
        uint64_t slots[3] = {i, step_slot_of_bytes(&string), i * i};
        struct step_variant items[4] = {
            {(uint32_t) (i % 3), slots}, {i % 50 == 0 ? 2 : 1, slots}, {1, slots}, {2, slots}};
        uint64_t elements[2] = {step_slot_of_variant(&items[2]), step_slot_of_variant(&items[3])};
        struct step_array all = {elements, i % 3};
        uint64_t record[] = {step_slot_of_variant(&items[0]), step_slot_of_variant(&items[1]), 7,
                             step_slot_of_array(&all)};
        CU_ASSERT_EQUAL_FATAL(step_writer_put(writer, 0, 3, record), STEP_STATUS_OK);
    }
    struct step_reader *reader = finish(writer, &file);
    struct step_block *block = NULL;
    struct step_record_view view;
    uint64_t i = 0;
    CU_ASSERT_EQUAL_FATAL(step_reader_load(reader, 0, NULL, &block, NULL), STEP_STATUS_OK);
    for (; step_block_next(block, &view) == STEP_STATUS_OK; i++) {
        const struct step_variant *v = step_slot_variant(view.slots[0]);
        const struct step_variant *d = step_slot_variant(view.slots[1]);
        const struct step_array *all = step_slot_array(view.slots[3]);
        CU_ASSERT_EQUAL_FATAL(v->record, i % 3);
        CU_ASSERT_EQUAL(v->slots[0], i);
        CU_ASSERT(v->record < 1 || step_slot_bytes(v->slots[1])->length == i % 9);
        CU_ASSERT(v->record < 2 || v->slots[2] == i * i);
        CU_ASSERT_EQUAL(d->record, i % 50 == 0 ? 2 : 1);
        CU_ASSERT_EQUAL(step_slot_bytes(d->slots[1])->length, i % 9);
        CU_ASSERT_EQUAL(view.slots[2], 7);
        CU_ASSERT_EQUAL_FATAL(all->count, i % 3);
        for (size_t k = 0; k < all->count; k++)
            CU_ASSERT_EQUAL(step_slot_variant(all->slots[k])->record, k + 1);
    }
    CU_ASSERT_EQUAL(i, COUNT);
    step_block_destroy(block);
    step_reader_destroy(reader);
    step_buffer_reset(&file);
    writer = start(definition, &file, layout);
    uint64_t slots[1] = {0};
    struct step_variant wrong = {3, slots};
    uint64_t record[] = {step_slot_of_variant(&wrong), step_slot_of_variant(&wrong), 7, 0};
    struct step_error error = {0};
    CU_ASSERT_EQUAL(step_writer_put(writer, 0, 3, record), STEP_STATUS_INVALID);
    CU_ASSERT_EQUAL(step_writer_close(writer, &error), STEP_STATUS_INVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "field v has a value of a type"));
    step_writer_destroy(writer);
    step_buffer_reset(&file);
    step_definition_destroy(definition);
}

static void test_variants(void)
{
    check_variants(STEP_WRITE_ROWS);
    check_variants(STEP_WRITE_COLUMNS);
    check_variants(STEP_WRITE_SMALLEST);
}

/* Calls that nest, and objects that die soon after they are made: by record, field and number. */
static uint32_t follow_record(uint64_t i, uint64_t *slots)
{
    static uint64_t stack[64];
    static size_t depth;
    static uint64_t object;
    uint64_t noise = (i * UINT64_C(0x9e3779b97f4a7c15)) >> 40;
    if (i == 0)
        depth = object = 0;
    slots[0] = depth < 60 ? noise % 1000 : 3;
    if (i % 3 == 2) {
        slots[0] = noise % 2 == 0 ? object += 1 + noise % 3 : object - noise % 4;
        return noise % 2 == 0 ? 4 : 5;
    }
    if (depth > 0 && (depth == 60 || noise % 2 == 0)) {
        slots[0] = stack[--depth];
        return noise % 64 == 0 ? 3 : 2;
    }
    stack[depth++] = slots[0];
    return 1;
}

static size_t write_followed(const char *stack, const char *age, enum step_write_layout layout)
{
    char text[400];
    snprintf(
        text, sizeof text,
        "package p { record Call { int m <encoding:\"unsigned%s\">; }"
        "record Enter extends Call { } record Leave extends Call { } record Throw extends Call { }"
        "record Make { int o <encoding:\"sequence\">; } record Drop { int o %s; } }",
        stack, age);
    struct step_definition *definition = define(text);
    struct step_buffer file = {0};
    struct step_writer *writer = start(definition, &file, layout);
    enum { COUNT = 3000 };
    uint64_t slots[1];
    for (uint64_t i = 0; i < COUNT; i++) {
        uint32_t record = follow_record(i, slots);
        CU_ASSERT_EQUAL(step_writer_put(writer, 0, record, slots), STEP_STATUS_OK);
    }
    struct step_reader *reader = finish(writer, &file);
    struct step_block *block = NULL;
    struct step_record_view view;
    uint64_t i = 0;
    CU_ASSERT_EQUAL_FATAL(step_reader_load(reader, 0, NULL, &block, NULL), STEP_STATUS_OK);
    while (step_block_next(block, &view) == STEP_STATUS_OK) {
        CU_ASSERT_EQUAL(follow_record(i++, slots), view.record);
        CU_ASSERT_EQUAL(slots[0], view.slots[0]);
    }
    CU_ASSERT_EQUAL(i, COUNT);
    size_t bytes = file.length;
    step_block_destroy(block);
    step_reader_destroy(reader);
    step_buffer_reset(&file);
    step_definition_destroy(definition);
    return bytes;
}

/* Exits implied by the call stack, and ages. */
static void test_followed(void)
{
    static const enum step_write_layout layouts[] = {STEP_WRITE_ROWS, STEP_WRITE_COLUMNS};
    for (size_t i = 0; i < 2; i++) {
        size_t plain = write_followed("", "", layouts[i]);
        size_t stacked = write_followed(",stack=Enter", "", layouts[i]);
        size_t both = write_followed(",stack=p.Enter", "<encoding:\"age=Make.o\">", layouts[i]);
        /* columns are not compressed here: their bits are not so few */
        bool rows = layouts[i] == STEP_WRITE_ROWS;
        CU_ASSERT(!rows || (stacked < plain - 400 && both < stacked - 400));
        /* what does not exist is not heeded */
        write_followed(",stack=Nobody", "<encoding:\"age=Make.none\">", layouts[i]);
        write_followed(",stack=", "<encoding:\"age=o\">", layouts[i]);
    }
}

/* A usual value that changes is so from its second time on, whatever it is; what is unsigned by its
 * property has the whole range of its bytes. */
static void test_usual_values(void)
{
    struct step_definition *definition = define("record R { int v <encoding:\"default\">; }");
    for (int value = -2; value <= 1; value++) {
        struct step_buffer file = {0};
        struct step_writer *writer = start(definition, &file, STEP_WRITE_ROWS);
        for (int i = 0; i < 1000; i++) {
            uint64_t slots[] = {i == 0 ? 77 : (uint64_t) (int64_t) value};
            CU_ASSERT_EQUAL(step_writer_put(writer, 0, 0, slots), STEP_STATUS_OK);
        }
        struct step_reader *reader = finish(writer, &file);
        CU_ASSERT(step_reader_block_info(reader, 0)->stored_bytes < 1300);
        step_reader_destroy(reader);
        step_buffer_reset(&file);
    }
    step_definition_destroy(definition);
    definition = define("record R { int t <property:\"time\"> <encoding:\"size=4\">; "
                        "int u <property:\"thread\"> <encoding:\"size=1\">; }");
    struct step_buffer file = {0};
    struct step_writer *writer = start(definition, &file, STEP_WRITE_ROWS);
    CU_ASSERT_EQUAL(step_writer_put(writer, 0, 0, (uint64_t[]){UINT32_MAX, 255}), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_writer_put(writer, 0, 0, (uint64_t[]){1, 256}), STEP_STATUS_INVALID);
    CU_ASSERT_EQUAL(step_writer_close(writer, NULL), STEP_STATUS_INVALID);
    step_writer_destroy(writer);
    step_buffer_reset(&file);
    step_definition_destroy(definition);
}

/* A writer says which field is against the definition. */
static void test_refusals(void)
{
    static const struct {
        const char *text;
        uint64_t first, second;
        const char *field;
    } cases[] = {
        {"record A { int i <encoding:\"constant\">; }", 5, 6, "field i is constant"},
        {"record A { int i <encoding:\"size=1\">; }", 127, 128, "field i is 0x80"},
        {"record A { int i <encoding:\"size=1\">; }", UINT64_C(0) - 128, UINT64_C(0) - 129,
         "field i is 0x"},
        {"record A { int i <encoding:\"size=2,unsigned\">; }", 65535, 65536, "more than its 2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct step_definition *definition = define(cases[i].text);
        struct step_buffer file = {0};
        struct step_error error = {0};
        struct step_writer *writer = start(definition, &file, STEP_WRITE_SMALLEST);
        CU_ASSERT_EQUAL(step_writer_put(writer, 0, 0, &cases[i].first), STEP_STATUS_OK);
        CU_ASSERT_EQUAL(step_writer_put(writer, 0, 0, &cases[i].second), STEP_STATUS_INVALID);
        CU_ASSERT_EQUAL(step_writer_close(writer, &error), STEP_STATUS_INVALID);
        CU_ASSERT_PTR_NOT_NULL(strstr(error.message, cases[i].field));
        step_writer_destroy(writer);
        step_buffer_reset(&file);
        step_definition_destroy(definition);
    }
}

static void test_charsets(void)
{
    static const struct {
        const char *charset, *text;
        size_t length;
        bool good;
    } cases[] = {
        {"US-ASCII", "plain", 5, true},
        {"US-ASCII", "\xc3\xa9", 2, false},
        {"UTF-8", "\xc3\xa9\xf0\x9f\x98\x80", 6, true},
        {"UTF-8", "\xc0\x80", 2, false},
        {"UTF-8", "\xed\xa0\x80", 3, false},
        {"UTF-8", "\xe2\x82", 2, false},
        {"iso-8859-1", "\xe9", 1, true},
        {"UTF-16BE", "\xd8\x3d\xde\x00", 4, true},
        {"UTF-16BE", "\xde\x00", 2, false},
        {"UTF-16LE", "\x3d\xd8\x00\xde", 4, true},
        {"UTF-16LE", "a", 1, false},
        {"UTF-16", "\xff\xfe\x3d\xd8\x00\xde", 6, true},
        {"koi8-r", "\xff\x00", 2, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[100];
        snprintf(text, sizeof text, "record A { string s <encoding:\"charset=%s\">; }",
                 cases[i].charset);
        struct step_definition *definition = define(text);
        struct step_buffer file = {0};
        struct step_writer *writer = start(definition, &file, STEP_WRITE_ROWS);
        struct step_bytes bytes = {(const uint8_t *) cases[i].text, cases[i].length};
        uint64_t slot = step_slot_of_bytes(&bytes);
        CU_ASSERT_EQUAL(step_writer_put(writer, 0, 0, &slot),
                        cases[i].good ? STEP_STATUS_OK : STEP_STATUS_INVALID);
        step_writer_destroy(writer);
        step_buffer_reset(&file);
        step_definition_destroy(definition);
    }
}

/* Changes that the policy of an encoder does not have. */
static void test_contradictions(void)
{
    static const struct {
        struct step_policy policy;
        struct step_change change;
        bool good;
    } cases[] = {
        {{.general = STEP_DEFAULT}, {STEP_CHANGE_DEFER, 0}, true},
        {{.general = STEP_DEFAULT}, {STEP_CHANGE_SHIFT, 0}, true},
        {{.general = STEP_IDENTIFIER}, {STEP_CHANGE_DEFER, 0}, true},
        {{.general = STEP_IDENTIFIER}, {STEP_CHANGE_SHIFT, 0}, false},
        {{.general = STEP_CONSTANT}, {STEP_CHANGE_DEFER, 0}, false},
        {{.targeted = STEP_DELTA}, {STEP_CHANGE_RESTART, 0}, true},
        {{.targeted = STEP_OFFSET}, {STEP_CHANGE_RESTART, 0}, false},
        {{0}, {STEP_CHANGE_DEFER, 0}, false},
        {{.size = STEP_SIZE_START, .bytes = 2}, {STEP_CHANGE_GROW, 3}, true},
        {{.size = STEP_SIZE_START, .bytes = 2}, {STEP_CHANGE_GROW, 2}, false},
        {{.size = STEP_SIZE_START, .bytes = 2}, {STEP_CHANGE_GROW, 9}, false},
        {{.size = STEP_SIZE_MIN, .bytes = 2}, {STEP_CHANGE_GROW, 3}, false},
        {{.size = STEP_SIZE_MIN, .bytes = 2}, {STEP_CHANGE_WIDEN, 8}, true},
        {{0}, {STEP_CHANGE_END, 0}, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct step_encoder encoder = {0};
        CU_ASSERT_EQUAL(step_encoder_start(&encoder, &cases[i].policy, 4, false), STEP_STATUS_OK);
        const char *fault = step_encoder_change(&encoder, cases[i].change);
        CU_ASSERT_EQUAL(fault == NULL, cases[i].good);
        step_encoder_reset(&encoder);
    }
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("step rows", NULL, NULL);
    CU_add_test(suite, "bytes", test_bytes);
    CU_add_test(suite, "strategies", test_strategies);
    CU_add_test(suite, "nested", test_nested);
    CU_add_test(suite, "variants", test_variants);
    CU_add_test(suite, "followed", test_followed);
    CU_add_test(suite, "usual values", test_usual_values);
    CU_add_test(suite, "refusals", test_refusals);
    CU_add_test(suite, "charsets", test_charsets);
    CU_add_test(suite, "contradictions", test_contradictions);
}
