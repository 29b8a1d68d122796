/* SPDX-License-Identifier: Apache-2.0 */
/* Writer and reader together: what goes in comes out. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/codec/column.h"
#include "format/core/checksum.h"
#include "format/io/memory_output.h"
#include "format/step/layout.h"
#include "tests/formats/step/sample_trace.h"
#include "tests/unit/run_suite.h"

static struct step_definition *definition;

static int set_up(void)
{
    definition = sample_definition();
    return definition == NULL;
}

static int tear_down(void)
{
    step_definition_destroy(definition);
    return 0;
}

static struct step_reader *open_whole(const struct step_buffer *file)
{
    struct step_reader *reader = NULL;
    struct step_error error = {0};
    enum step_status status =
        step_reader_open_memory(file->data, file->length, "sample", &reader, &error);
    if (status != STEP_STATUS_OK)
        fprintf(stderr, "%s\n", error.message);
    CU_ASSERT_EQUAL_FATAL(status, STEP_STATUS_OK);
    CU_ASSERT(step_reader_is_whole(reader));
    CU_ASSERT_EQUAL(step_reader_damage_count(reader), 0);
    return reader;
}

static void check_names(const struct step_reader *reader, uint64_t names)
{
    CU_ASSERT_EQUAL(step_reader_dictionary_count(reader, SAMPLE_NAME), names);
    CU_ASSERT_EQUAL(step_reader_dictionary_count(reader, SAMPLE_POINT), 0);
    CU_ASSERT_EQUAL(step_reader_dictionary_count(reader, 1000), 0);
    CU_ASSERT_PTR_NULL(step_reader_dictionary_entry(reader, SAMPLE_NAME, 0));
    CU_ASSERT_PTR_NULL(step_reader_dictionary_entry(reader, SAMPLE_NAME, names + 1));
    CU_ASSERT_PTR_NULL(step_reader_dictionary_entry(reader, SAMPLE_NAME, UINT64_MAX));
    for (uint64_t i = 1; i <= names; i++) {
        char room[24];
        const char *name = sample_name(i, room);
        const uint64_t *slots = step_reader_dictionary_entry(reader, SAMPLE_NAME, i);
        CU_ASSERT_PTR_NOT_NULL_FATAL(slots);
        const struct step_bytes *bytes = step_slot_bytes(slots[0]);
        CU_ASSERT(bytes->length == strlen(name) && memcmp(bytes->data, name, bytes->length) == 0);
    }
}

static void check_round_trip(enum step_write_layout layout)
{
    static const struct {
        enum step_compression compression;
        uint32_t block_records;
        uint64_t streams;
        uint64_t records;
        uint64_t names;
    } cases[] = {
        {STEP_COMPRESSION_ZSTD, 0, 3, 3000, 20},     {STEP_COMPRESSION_ZLIB, 1000, 2, 3500, 300},
        {STEP_COMPRESSION_NONE, 100, 4, 250, 1},     {STEP_COMPRESSION_ZSTD, 1, 2, 20, 3},
        {STEP_COMPRESSION_ZSTD, 40000, 2, 50000, 0}, {STEP_COMPRESSION_ZSTD, 0, 0, 0, 0},
        {STEP_COMPRESSION_ZSTD, 7, 2000, 9, 5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct step_buffer file = {0};
        uint64_t good;
        uint64_t bad;
        struct sample_shape shape = {cases[i].compression, layout,           cases[i].block_records,
                                     cases[i].streams,     cases[i].records, cases[i].names};
        sample_write_shape(definition, &file, &shape);
        struct step_reader *reader = open_whole(&file);
        CU_ASSERT_STRING_EQUAL(step_reader_borrow_definition(reader)->text, definition->text);
        CU_ASSERT_EQUAL(sample_compare(reader, &good, &bad), 0);
        CU_ASSERT_EQUAL(good, cases[i].streams * cases[i].records);
        CU_ASSERT_EQUAL(bad, 0);
        check_names(reader, cases[i].names);
        CU_ASSERT_STRING_EQUAL(step_reader_property(reader, "jvm"), "seventeen");
        CU_ASSERT_STRING_EQUAL(step_reader_property(reader, "empty"), "");
        CU_ASSERT_PTR_NULL(step_reader_property(reader, "other"));
        CU_ASSERT_EQUAL(step_reader_damage_count(reader), 0);
        CU_ASSERT_EQUAL(step_reader_file_size(reader), file.length);
        step_reader_destroy(reader);
        step_buffer_reset(&file);
    }
}

static void test_round_trip(void)
{
    check_round_trip(STEP_WRITE_SMALLEST);
    check_round_trip(STEP_WRITE_ROWS);
    check_round_trip(STEP_WRITE_COLUMNS);
}

static uint64_t min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Header data: counts by record, ranges of time and thread, numbers in the stream. */
static void test_block_info(void)
{
    struct step_buffer file = {0};
    sample_write(definition, &file, STEP_COMPRESSION_ZSTD, 100, 2, 250, 2);
    struct step_reader *reader = open_whole(&file);
    uint64_t next[2] = {0, 0};
    for (size_t i = 0; i < step_reader_block_count(reader); i++) {
        const struct step_block_info *info = step_reader_block_info(reader, i);
        uint64_t counts[SAMPLE_COUNT] = {0};
        uint64_t time_min = UINT64_MAX;
        uint64_t time_max = 0;
        CU_ASSERT_EQUAL_FATAL(info->stream < 2, 1);
        CU_ASSERT_EQUAL(info->first_record, next[info->stream]);
        for (uint64_t k = 0; k < info->record_count; k++) {
            struct sample_storage storage;
            uint32_t record = sample_record(info->stream, info->first_record + k, &storage);
            counts[record]++;
            if (record == SAMPLE_EMPTY)
                continue;
            time_min = min(time_min, storage.slots[0]);
            time_max = storage.slots[0] > time_max ? storage.slots[0] : time_max;
        }
        uint64_t reported = 0;
        for (size_t k = 0; k < info->type_count; k++) {
            CU_ASSERT_EQUAL(info->counts[k].count, counts[info->counts[k].record]);
            reported += info->counts[k].count;
        }
        CU_ASSERT_EQUAL(reported, info->record_count);
        CU_ASSERT_EQUAL(info->time_min, time_min);
        CU_ASSERT_EQUAL(info->time_max, time_max);
        CU_ASSERT_EQUAL(info->thread_min, 1 + info->stream);
        CU_ASSERT_EQUAL(info->thread_max, 1 + info->stream);
        next[info->stream] += info->record_count;
    }
    CU_ASSERT_EQUAL(next[0], 250);
    CU_ASSERT_EQUAL(next[1], 250);
    CU_ASSERT_PTR_NULL(step_reader_block_info(reader, step_reader_block_count(reader)));
    step_reader_destroy(reader);
    step_buffer_reset(&file);
}

/* Each subset of the record types gives just these records. */
static void test_wanted(void)
{
    struct step_buffer file = {0};
    struct step_block *block = NULL;
    sample_write(definition, &file, STEP_COMPRESSION_ZSTD, 500, 2, 700, 2);
    struct step_reader *reader = open_whole(&file);
    for (unsigned subset = 0; subset < 1u << SAMPLE_COUNT; subset += 7) {
        uint8_t wanted[SAMPLE_COUNT];
        for (size_t i = 0; i < SAMPLE_COUNT; i++)
            wanted[i] = subset >> i & 1;
        for (size_t i = 0; i < step_reader_block_count(reader); i++) {
            const struct step_block_info *info = step_reader_block_info(reader, i);
            struct step_record_view view;
            CU_ASSERT_EQUAL_FATAL(step_reader_load(reader, i, wanted, &block, NULL),
                                  STEP_STATUS_OK);
            for (uint64_t k = 0; k < info->record_count; k++) {
                struct sample_storage storage;
                uint32_t record = sample_record(info->stream, info->first_record + k, &storage);
                if (!wanted[record])
                    continue;
                CU_ASSERT_EQUAL_FATAL(step_block_next(block, &view), STEP_STATUS_OK);
                CU_ASSERT_EQUAL_FATAL(view.record, record);
                CU_ASSERT(sample_same(record, storage.slots, view.slots));
            }
            CU_ASSERT_EQUAL(step_block_next(block, &view), STEP_STATUS_END);
        }
    }
    CU_ASSERT(step_block_memory(block) > 0);
    CU_ASSERT_EQUAL(step_reader_load(reader, 100, NULL, &block, NULL), STEP_STATUS_INVALID);
    step_block_destroy(block);
    step_reader_destroy(reader);
    step_buffer_reset(&file);
}

static struct step_writer *create(struct step_buffer *file, uint32_t block_records)
{
    struct step_writer_options options;
    struct step_writer *writer;
    step_writer_options_init(&options);
    options.definition = definition;
    options.output = step_memory_output(file);
    options.block_records = block_records;
    CU_ASSERT_EQUAL_FATAL(step_writer_create(&options, &writer, NULL), STEP_STATUS_OK);
    return writer;
}

static void test_counts_and_flush(void)
{
    struct step_buffer file = {0};
    struct step_writer *writer = create(&file, 10);
    uint64_t slots[5] = {5, 1, 1, 8, 1};
    CU_ASSERT_EQUAL(step_writer_put_count(writer, 7), 0);
    for (int i = 0; i < 15; i++)
        CU_ASSERT_EQUAL(step_writer_put(writer, 7, SAMPLE_ALLOC, slots), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_writer_put_count(writer, 7), 15);
    CU_ASSERT_EQUAL(step_writer_written_count(writer, 7), 10);
    CU_ASSERT_EQUAL(step_writer_flush_stream(writer, 7), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_writer_flush_stream(writer, 8), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_writer_written_count(writer, 7), 15);
    size_t length = file.length;
    CU_ASSERT_EQUAL(step_writer_flush(writer), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(file.length, length);
    CU_ASSERT_EQUAL(step_writer_property(writer, "a", "1"), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_writer_property(writer, "a", "2"), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_writer_flush(writer), STEP_STATUS_OK);
    CU_ASSERT(file.length > length);
    CU_ASSERT_EQUAL(step_writer_close(writer, NULL), STEP_STATUS_OK);
    step_writer_destroy(writer);
    struct step_reader *reader = open_whole(&file);
    CU_ASSERT_EQUAL(step_reader_block_count(reader), 2);
    CU_ASSERT_EQUAL(step_reader_property_count(reader), 1);
    CU_ASSERT_STRING_EQUAL(step_reader_property_key(reader, 0), "a");
    CU_ASSERT_STRING_EQUAL(step_reader_property_value(reader, 0), "2");
    CU_ASSERT_PTR_NULL(step_reader_property_key(reader, 1));
    step_reader_destroy(reader);
    step_buffer_reset(&file);
}

static void test_resume(void)
{
    struct step_buffer file = {0};
    struct step_writer *writer = create(&file, 0);
    struct step_bytes bytes = {(const uint8_t *) "x", 1};
    uint64_t name = step_slot_of_bytes(&bytes);
    uint64_t slots[5] = {5, 1, 1, 8, 1};
    uint64_t id;
    CU_ASSERT_EQUAL(step_writer_resume_stream(writer, 3, 1000), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_writer_resume_dictionary(writer, SAMPLE_NAME, 50), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_writer_define(writer, SAMPLE_NAME, &name, &id), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(id, 51);
    CU_ASSERT_EQUAL(step_writer_put(writer, 3, SAMPLE_ALLOC, slots), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_writer_put_count(writer, 3), 1001);
    CU_ASSERT_EQUAL(step_writer_written_count(writer, 3), 1000);
    CU_ASSERT_EQUAL(step_writer_close(writer, NULL), STEP_STATUS_OK);
    step_writer_destroy(writer);
    struct step_reader *reader = open_whole(&file);
    CU_ASSERT_EQUAL(step_reader_block_info(reader, 0)->first_record, 1000);
    CU_ASSERT_EQUAL(step_reader_dictionary_count(reader, SAMPLE_NAME), 51);
    CU_ASSERT_PTR_NULL(step_reader_dictionary_entry(reader, SAMPLE_NAME, 50));
    CU_ASSERT_PTR_NOT_NULL(step_reader_dictionary_entry(reader, SAMPLE_NAME, 51));
    step_reader_destroy(reader);
    step_buffer_reset(&file);
}

/* An output that takes so many bytes and no more. */
struct small_disk {
    uint64_t room;
};

static enum step_status write_small(void *user, const void *data, size_t length,
                                    struct step_error *error)
{
    struct small_disk *disk = user;
    (void) data;
    if (length > disk->room)
        return step_error_set(error, STEP_STATUS_IO, "disk", 12, "the disk is full");
    disk->room -= length;
    return STEP_STATUS_OK;
}

static void test_first_error_is_kept(void)
{
    struct step_writer_options options;
    struct step_writer *writer;
    struct step_error error;
    uint64_t slots[5] = {5, 1, 1, 8, 1};
    bool created = false;
    for (uint64_t room = 0; room < 4000; room += 50) {
        struct small_disk disk = {room};
        step_writer_options_init(&options);
        options.definition = definition;
        options.output = (struct step_output){&disk, write_small};
        error.status = STEP_STATUS_OK;
        enum step_status status = step_writer_create(&options, &writer, &error);
        if (status != STEP_STATUS_OK) {
            CU_ASSERT_EQUAL(status, STEP_STATUS_IO);
            CU_ASSERT_EQUAL(error.status, STEP_STATUS_IO);
            continue;
        }
        created = true;
        CU_ASSERT_EQUAL(step_writer_put(writer, 0, SAMPLE_ALLOC, slots), STEP_STATUS_OK);
        status = step_writer_flush(writer);
        if (status != STEP_STATUS_OK) {
            disk.room = 1000000;
            CU_ASSERT_EQUAL(step_writer_put(writer, 0, SAMPLE_ALLOC, slots), STEP_STATUS_IO);
            CU_ASSERT_EQUAL(step_writer_close(writer, &error), STEP_STATUS_IO);
            CU_ASSERT_STRING_EQUAL(error.message, "the disk is full");
        }
        step_writer_destroy(writer);
    }
    CU_ASSERT(created);
}

static void test_misuse(void)
{
    struct step_buffer file = {0};
    struct step_error error;
    struct step_writer_options options;
    struct step_writer *writer;
    uint64_t slots[5] = {0};
    step_writer_options_init(&options);
    CU_ASSERT_EQUAL(step_writer_create(&options, &writer, &error), STEP_STATUS_INVALID);
    writer = create(&file, 0);
    CU_ASSERT_EQUAL(step_writer_put(writer, 0, SAMPLE_COUNT, slots), STEP_STATUS_INVALID);
    CU_ASSERT_EQUAL(step_writer_close(writer, &error), STEP_STATUS_INVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "record type"));
    step_writer_destroy(writer);
    step_writer_destroy(NULL);
    step_block_destroy(NULL);
    step_reader_destroy(NULL);
    file.length = 0;
    writer = create(&file, 0);
    CU_ASSERT_EQUAL(step_writer_close(writer, NULL), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_writer_put(writer, 0, SAMPLE_ALLOC, slots), STEP_STATUS_INVALID);
    step_writer_destroy(writer);
    step_buffer_reset(&file);
}

/* Strings and arrays that are not given are empty ones. */
static void test_null_values(void)
{
    struct step_buffer file = {0};
    struct step_writer *writer = create(&file, 0);
    struct step_block *block = NULL;
    struct step_record_view view;
    uint64_t slots[8] = {1, 1, 0, 0, 0, 0, 0, 0};
    CU_ASSERT_EQUAL(step_writer_put(writer, 0, SAMPLE_SHAPE, slots), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_writer_close(writer, NULL), STEP_STATUS_OK);
    step_writer_destroy(writer);
    struct step_reader *reader = open_whole(&file);
    CU_ASSERT_EQUAL(step_reader_load(reader, 0, NULL, &block, NULL), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_block_next(block, &view), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_slot_bytes(view.slots[4])->length, 0);
    CU_ASSERT_EQUAL(step_slot_array(view.slots[5])->count, 0);
    step_block_destroy(block);
    step_reader_destroy(reader);
    step_buffer_reset(&file);
}

static void seal(uint8_t *block)
{
    struct step_block_header header;
    CU_ASSERT_FATAL(step_block_header_unpack(block, &header));
    header.payload_checksum =
        step_checksum(block + STEP_BLOCK_HEADER_BYTES, (size_t) header.payload_bytes);
    step_block_header_pack(&header, block);
}

/* A block of a kind that does not exist yet, among others. */
static void test_unknown_kind_is_skipped(void)
{
    struct step_buffer file = {0};
    struct step_buffer copy = {0};
    struct step_reader *reader;
    uint64_t good;
    uint64_t bad;
    sample_write(definition, &file, STEP_COMPRESSION_ZSTD, 100, 2, 100, 2);
    reader = open_whole(&file);
    size_t place = (size_t) step_reader_block_info(reader, 1)->offset;
    step_reader_destroy(reader);
    uint8_t block[STEP_BLOCK_HEADER_BYTES + 5] = {0};
    struct step_block_header header = {.kind = 200, .payload_bytes = 5};
    step_block_header_pack(&header, block);
    seal(block);
    CU_ASSERT(step_buffer_append(&copy, file.data, place));
    CU_ASSERT(step_buffer_append(&copy, block, sizeof block));
    CU_ASSERT(step_buffer_append(&copy, file.data + place, file.length - place));
    CU_ASSERT_EQUAL_FATAL(step_reader_open_memory(copy.data, copy.length, "x", &reader, NULL),
                          STEP_STATUS_OK);
    CU_ASSERT_FALSE(step_reader_is_whole(reader));
    CU_ASSERT_EQUAL(step_reader_damage_count(reader), 0);
    CU_ASSERT_EQUAL(sample_compare(reader, &good, &bad), 0);
    CU_ASSERT_EQUAL(good, 200);
    CU_ASSERT_EQUAL(bad, 0);
    step_reader_destroy(reader);
    step_buffer_reset(&file);
    step_buffer_reset(&copy);
}

/* Replaces the transform of the column of Alloc.object by one that nobody knows. */
static void forget_transform(uint8_t *block)
{
    struct step_block_header header;
    CU_ASSERT_FATAL(step_block_header_unpack(block, &header));
    uint8_t *payload = block + STEP_BLOCK_HEADER_BYTES;
    struct step_cursor directory = step_cursor_of(
        payload + header.summary_bytes, (size_t) header.payload_bytes - header.summary_bytes);
    struct step_coding coding;
    uint64_t count;
    CU_ASSERT_FATAL(step_cursor_varint(&directory, &count)); /* its length */
    CU_ASSERT_FATAL(step_coding_parse(&directory, &coding));
    CU_ASSERT_FATAL(step_cursor_varint(&directory, &count));
    for (uint64_t i = 0; i < count; i++) {
        uint64_t record = 0;
        uint64_t field = 0;
        uint64_t leaf = 0;
        step_cursor_varint(&directory, &record);
        step_cursor_varint(&directory, &field);
        step_cursor_varint(&directory, &leaf);
        size_t place = (size_t) (directory.at - payload);
        CU_ASSERT_FATAL(step_coding_parse(&directory, &coding));
        if (record == SAMPLE_ALLOC && field == 4) {
            CU_ASSERT_EQUAL_FATAL(payload[place + 1], STEP_TRANSFORM_DELTA);
            payload[place + 1] = 99;
        }
    }
    seal(block);
}

static void test_unknown_transform(void)
{
    struct step_buffer file = {0};
    struct step_reader *reader;
    struct step_block *block = NULL;
    sample_write(definition, &file, STEP_COMPRESSION_ZSTD, 200, 2, 200, 2);
    reader = open_whole(&file);
    size_t place = (size_t) step_reader_block_info(reader, 1)->offset;
    CU_ASSERT_EQUAL(step_reader_block_info(reader, 1)->stream, 1);
    step_reader_destroy(reader);
    forget_transform(file.data + place);
    file.length -= STEP_FOOTER_BYTES; /* the index no longer agrees */
    CU_ASSERT_EQUAL_FATAL(step_reader_open_memory(file.data, file.length, "x", &reader, NULL),
                          STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_reader_load(reader, 1, NULL, &block, NULL), STEP_STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(step_reader_damage_count(reader), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(step_reader_damage(reader, 0)->message, "transform 99"));
    CU_ASSERT_PTR_NULL(step_reader_damage(reader, 1));
    struct step_record_view view;
    for (uint64_t i = 0; i < 200; i++) {
        struct sample_storage storage;
        uint32_t record = sample_record(1, i, &storage);
        if (record == SAMPLE_ALLOC || record == SAMPLE_BIG)
            continue;
        CU_ASSERT_EQUAL_FATAL(step_block_next(block, &view), STEP_STATUS_OK);
        CU_ASSERT_EQUAL(view.record, record);
        CU_ASSERT(sample_same(record, storage.slots, view.slots));
    }
    CU_ASSERT_EQUAL(step_block_next(block, &view), STEP_STATUS_END);
    step_block_destroy(block);
    step_reader_destroy(reader);
    step_buffer_reset(&file);
}

static void test_open_path(void)
{
    struct step_buffer file = {0};
    struct step_reader *reader;
    struct step_error error;
    uint64_t good;
    uint64_t bad;
    char path[] = "/tmp/step_file_XXXXXX";
    int descriptor = mkstemp(path);
    CU_ASSERT_FATAL(descriptor >= 0);
    FILE *out = fdopen(descriptor, "wb");
    sample_write(definition, &file, STEP_COMPRESSION_ZSTD, 100, 2, 300, 2);
    CU_ASSERT_EQUAL(fwrite(file.data, 1, file.length, out), file.length);
    fclose(out);
    CU_ASSERT_EQUAL_FATAL(step_reader_open(path, &reader, &error), STEP_STATUS_OK);
    CU_ASSERT(step_reader_is_whole(reader));
    CU_ASSERT_EQUAL(sample_compare(reader, &good, &bad), 0);
    CU_ASSERT_EQUAL(good, 600);
    CU_ASSERT_EQUAL(step_reader_recovered_count(reader), 0);
    step_reader_destroy(reader);
    remove(path);
    CU_ASSERT_EQUAL(step_reader_open(path, &reader, &error), STEP_STATUS_NOT_FOUND);
    CU_ASSERT_PTR_NULL(reader);
    CU_ASSERT_EQUAL(step_reader_open("/tmp", &reader, &error), STEP_STATUS_IO);
    step_buffer_reset(&file);
}

static void write_file(const char *path, const void *bytes, size_t length)
{
    FILE *out = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    CU_ASSERT_EQUAL(fwrite(bytes, 1, length, out), length);
    fclose(out);
}

/* A live file that is none does not hinder reading what the trace has; beside a whole trace it is
 * not looked at. */
static void test_foreign_live_file(void)
{
    struct step_buffer file = {0};
    char path[] = "/tmp/step_live_XXXXXX";
    char live[64];
    int descriptor = mkstemp(path);
    CU_ASSERT_FATAL(descriptor >= 0);
    close(descriptor);
    snprintf(live, sizeof live, "%s.live", path);
    sample_write(definition, &file, STEP_COMPRESSION_ZSTD, 100, 2, 300, 2);
    write_file(live, "nothing", 7);
    for (size_t cut = 0; cut < 2; cut++) {
        struct step_reader *reader;
        uint64_t good;
        uint64_t bad;
        write_file(path, file.data, file.length - cut * STEP_FOOTER_BYTES);
        CU_ASSERT_EQUAL_FATAL(step_reader_open(path, &reader, NULL), STEP_STATUS_OK);
        CU_ASSERT_EQUAL(step_reader_is_whole(reader), cut == 0);
        CU_ASSERT_EQUAL(step_reader_damage_count(reader), cut);
        CU_ASSERT_EQUAL(step_reader_recovered_count(reader), 0);
        CU_ASSERT_EQUAL(sample_compare(reader, &good, &bad), 0);
        CU_ASSERT_EQUAL(good, 600);
        step_reader_destroy(reader);
    }
    remove(path);
    remove(live);
    step_buffer_reset(&file);
}

static void test_other_files(void)
{
    static const struct {
        const char *bytes;
        size_t length;
        enum step_status status;
    } cases[] = {
        {"", 0, STEP_STATUS_FORMAT},
        {"PK\003\004 and so on", 13, STEP_STATUS_FORMAT},
        {"\x9eSTP", 4, STEP_STATUS_CORRUPT},
        {"\x9eSTP\n\n\x1a\n, which went through a conversion of line ends", 55,
         STEP_STATUS_CORRUPT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct step_reader *reader;
        struct step_error error;
        CU_ASSERT_EQUAL(
            step_reader_open_memory(cases[i].bytes, cases[i].length, "x", &reader, &error),
            cases[i].status);
        CU_ASSERT_NOT_EQUAL(error.offset, STEP_NO_OFFSET);
        CU_ASSERT_PTR_NULL(reader);
    }
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("step file", set_up, tear_down);
    CU_add_test(suite, "round trip", test_round_trip);
    CU_add_test(suite, "block info", test_block_info);
    CU_add_test(suite, "wanted records", test_wanted);
    CU_add_test(suite, "counts and flush", test_counts_and_flush);
    CU_add_test(suite, "resume", test_resume);
    CU_add_test(suite, "first error is kept", test_first_error_is_kept);
    CU_add_test(suite, "misuse", test_misuse);
    CU_add_test(suite, "null values", test_null_values);
    CU_add_test(suite, "unknown kind", test_unknown_kind_is_skipped);
    CU_add_test(suite, "unknown transform", test_unknown_transform);
    CU_add_test(suite, "open by path", test_open_path);
    CU_add_test(suite, "foreign live file", test_foreign_live_file);
    CU_add_test(suite, "other files", test_other_files);
}
