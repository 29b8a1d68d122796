/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the reader of trace files.  The first byte of the input says how the rest is taken:
 *   0      it is a file
 *   1      it is a file whose magics and checksums are made good first
 *   other  it is a list of changes (2 bytes place, 1 byte value) to a good trace, whose checksums
 *          are made good then: of columns where the byte is even, of rows where it is odd
 */
#include <stdlib.h>
#include <string.h>

#include "tests/formats/step/sample_trace.h"
#include "tests/fuzz/step/seal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t touch_bytes(const struct step_bytes *bytes)
{
    uint64_t sum = bytes->length;
    for (size_t i = 0; i < bytes->length; i++)
        sum += bytes->data[i];
    return sum;
}

/* Reads all that a record of the sample's definition points to. */
static uint64_t touch(const struct step_record_view *view)
{
    const uint64_t *slots = view->slots;
    uint64_t sum = 0;
    if (view->record == SAMPLE_NAME)
        return touch_bytes(step_slot_bytes(slots[0]));
    if (view->record != SAMPLE_SHAPE)
        return slots[0];
    const struct step_array *points = step_slot_array(slots[5]);
    for (size_t i = 0; i < points->count; i++)
        sum += touch_bytes(step_slot_bytes(points->slots[3 * i + 2]));
    const struct step_array *tags = step_slot_array(slots[6]);
    for (size_t i = 0; i < tags->count; i++) {
        const struct step_array *inner = step_slot_array(tags->slots[i]);
        for (size_t k = 0; k < inner->count; k++)
            sum += touch_bytes(step_slot_bytes(inner->slots[k]));
    }
    return sum + touch_bytes(step_slot_bytes(slots[4])) + touch_bytes(step_slot_bytes(slots[7]));
}

static uint64_t read_all(const uint8_t *bytes, size_t length)
{
    struct step_reader *reader;
    struct step_block *block = NULL;
    struct step_error error;
    uint64_t sum = 0;
    if (step_reader_open_memory(bytes, length, "fuzz", &reader, &error) != STEP_STATUS_OK)
        return 0;
    bool known = strcmp(step_reader_borrow_definition(reader)->text, sample_definition_text) == 0;
    for (size_t i = 0; i < step_reader_block_count(reader); i++) {
        struct step_record_view view;
        if (step_reader_load(reader, i, NULL, &block, &error) != STEP_STATUS_OK)
            continue;
        while (step_block_next(block, &view) == STEP_STATUS_OK)
            sum += known ? touch(&view) : view.record;
    }
    for (uint32_t i = 0; i < SAMPLE_COUNT; i++)
        if (step_reader_dictionary_entry(reader, i, 1) != NULL)
            sum++;
    step_block_destroy(block);
    step_reader_destroy(reader);
    return sum;
}

static const struct step_buffer *sample(bool rows)
{
    static struct step_buffer files[2];
    struct step_buffer *file = &files[rows];
    if (file->length == 0) {
        struct step_definition *definition = sample_definition();
        struct sample_shape shape = {.compression = STEP_COMPRESSION_NONE,
                                     .layout = rows ? STEP_WRITE_ROWS : STEP_WRITE_COLUMNS,
                                     .block_records = 40,
                                     .streams = 3,
                                     .records = 60,
                                     .names = 5};
        sample_write_shape(definition, file, &shape);
        step_definition_destroy(definition);
    }
    return file;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    uint8_t mode = *data++;
    size--;
    const struct step_buffer *good = sample(mode & 1);
    const uint8_t *start = mode > 1 ? good->data : data;
    size_t length = mode > 1 ? good->length : size;
    uint8_t *bytes = malloc(length + (length == 0));
    if (bytes == NULL)
        return 0;
    if (length > 0)
        memcpy(bytes, start, length);
    for (size_t i = 0; mode > 1 && i + 3 <= size; i += 3)
        bytes[(data[i] | (size_t) data[i + 1] << 8) % length] = data[i + 2];
    if (mode > 0)
        seal_trace(bytes, length);
    read_all(bytes, length);
    free(bytes);
    return 0;
}
