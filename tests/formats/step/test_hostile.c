/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks made by hand, whose checksums are good and whose contents are not: each is refused with
 * its offset and the record's number, and takes no memory to speak of.
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
#include "tests/unit/run_suite.h"

static const char definition_text[] =
    "record R { int v <encoding:\"identifier\">; string s <encoding:\"identifier\">; int[] a;"
    " Nothing[] n; } record Nothing { }";
enum { MOST_BYTES = 64, MOST_MEMORY = 4 << 20 };

/* What precedes all rows: the encoders of the columns. */
static void put_directory(struct step_buffer *out)
{
    static const struct {
        uint8_t field, leaf;
        const char *policy;
    } encoders[] = {{0, 0, "identifier"},
                    {1, 0, "strings=identifier,unsigned"},
                    {2, 0, "unsigned"},
                    {2, 1, ""},
                    {3, 0, "unsigned"}};
    enum { ENCODERS = sizeof encoders / sizeof encoders[0] };
    step_buffer_append_varint(out, ENCODERS);
    for (size_t i = 0; i < ENCODERS; i++) {
        size_t length = strlen(encoders[i].policy);
        step_buffer_append_varint(out, 0);
        step_buffer_append_varint(out, encoders[i].field);
        step_buffer_append_varint(out, encoders[i].leaf);
        step_buffer_append_varint(out, length);
        if (length > 0)
            step_buffer_append(out, encoders[i].policy, length);
    }
}

static bool is_block_header(const struct step_buffer *file, size_t at, enum step_block_kind kind,
                            struct step_block_header *header)
{
    return step_block_header_unpack(file->data + at, header) && header->kind == kind;
}

/* A trace of one record, of which the data block's place is returned; nothing follows the block. */
static size_t write_trace(const char *text, struct step_buffer *file)
{
    static const struct step_array none = {NULL, 0};
    static const struct step_bytes hay = {(const uint8_t *) "hay", 3};
    struct step_definition *definition = NULL;
    struct step_writer_options options;
    struct step_writer *writer = NULL;
    struct step_reader *reader = NULL;
    const uint64_t slots[] = {5, step_slot_of_bytes(&hay), step_slot_of_array(&none),
                              step_slot_of_array(&none)};
    CU_ASSERT_EQUAL_FATAL(
        step_definition_parse(text, strlen(text), "test", NULL, NULL, &definition, NULL),
        STEP_STATUS_OK);
    step_writer_options_init(&options);
    options.definition = definition;
    options.output = step_memory_output(file);
    options.compression = STEP_COMPRESSION_NONE;
    options.layout = STEP_WRITE_ROWS;
    CU_ASSERT_EQUAL_FATAL(step_writer_create(&options, &writer, NULL), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_writer_put(writer, 0, 0, slots), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_writer_close(writer, NULL), STEP_STATUS_OK);
    step_writer_destroy(writer);
    step_definition_destroy(definition);
    CU_ASSERT_EQUAL_FATAL(step_reader_open_memory(file->data, file->length, "test", &reader, NULL),
                          STEP_STATUS_OK);
    size_t at = (size_t) step_reader_block_info(reader, 0)->offset;
    file->length = at + (size_t) step_reader_block_info(reader, 0)->stored_bytes;
    step_reader_destroy(reader);
    return at;
}

/* Puts other bytes in the place of a block's, after its summary, and makes its checksums good. */
static void replace_payload(struct step_buffer *file, size_t at, enum step_block_layout layout,
                            const struct step_buffer *bytes, uint64_t records)
{
    struct step_block_header header;
    struct step_buffer summary = {0};
    CU_ASSERT_FATAL(is_block_header(file, at, STEP_BLOCK_DATA, &header));
    step_buffer_append_varint(&summary, 1);
    step_buffer_append_varint(&summary, 0);
    step_buffer_append_varint(&summary, records);
    file->length = at;
    uint8_t head[STEP_BLOCK_HEADER_BYTES] = {0};
    step_buffer_append(file, head, sizeof head);
    step_buffer_append(file, summary.data, summary.length);
    step_buffer_append(file, bytes->data, bytes->length);
    const uint8_t *start = file->data + at + STEP_BLOCK_HEADER_BYTES;
    header.layout = (uint8_t) layout;
    header.record_count = records;
    header.summary_bytes = (uint32_t) summary.length;
    header.summary_checksum = (uint32_t) step_checksum(start, summary.length);
    header.payload_bytes = file->length - at - STEP_BLOCK_HEADER_BYTES;
    header.payload_checksum = step_checksum(start, (size_t) header.payload_bytes);
    step_block_header_pack(&header, file->data + at);
    step_buffer_reset(&summary);
}

/* Loads the block, which must fail; the message and the offset are left in `error`. */
static void load_bad(const struct step_buffer *file, size_t at, enum step_status expected,
                     struct step_error *error)
{
    struct step_reader *reader = NULL;
    struct step_block *block = NULL;
    struct step_record_view view;
    CU_ASSERT_EQUAL_FATAL(step_reader_open_memory(file->data, file->length, "test", &reader, error),
                          STEP_STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(step_reader_block_count(reader), 1);
    CU_ASSERT_EQUAL(step_reader_load(reader, 0, NULL, &block, error), expected);
    CU_ASSERT(error->offset >= at && error->offset < file->length);
    CU_ASSERT_EQUAL(step_block_next(block, &view), STEP_STATUS_END);
    CU_ASSERT(step_block_memory(block) < MOST_MEMORY);
    CU_ASSERT_EQUAL(step_reader_damage_count(reader), 1);
    step_block_destroy(block);
    step_reader_destroy(reader);
}

/* A record up to the value v, which is new; up to the string, likewise; and up to the array. */
#define TYPE 0, 1, 0, 1, 0, 0
#define VALUE 0, 2, 0, 1, 0, 1, 0, 0, 1, 1, 1, 2, 1, 1, 10
#define STRING 0, 3, 0, 1, 0, 1, 0, 0, 1, 1, 1, 2, 1, 1, 1, 10, 0, 1, 1, 6, 2, 1, 2
#define HUGE 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10 /* 2^60 */

static const struct {
    uint8_t bytes[MOST_BYTES];
    size_t length;
    enum step_status status;
    const char *message;
} cases[] = {
#define CASE(status, message, ...)                                                                 \
    {                                                                                              \
        {__VA_ARGS__}, sizeof((uint8_t[]){__VA_ARGS__}), status, message                           \
    }
    CASE(STEP_STATUS_CORRUPT, "an identifier that was never defined", TYPE, 5),
    CASE(STEP_STATUS_CORRUPT, "an identifier that was never defined", TYPE, 0),
    CASE(STEP_STATUS_CORRUPT, "an identifier that was never defined", VALUE, 9),
    CASE(STEP_STATUS_CORRUPT, "an identifier that was never defined", 3),
    CASE(STEP_STATUS_CORRUPT, "a length that passes the end", STRING, HUGE),
    CASE(STEP_STATUS_CORRUPT, "a length that passes the end", STRING, 4, 'h', 'a', 'y'),
    CASE(STEP_STATUS_CORRUPT, "the bytes end", STRING, 1, 'x', HUGE),
    CASE(STEP_STATUS_CORRUPT, "the bytes end", STRING, 1, 'x', 2, 7),
    CASE(STEP_STATUS_CORRUPT, "the bytes end within a value", STRING, 1, 'x', 0),
    CASE(STEP_STATUS_CORRUPT, "the bytes end", 0, 1),
    CASE(STEP_STATUS_CORRUPT, "bytes after the last record", STRING, 1, 'x', 0, 0, 0),
    /* meta-records that contradict the definition, or themselves */
    CASE(STEP_STATUS_CORRUPT, "a meta-record without changes", 0, 0, 0, 0),
    CASE(STEP_STATUS_CORRUPT, "a change of a strategy", 0, 1, 0, 2, 0, 0),
    CASE(STEP_STATUS_CORRUPT, "a change of a strategy", 0, 1, 0, 3, 0, 0),
    CASE(STEP_STATUS_CORRUPT, "a change of a strategy", 0, 1, 0, 6, 0, 0),
    CASE(STEP_STATUS_CORRUPT, "a change of size", 0, 1, 0, 4, 0, 8, 0),
    CASE(STEP_STATUS_CORRUPT, "of a kind that does not exist", 0, 1, 0, 7, 0, 0),
    CASE(STEP_STATUS_CORRUPT, "a change of an encoder", 0, 1, 0, 1, 99, 0),
    CASE(STEP_STATUS_CORRUPT, "a meta-record in an invalid meta-event", 0, 1, 0, 0, 0, 1, 1, 0),
    CASE(STEP_STATUS_CORRUPT, "a meta-record in an invalid meta-event", 0, 1, 0, 0, 200, 1, 1, 1,
         0),
    CASE(STEP_STATUS_CORRUPT, "a change of an invalid meta-event", 0, 1, 0, 0, 1, 1, 1, 9, 1, 0),
    CASE(STEP_STATUS_CORRUPT, "a change of an invalid meta-event", 0, 1, 0, 0, 1, 1, 1, 2, 7, 0),
    CASE(STEP_STATUS_CORRUPT, "changes after its last value", 0, 4, 0, 1, 0, 1, 0, 0, 1, 1, 1, 2, 1,
         1, 1, 10, 0, 1, 1, 6, 2, 1, 2, 9, 1, 'x', 0, 0),
    CASE(STEP_STATUS_CORRUPT, "does not list", 0, 1, 0, 1, 0, 1),
};

static void test_rows(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct step_buffer file = {0}, rows = {0}, payload = {0};
        struct step_error error = {0};
        size_t at = write_trace(definition_text, &file);
        put_directory(&rows);
        step_buffer_append(&rows, cases[i].bytes, cases[i].length);
        step_buffer_append_varint(&payload, STEP_COMPRESSION_NONE);
        step_buffer_append_varint(&payload, rows.length);
        step_buffer_append(&payload, rows.data, rows.length);
        replace_payload(&file, at, STEP_LAYOUT_ROWS, &payload, 1);
        load_bad(&file, at, cases[i].status, &error);
        bool reported = strstr(error.message, cases[i].message) != NULL &&
                        strstr(error.message, "record ") != NULL &&
                        strstr(error.message, " of the block (R), byte ") != NULL;
        if (!reported)
            fprintf(stderr, "case %zu: %s\n", i, error.message);
        CU_ASSERT(reported);
        step_buffer_reset(&file);
        step_buffer_reset(&rows);
        step_buffer_reset(&payload);
    }
}

/* A record after many good ones is told by its number. */
static void test_number(void)
{
    static const uint8_t first[] = {STRING, 1, 'x', 0, 0}, good[] = {1, 1, 1, 0, 0},
                         bad[] = {1, 2, 1, 0, 0};
    struct step_buffer file = {0}, rows = {0}, payload = {0};
    struct step_error error = {0};
    size_t at = write_trace(definition_text, &file);
    put_directory(&rows);
    step_buffer_append(&rows, first, sizeof first);
    for (size_t i = 0; i < 1000; i++)
        step_buffer_append(&rows, good, sizeof good);
    step_buffer_append(&rows, bad, sizeof bad);
    step_buffer_append_varint(&payload, STEP_COMPRESSION_NONE);
    step_buffer_append_varint(&payload, rows.length);
    step_buffer_append(&payload, rows.data, rows.length);
    replace_payload(&file, at, STEP_LAYOUT_ROWS, &payload, 1002);
    load_bad(&file, at, STEP_STATUS_CORRUPT, &error);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "record 1001 of the block (R), byte "));
    step_buffer_reset(&file);
    step_buffer_reset(&rows);
    step_buffer_reset(&payload);
}

/* An array of what takes no bytes may have any length, and no memory. */
static void test_empty_elements(void)
{
    static const uint8_t record[] = {STRING, 1, 'x', 0, HUGE};
    struct step_buffer file = {0}, rows = {0}, payload = {0};
    struct step_reader *reader = NULL;
    struct step_block *block = NULL;
    struct step_record_view view;
    struct step_error error = {0};
    size_t at = write_trace(definition_text, &file);
    put_directory(&rows);
    step_buffer_append(&rows, record, sizeof record);
    step_buffer_append_varint(&payload, STEP_COMPRESSION_NONE);
    step_buffer_append_varint(&payload, rows.length);
    step_buffer_append(&payload, rows.data, rows.length);
    replace_payload(&file, at, STEP_LAYOUT_ROWS, &payload, 1);
    CU_ASSERT_EQUAL_FATAL(step_reader_open_memory(file.data, file.length, "test", &reader, NULL),
                          STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_reader_load(reader, 0, NULL, &block, &error), STEP_STATUS_CORRUPT);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "array lengths pass the limit"));
    CU_ASSERT_EQUAL(step_block_next(block, &view), STEP_STATUS_END);
    CU_ASSERT(step_block_memory(block) < MOST_MEMORY);
    step_block_destroy(block);
    step_reader_destroy(reader);
    step_buffer_reset(&file);
    step_buffer_reset(&rows);
    step_buffer_reset(&payload);
}

/* Columns: directory entries by hand. */
static void put_entry(struct step_buffer *out, uint64_t field, uint64_t leaf, const uint8_t *coding,
                      size_t length)
{
    step_buffer_append_varint(out, 0);
    step_buffer_append_varint(out, field);
    step_buffer_append_varint(out, leaf);
    step_buffer_append(out, coding, length);
}

/* One record of `record R { string s; }`: its length, and a section of bytes as given. */
static void check_columns(const uint8_t *lengths, size_t lengths_size, const uint8_t *bytes,
                          size_t bytes_size, const char *section, enum step_status expected,
                          const char *message)
{
    static const uint8_t types[] = {0, 1, 1, 0, 0, 0, 0}; /* constant 0 */
    struct step_buffer file = {0}, directory = {0}, payload = {0};
    struct step_reader *reader = NULL;
    struct step_block *block = NULL;
    struct step_error error = {0};
    size_t at = write_trace("record R { int v; string s; int[] a, n; }", &file);
    step_buffer_append(&directory, types, sizeof types);
    step_buffer_append_varint(&directory, 7);
    static const uint8_t zero[] = {0, 1, 1, 0, 0, 0, 0};
    put_entry(&directory, 0, 0, zero, sizeof zero);
    put_entry(&directory, 1, 0, lengths, lengths_size);
    put_entry(&directory, 1, 1, bytes, bytes_size);
    for (uint64_t field = 2; field < 4; field++) {
        put_entry(&directory, field, 0, zero, sizeof zero);
        put_entry(&directory, field, 1, zero, sizeof zero);
    }
    step_buffer_append_varint(&payload, directory.length);
    step_buffer_append(&payload, directory.data, directory.length);
    if (section[0] != '\0')
        step_buffer_append(&payload, section, strlen(section));
    replace_payload(&file, at, STEP_LAYOUT_COLUMNS, &payload, 1);
    CU_ASSERT_EQUAL_FATAL(step_reader_open_memory(file.data, file.length, "test", &reader, NULL),
                          STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_reader_load(reader, 0, NULL, &block, &error), expected);
    if (message != NULL) {
        const char *reported =
            expected != STEP_STATUS_OK
                ? error.message
                : step_reader_damage(reader, step_reader_damage_count(reader) - 1)->message;
        if (strstr(reported, message) == NULL)
            fprintf(stderr, "%s\n", reported);
        CU_ASSERT_PTR_NOT_NULL(strstr(reported, message));
    }
    CU_ASSERT(expected == STEP_STATUS_OK || (error.offset >= at && error.offset < file.length));
    CU_ASSERT(step_block_memory(block) < MOST_MEMORY);
    step_block_destroy(block);
    step_reader_destroy(reader);
    step_buffer_reset(&file);
    step_buffer_reset(&directory);
    step_buffer_reset(&payload);
}

static void test_columns(void)
{
    static const uint8_t two[] = {0, 1, 1, 2, 0, 0, 0}, huge[] = {0, 1, 1, HUGE, 0, 0, 0};
    static const uint8_t plain[] = {0, 0, 0, 0, 2, 2};
    static const uint8_t promise[] = {0, 0, 0, 0, 0x80, 0x80, 0x80, 0x80, 0x04, 2}; /* 1 GiB */
    static const uint8_t numbered[] = {1,    14,   2,    1, 0xf3, 0xe8, 0xc9, 0xcb, 0xe6,
                                       0xed, 0xd9, 0x39, 0, 0,    0,    3,    3};
    static const uint8_t spiral[] = {1,    99,   2,    5, 0xf3, 0xe0, 0xa5, 0x93,
                                     0x97, 0x8c, 0x1b, 0, 0,    0,    2,    2};
    check_columns(two, sizeof two, plain, sizeof plain, "ab", STEP_STATUS_OK, NULL);
    check_columns(huge, sizeof huge, plain, sizeof plain, "ab", STEP_STATUS_CORRUPT,
                  "lengths pass the limit");
    check_columns(two, sizeof two, promise, sizeof promise, "ab", STEP_STATUS_CORRUPT,
                  "longer than its block allows");
    /* strings by number: 2 bytes, a number that nobody has */
    check_columns(two, sizeof two, numbered, sizeof numbered, "\001ab", STEP_STATUS_CORRUPT,
                  "R.s are damaged");
    /* and an encoding of later, which has a name: the record is passed over */
    check_columns(two, sizeof two, spiral, sizeof spiral, "ab", STEP_STATUS_OK,
                  "R.s: transform 99 (spiral) is not known");
}

/* Definitions in a file that no reader can use; the error tells where. */
static void test_definitions(void)
{
    static const struct {
        const char *head, *repeated, *tail;
        size_t count;
    } texts[] = {
        {"record A { A a; int x; }", "", "", 0},
        {"record A { B[] b; } record B { A a; }", "", "", 0},
        {"", "package p { ", "record A { int x; }", 10000},
        {"record A { int x", "[]", "; }", 10000},
        {"record A { int x <encoding:\"delta\"", "", "", 0},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct step_buffer file = {0}, text = {0}, rest = {0};
        struct step_block_header header;
        struct step_reader *reader = NULL;
        struct step_error error = {0};
        write_trace(definition_text, &file);
        CU_ASSERT_FATAL(
            is_block_header(&file, STEP_FILE_HEADER_BYTES, STEP_BLOCK_DEFINITION, &header));
        step_buffer_append(&text, texts[i].head, strlen(texts[i].head));
        for (size_t k = 0; k < texts[i].count; k++)
            step_buffer_append(&text, texts[i].repeated, strlen(texts[i].repeated));
        step_buffer_append(&text, texts[i].tail, strlen(texts[i].tail));
        step_buffer_append_varint(&rest, STEP_COMPRESSION_NONE);
        step_buffer_append_varint(&rest, text.length);
        step_buffer_append(&rest, text.data, text.length);
        file.length = STEP_FILE_HEADER_BYTES + STEP_BLOCK_HEADER_BYTES;
        step_buffer_append(&file, rest.data, rest.length);
        header.payload_bytes = rest.length;
        header.payload_checksum = step_checksum(rest.data, rest.length);
        step_block_header_pack(&header, file.data + STEP_FILE_HEADER_BYTES);
        CU_ASSERT_EQUAL(step_reader_open_memory(file.data, file.length, "test", &reader, &error),
                        STEP_STATUS_CORRUPT);
        CU_ASSERT_PTR_NULL(reader);
        CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "the definition cannot be read"));
        CU_ASSERT_EQUAL(error.offset, STEP_FILE_HEADER_BYTES);
        step_reader_destroy(reader);
        step_buffer_reset(&file);
        step_buffer_reset(&text);
        step_buffer_reset(&rest);
    }
}

/* Writes a trace that ends with its only dictionary block.  Returns the block's place. */
static size_t write_dictionary(struct step_buffer *file)
{
    static const char text[] = "record R { int v; }";
    static const uint64_t slots[] = {5};
    struct step_definition *definition = NULL;
    struct step_writer_options options;
    struct step_writer *writer = NULL;
    struct step_block_header header;
    size_t at = STEP_FILE_HEADER_BYTES;
    CU_ASSERT_EQUAL_FATAL(
        step_definition_parse(text, strlen(text), "test", NULL, NULL, &definition, NULL),
        STEP_STATUS_OK);
    step_writer_options_init(&options);
    options.definition = definition;
    options.output = step_memory_output(file);
    CU_ASSERT_EQUAL_FATAL(step_writer_create(&options, &writer, NULL), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_writer_define(writer, 0, slots, NULL), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_writer_close(writer, NULL), STEP_STATUS_OK);
    step_writer_destroy(writer);
    step_definition_destroy(definition);
    while (!is_block_header(file, at, STEP_BLOCK_DICTIONARY, &header))
        at += STEP_BLOCK_HEADER_BYTES + (size_t) header.payload_bytes;
    file->length = at + STEP_BLOCK_HEADER_BYTES + (size_t) header.payload_bytes;
    return at;
}

/* A block may claim any first id; readers iterate up to the last. */
static void test_missing_entries(void)
{
    struct step_buffer file = {0};
    struct step_block_header header;
    size_t at = write_dictionary(&file);
    const uint64_t most =
        STEP_DICTIONARY_GAPS + STEP_DICTIONARY_GAPS_PER_BYTE * (uint64_t) file.length;
    const uint64_t firsts[] = {0, 1, most, most + 1, UINT64_C(1) << 32, UINT64_MAX / 2};
    CU_ASSERT_FATAL(is_block_header(&file, at, STEP_BLOCK_DICTIONARY, &header));
    for (size_t i = 0; i < sizeof firsts / sizeof firsts[0]; i++) {
        struct step_reader *reader = NULL;
        header.first_record = firsts[i];
        step_block_header_pack(&header, file.data + at);
        CU_ASSERT_EQUAL_FATAL(
            step_reader_open_memory(file.data, file.length, "test", &reader, NULL), STEP_STATUS_OK);
        bool is_taken = firsts[i] <= most, is_noted = false;
        CU_ASSERT_EQUAL(step_reader_dictionary_count(reader, 0), is_taken ? firsts[i] + 1 : 0);
        for (size_t k = 0; k < step_reader_damage_count(reader); k++) {
            const struct step_damage *damage = step_reader_damage(reader, k);
            is_noted |= strstr(damage->message, "missing dictionary entries") != NULL &&
                        damage->offset == at + STEP_BLOCK_HEADER_BYTES;
        }
        CU_ASSERT_EQUAL(is_noted, !is_taken);
        step_reader_destroy(reader);
    }
    step_buffer_reset(&file);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("step hostile", NULL, NULL);
    CU_add_test(suite, "rows", test_rows);
    CU_add_test(suite, "number", test_number);
    CU_add_test(suite, "empty elements", test_empty_elements);
    CU_add_test(suite, "columns", test_columns);
    CU_add_test(suite, "definitions", test_definitions);
    CU_add_test(suite, "missing entries", test_missing_entries);
}
