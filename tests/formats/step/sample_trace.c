/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/formats/step/sample_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/io/memory_output.h"

const char sample_definition_text[] =
    "package t {\n"
    "  record Name { string text <encoding:\"prefix\">; }\n"
    "  record Point { int x <encoding:\"delta\">; int y <encoding:\"given=x\">;\n"
    "    string label <encoding:\"identifier,prefix\">; }\n"
    "  record Event { <property:\"event\">\n"
    "    int time <property:\"time\"> <property:\"unsigned\"> <encoding:\"delta\">;\n"
    "    Name thread <property:\"thread\"> <encoding:\"identifier,default\">; }\n"
    "  record Alloc extends Event {\n"
    "    Name class <encoding:\"identifier\">;\n"
    "    int size <property:\"unsigned\"> <encoding:\"given=class\">;\n"
    "    int object <property:\"unsigned\"> <encoding:\"stride=1\">; }\n"
    "  record Big extends Alloc { }\n"
    "  record Free extends Event { int object <encoding:\"offset=100,live\">; }\n"
    "  record Late extends Event {\n"
    "    int mark <encoding:\"given=thread\">;\n"
    "    ~time <encoding:\"context=2\">; }\n"
    "  record Shape extends Event {\n"
    "    Point center; Point[] points; string[][] tags <encoding:\"identifier\">; data blob; }\n"
    "  record Empty { }\n"
    "}\n";

/* Set-up of suites runs outside of CUnit's tests: what must not fail ends the program. */
static void must(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "sample trace: %s\n", what);
    abort();
}

struct step_definition *sample_definition(void)
{
    struct step_definition *definition;
    struct step_error error = {0};
    enum step_status status =
        step_definition_parse(sample_definition_text, strlen(sample_definition_text), "sample",
                              NULL, NULL, &definition, &error);
    must(status == STEP_STATUS_OK, error.message);
    must(definition->record_count == SAMPLE_COUNT, "record count");
    must(strcmp(definition->records[SAMPLE_SHAPE].name, "t.Shape") == 0, "order of records");
    return definition;
}

static uint64_t hash(uint64_t a, uint64_t b)
{
    uint64_t x = (a + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ (b + 1) * UINT64_C(0xc2b2ae3d27d4eb4f);
    x ^= x >> 29;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    return x ^ x >> 32;
}

static uint64_t text_slot(struct sample_storage *storage, size_t i, uint64_t seed)
{
    size_t length = (size_t) (seed % 9);
    for (size_t k = 0; k < length; k++)
        storage->text[i][k] = (char) ('a' + (seed >> (5 * k)) % 26);
    storage->bytes[i] = (struct step_bytes){(const uint8_t *) storage->text[i], length};
    return step_slot_of_bytes(&storage->bytes[i]);
}

static void fill_shape(struct sample_storage *storage, uint64_t seed)
{
    uint64_t *slots = storage->slots;
    uint64_t *elements = storage->elements;
    slots[2] = seed % 1000;
    slots[3] = 0 - seed % 7;
    slots[4] = text_slot(storage, 0, seed);
    size_t points = (size_t) (seed % 4);
    for (size_t i = 0; i < points; i++) {
        elements[3 * i] = seed % 50 + i;
        elements[3 * i + 1] = 0 - i;
        elements[3 * i + 2] = text_slot(storage, 1 + i, seed >> i);
    }
    storage->arrays[0] = (struct step_array){elements, points};
    slots[5] = step_slot_of_array(&storage->arrays[0]);
    size_t lists = (size_t) (seed / 4 % 3);
    size_t used = 0;
    for (size_t i = 0; i < lists; i++) {
        size_t tags = (size_t) (seed / 16 % 3 + i) % 3;
        storage->arrays[2 + i] = (struct step_array){elements + 20 + used, tags};
        for (size_t k = 0; k < tags; k++, used++)
            elements[20 + used] = text_slot(storage, 8 + used, seed >> (k + i));
        elements[40 + i] = step_slot_of_array(&storage->arrays[2 + i]);
    }
    storage->arrays[1] = (struct step_array){elements + 40, lists};
    slots[6] = step_slot_of_array(&storage->arrays[1]);
    slots[7] = text_slot(storage, 31, seed >> 3);
}

uint32_t sample_record(uint64_t stream, uint64_t number, struct sample_storage *storage)
{
    uint64_t seed = hash(stream, number);
    uint64_t *slots = storage->slots;
    memset(storage, 0, sizeof *storage);
    uint32_t record = SAMPLE_ALLOC;
    if (stream % 2 == 1 && number % 5 != 0)
        record = (uint32_t) (SAMPLE_ALLOC + seed % 6);
    slots[0] = 1000000 + number * 3 + seed % 3;
    slots[1] = 1 + stream;
    switch (record) {
    case SAMPLE_ALLOC:
    case SAMPLE_BIG:
        slots[2] = 1 + seed % 20;
        slots[3] = slots[2] * 8;
        slots[4] = number;
        break;
    case SAMPLE_FREE:
        slots[2] = seed % 3 == 0 ? 0 - number : number;
        break;
    case SAMPLE_LATE:
        slots[2] = seed % 64 == 0 ? seed : stream;
        break;
    case SAMPLE_SHAPE:
        fill_shape(storage, seed);
        break;
    default:
        slots[0] = slots[1] = 0;
    }
    return record;
}

static bool same_bytes(uint64_t left, uint64_t right)
{
    const struct step_bytes *a = step_slot_bytes(left);
    const struct step_bytes *b = step_slot_bytes(right);
    return a->length == b->length && (a->length == 0 || memcmp(a->data, b->data, a->length) == 0);
}

static bool same_point(const uint64_t *left, const uint64_t *right)
{
    return left[0] == right[0] && left[1] == right[1] && same_bytes(left[2], right[2]);
}

static bool same_tags(const struct step_array *a, const struct step_array *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        const struct step_array *x = step_slot_array(a->slots[i]);
        const struct step_array *y = step_slot_array(b->slots[i]);
        if (x->count != y->count)
            return false;
        for (size_t k = 0; k < x->count; k++)
            if (!same_bytes(x->slots[k], y->slots[k]))
                return false;
    }
    return true;
}

static bool same_shape(const uint64_t *left, const uint64_t *right)
{
    const struct step_array *a = step_slot_array(left[5]);
    const struct step_array *b = step_slot_array(right[5]);
    if (left[0] != right[0] || left[1] != right[1] || !same_point(left + 2, right + 2) ||
        a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (!same_point(a->slots + 3 * i, b->slots + 3 * i))
            return false;
    return same_tags(step_slot_array(left[6]), step_slot_array(right[6])) &&
           same_bytes(left[7], right[7]);
}

bool sample_same(uint32_t record, const uint64_t *left, const uint64_t *right)
{
    static const size_t flat[SAMPLE_COUNT] = {
        [SAMPLE_EVENT] = 2, [SAMPLE_ALLOC] = 5, [SAMPLE_BIG] = 5,
        [SAMPLE_FREE] = 3,  [SAMPLE_LATE] = 3,
    };
    if (record == SAMPLE_SHAPE)
        return same_shape(left, right);
    return flat[record] == 0 || memcmp(left, right, flat[record] * sizeof *left) == 0;
}

const char *sample_name(uint64_t id, char room[24])
{
    snprintf(room, 24, "name/%u", (unsigned) id);
    return room;
}

static void define(struct step_writer *writer, uint64_t names)
{
    for (uint64_t i = 1; i <= names; i++) {
        char room[24];
        const char *name = sample_name(i, room);
        struct step_bytes bytes = {(const uint8_t *) name, strlen(name)};
        uint64_t slot = step_slot_of_bytes(&bytes);
        uint64_t id = 0;
        must(step_writer_define(writer, SAMPLE_NAME, &slot, &id) == STEP_STATUS_OK, "define");
        must(id == i, "identifier");
    }
}

void sample_write_shape(const struct step_definition *definition, struct step_buffer *file,
                        const struct sample_shape *shape)
{
    struct step_writer_options options;
    struct step_writer *writer;
    struct step_error error;
    struct sample_storage storage;
    step_writer_options_init(&options);
    options.definition = definition;
    options.output = step_memory_output(file);
    options.compression = shape->compression;
    options.layout = shape->layout;
    options.block_records = shape->block_records;
    must(step_writer_create(&options, &writer, &error) == STEP_STATUS_OK, "create");
    must(step_writer_property(writer, "jvm", "seventeen") == STEP_STATUS_OK, "property");
    must(step_writer_property(writer, "empty", "") == STEP_STATUS_OK, "property");
    define(writer, shape->names);
    for (uint64_t i = 0; i < shape->records; i++)
        for (uint64_t stream = 0; stream < shape->streams; stream++) {
            uint32_t record = sample_record(stream, i, &storage);
            must(step_writer_put(writer, stream, record, storage.slots) == STEP_STATUS_OK, "put");
        }
    for (uint64_t stream = 0; stream < shape->streams; stream++)
        must(step_writer_put_count(writer, stream) == shape->records, "put count");
    must(step_writer_close(writer, &error) == STEP_STATUS_OK, "close");
    must(step_writer_size(writer) == file->length, "size");
    step_writer_destroy(writer);
}

void sample_write(const struct step_definition *definition, struct step_buffer *file,
                  enum step_compression compression, uint32_t block_records, uint64_t streams,
                  uint64_t records, uint64_t names)
{
    struct sample_shape shape = {.compression = compression,
                                 .block_records = block_records,
                                 .streams = streams,
                                 .records = records,
                                 .names = names};
    sample_write_shape(definition, file, &shape);
}

size_t sample_compare(struct step_reader *reader, uint64_t *good, uint64_t *bad)
{
    struct step_block *block = NULL;
    size_t failed = 0;
    *good = *bad = 0;
    for (size_t i = 0; i < step_reader_block_count(reader); i++) {
        const struct step_block_info *info = step_reader_block_info(reader, i);
        struct step_record_view view;
        struct sample_storage storage;
        uint64_t number = info->first_record;
        if (step_reader_load(reader, i, NULL, &block, NULL) != STEP_STATUS_OK) {
            failed++;
            continue;
        }
        while (step_block_next(block, &view) == STEP_STATUS_OK) {
            uint32_t record = sample_record(info->stream, number++, &storage);
            if (record == view.record && sample_same(record, storage.slots, view.slots))
                ++*good;
            else
                ++*bad;
        }
        *bad += number != info->first_record + info->record_count;
    }
    step_block_destroy(block);
    return failed;
}
