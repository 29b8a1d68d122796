/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutate_step plain IN OUT [rows]   a copy whose blocks are not compressed
 * mutate_step change SEED IN OUT    some bytes changed, and all checksums made good
 * mutate_step every SEED IN OUT     all of it, entries and records of every type of its definition
 * with any values between
 * mutate_step extreme N IN OUT      one number of a record or an entry is extreme: the Nth choice
 * of a field and a value mutate_step overwrite N IN OUT    an extreme number over the bytes of a
 * place or over one of a block's head, and all checksums made good
 *
 * Together: changes that readers see, behind checksums that are right.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/records/copy_trace.h"
#include "format/core/bytes.h"
#include "format/step/layout.h"
#include "tests/fuzz/step/seal.h"
#include "tests/unit/format/definitions/values.h"

#define ROUNDS 12u

/* Writes entries and records that the writer takes; ids are of entries that the trace has, or are
 * not. */
static void put_every_type(const struct step_definition *definition, uint64_t seed,
                           struct step_writer *writer)
{
    for (uint64_t round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < definition->record_count; i++)
            step_writer_define(writer, i, values_make(definition, i, seed + round * 1000 + i),
                               NULL);
        for (uint32_t i = 0; i < definition->record_count; i++)
            step_writer_put(writer, round % 3, i,
                            values_make(definition, i, seed + round * 999 + i));
    }
}

/* Copies a trace without compression; `seed`, unless it is NULL, adds records of every type. */
static int copy_plain(const char *from, const char *to, struct step_writer_options *options,
                      const uint64_t *seed)
{
    struct step_reader *reader = NULL;
    struct step_writer *writer = NULL;
    struct step_error error = {.offset = STEP_NO_OFFSET};
    uint64_t records;
    enum step_status status = step_reader_open(from, &reader, &error);
    if (status == STEP_STATUS_OK) {
        options->definition = step_reader_borrow_definition(reader);
        options->compression = STEP_COMPRESSION_NONE;
        status = step_writer_open(to, options, &writer, &error);
    }
    if (status == STEP_STATUS_OK)
        status = stepfile_copy(reader, writer, &records, &error);
    if (status == STEP_STATUS_OK && seed != NULL)
        put_every_type(options->definition, *seed, writer);
    if (status == STEP_STATUS_OK)
        status = step_writer_close(writer, &error);
    step_writer_destroy(writer);
    step_reader_destroy(reader);
    values_release();
    if (status != STEP_STATUS_OK)
        fprintf(stderr, "%s: %s\n", from, error.message);
    return status != STEP_STATUS_OK;
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Single bytes, mostly: odd values, bits, neighbours. */
static void change(uint8_t *bytes, size_t length, uint64_t seed)
{
    static const uint8_t odd[] = {0, 1, 0x7f, 0x80, 0xff, 0xfe, 0x40, 0x3f};
    uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    size_t count = 1 + next_random(&state) % 6;
    for (size_t i = 0; i < count && length > STEP_FILE_HEADER_BYTES; i++) {
        size_t at = STEP_FILE_HEADER_BYTES +
                    (size_t) (next_random(&state) % (length - STEP_FILE_HEADER_BYTES));
        uint64_t value = next_random(&state);
        if (value % 3 == 0)
            bytes[at] = odd[value / 3 % sizeof odd];
        else if (value % 3 == 1)
            bytes[at] ^= (uint8_t) (1u << value / 3 % 8);
        else
            bytes[at] = (uint8_t) (bytes[at] + 1);
    }
}

static int change_file(uint64_t seed, const char *from, const char *to,
                       void (*change_bytes)(uint8_t *bytes, size_t length, uint64_t seed))
{
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    size_t room = (size_t) 1 << 24;
    uint8_t *bytes = malloc(room);
    int failed = 1;
    if (in != NULL && out != NULL && bytes != NULL) {
        size_t length = fread(bytes, 1, room, in);
        if (length > STEP_FILE_HEADER_BYTES)
            change_bytes(bytes, length, seed);
        seal_trace(bytes, length);
        failed = fwrite(bytes, 1, length, out) != length;
    }
    free(bytes);
    if (in != NULL)
        fclose(in);
    if (out != NULL)
        failed |= fclose(out) != 0;
    return failed;
}

static const uint64_t extremes[] = {
    UINT64_MAX, 0, UINT64_C(1) << 62, UINT32_MAX, UINT64_C(1) << 31, UINT64_C(1) << 32,
    INT64_MAX,  1, UINT64_C(1) << 40, INT32_MAX,  UINT64_C(1) << 24, UINT64_C(1) << 53};
enum { EXTREMES = sizeof extremes / sizeof extremes[0] };

/* The places of numbers: one for each slot of each record type, as a record and as an entry. */
struct places {
    const struct step_definition *definition;
    uint32_t *counts; /* of values, by place */
    uint32_t *first;  /* place of each record type */
    size_t count;
    size_t wanted; /* the place to change, and which of its values; SIZE_MAX: none */
    uint32_t turn;
    uint64_t value;
};

/* Returns the field of a slot that a number or an array of numbers stands in. */
static const struct step_field *number_at(const struct step_definition *definition, uint32_t record,
                                          size_t slot)
{
    const struct step_record *type = &definition->records[record];
    for (size_t i = 0; i < type->field_count; i++) {
        const struct step_field *field = &type->fields[i];
        bool is_number = step_field_is_identifier(field) || field->kind == STEP_TYPE_INT;
        bool is_inside = field->array_depth == 0 && !is_number && !step_field_is_variant(field) &&
                         field->kind == STEP_TYPE_RECORD;
        size_t width = is_inside ? step_record_slot_count(definition, field->record) : 1;
        if (slot < width && is_inside)
            return number_at(definition, field->record, slot);
        if (slot < width)
            return is_number && field->array_depth <= 1 ? field : NULL;
        slot -= width;
    }
    return NULL;
}

/* Counts the numbers of a record, and changes the one that is wanted. */
static void visit_numbers(struct places *places, uint32_t record, bool is_entry, uint64_t *slots)
{
    size_t width = step_record_slot_count(places->definition, record);
    for (size_t i = 0; i < width; i++) {
        size_t place = places->first[record] + i + (is_entry ? width : 0);
        const struct step_field *field = number_at(places->definition, record, i);
        uint64_t *number = &slots[i];
        if (field != NULL && field->array_depth == 1) {
            const struct step_array *array = step_slot_array(slots[i]);
            number = array->count > 0 ? (uint64_t *) (uintptr_t) array->slots : NULL;
        }
        if (field == NULL || number == NULL)
            continue;
        if (place == places->wanted && places->counts[place] == places->turn)
            *number = places->value;
        places->counts[place]++;
    }
}

static enum step_status copy_visited(struct step_reader *reader, struct step_writer *writer,
                                     struct places *places)
{
    struct step_block *block = NULL;
    struct step_record_view view;
    enum step_status status = STEP_STATUS_OK;
    memset(places->counts, 0, places->count * sizeof *places->counts);
    for (uint32_t record = 0; record < places->definition->record_count; record++)
        for (uint64_t id = 1; id <= step_reader_dictionary_count(reader, record); id++) {
            size_t width = step_record_slot_count(places->definition, record);
            const uint64_t *entry = step_reader_dictionary_entry(reader, record, id);
            uint64_t *slots = calloc(width + 1, sizeof *slots);
            if (slots == NULL || entry == NULL)
                abort();
            memcpy(slots, entry, width * sizeof *slots);
            visit_numbers(places, record, true, slots);
            if (writer != NULL && step_writer_define(writer, record, slots, NULL) != 0)
                status = STEP_STATUS_INVALID;
            free(slots);
        }
    for (size_t i = 0; i < step_reader_block_count(reader); i++) {
        if (step_reader_load(reader, i, NULL, &block, NULL) != STEP_STATUS_OK)
            continue;
        while (step_block_next(block, &view) == STEP_STATUS_OK) {
            visit_numbers(places, view.record, false, (uint64_t *) (uintptr_t) view.slots);
            if (writer != NULL && step_writer_put(writer, step_reader_block_info(reader, i)->stream,
                                                  view.record, view.slots) != STEP_STATUS_OK)
                status = STEP_STATUS_INVALID;
        }
    }
    step_block_destroy(block);
    return status;
}

/* Chooses the `number`th pair of a place that has numbers and a value. */
static void choose_place(struct places *places, uint64_t number)
{
    size_t used = 0, at = 0;
    for (size_t i = 0; i < places->count; i++)
        used += places->counts[i] > 0;
    if (used == 0)
        return;
    size_t chosen = (size_t) (number % used);
    uint64_t turn = number / used;
    while (places->counts[at] == 0 || chosen-- > 0)
        at++;
    places->wanted = at;
    places->value = extremes[turn % EXTREMES];
    places->turn = (uint32_t) (turn / EXTREMES % 2 == 0 ? turn * 7919 % places->counts[at]
                                                        : places->counts[at] - 1);
}

static int change_number(uint64_t number, const char *from, const char *to)
{
    struct step_writer_options options;
    struct step_reader *reader = NULL;
    struct step_writer *writer = NULL;
    struct places places = {.wanted = SIZE_MAX};
    if (step_reader_open(from, &reader, NULL) != STEP_STATUS_OK)
        return 1;
    step_writer_options_init(&options);
    options.definition = places.definition = step_reader_borrow_definition(reader);
    options.layout = number / 2 % 2 == 0 ? STEP_WRITE_COLUMNS : STEP_WRITE_ROWS;
    places.first = calloc(places.definition->record_count + 1, sizeof *places.first);
    if (places.first == NULL)
        abort();
    for (uint32_t i = 0; i < places.definition->record_count; i++) {
        places.first[i] = (uint32_t) places.count;
        places.count += 2 * step_record_slot_count(places.definition, i);
    }
    places.counts = calloc(places.count + 1, sizeof *places.counts);
    if (places.counts == NULL)
        abort();
    copy_visited(reader, NULL, &places);
    choose_place(&places, number);
    enum step_status status = step_writer_open(to, &options, &writer, NULL);
    for (size_t i = 0; i < step_reader_property_count(reader) && status == STEP_STATUS_OK; i++)
        status = step_writer_property(writer, step_reader_property_key(reader, i),
                                      step_reader_property_value(reader, i));
    if (status == STEP_STATUS_OK)
        status = copy_visited(reader, writer, &places);
    if (status == STEP_STATUS_OK)
        status = step_writer_close(writer, NULL);
    step_writer_destroy(writer);
    step_reader_destroy(reader);
    free(places.first);
    free(places.counts);
    return status != STEP_STATUS_OK;
}

/* Sets the `number`th pair of a number in the heads of blocks and a value.  The index, which has
 * copies of the heads, becomes a block of an unknown kind. */
static void overwrite_head(uint8_t *bytes, size_t length, uint64_t number)
{
    enum { FIRST = 8, NUMBERS = 10 }; /* of 8 bytes each, up to the checksum */
    size_t heads = 0, at = STEP_FILE_HEADER_BYTES;
    for (; at + STEP_BLOCK_HEADER_BYTES <= length; heads++) {
        if (bytes[at + 4] == STEP_BLOCK_INDEX)
            bytes[at + 4] = UINT8_MAX;
        at += STEP_BLOCK_HEADER_BYTES + (size_t) step_load_u64(bytes + at + 16);
    }
    if (heads == 0)
        return;
    uint64_t head = number / NUMBERS % heads;
    for (at = STEP_FILE_HEADER_BYTES; head > 0; head--)
        at += STEP_BLOCK_HEADER_BYTES + (size_t) step_load_u64(bytes + at + 16);
    step_store_u64(bytes + at + FIRST + 8 * (number % NUMBERS),
                   extremes[number / NUMBERS / heads % EXTREMES]);
}

/* As a varint, or as a number of 4 or 8 bytes. */
static void overwrite(uint8_t *bytes, size_t length, uint64_t number)
{
    if (number % 3 == 0) {
        overwrite_head(bytes, length, number / 3);
        return;
    }
    number /= 3;
    size_t at = STEP_FILE_HEADER_BYTES + number % (length - STEP_FILE_HEADER_BYTES);
    uint64_t turn = number / (length - STEP_FILE_HEADER_BYTES);
    uint64_t value = extremes[turn % EXTREMES];
    unsigned kind = (unsigned) (turn / EXTREMES % 3);
    for (unsigned i = 0; i < 10 && at + i < length; i++) {
        if (kind == 0) {
            bytes[at + i] = (uint8_t) (value < 128 ? value : value | 128);
            value >>= 7;
            if (value == 0)
                return;
        } else if (i < (kind == 1 ? 8u : 4u)) {
            bytes[at + i] = (uint8_t) (value >> 8 * i);
        }
    }
}

int main(int argc, char **argv)
{
    struct step_writer_options options;
    step_writer_options_init(&options);
    if (argc >= 4 && strcmp(argv[1], "plain") == 0) {
        options.layout = argc > 4 ? STEP_WRITE_ROWS : STEP_WRITE_COLUMNS;
        return copy_plain(argv[2], argv[3], &options, NULL);
    }
    if (argc == 5 && strcmp(argv[1], "change") == 0)
        return change_file(strtoull(argv[2], NULL, 10), argv[3], argv[4], change);
    if (argc == 5 && strcmp(argv[1], "overwrite") == 0)
        return change_file(strtoull(argv[2], NULL, 10), argv[3], argv[4], overwrite);
    if (argc == 5 && strcmp(argv[1], "extreme") == 0)
        return change_number(strtoull(argv[2], NULL, 10), argv[3], argv[4]);
    if (argc == 5 && strcmp(argv[1], "every") == 0) {
        uint64_t seed = strtoull(argv[2], NULL, 10);
        return copy_plain(argv[3], argv[4], &options, &seed);
    }
    fprintf(stderr,
            "usage: mutate_step plain IN OUT [rows] | {change | every | extreme | overwrite} N IN "
            "OUT\n");
    return 2;
}
