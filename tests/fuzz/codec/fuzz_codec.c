/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the rows of the codec tables: decoders get hostile bytes; what they make of them must
 * come back the same from encoding and decoding it again.
 */
#include <stdlib.h>
#include <string.h>

#include "format/codec/column.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 4096 };

static void require(bool good)
{
    if (!good)
        abort();
}

static void fuzz_form(const struct step_form *row, uint64_t parameter, size_t count,
                      const uint8_t *data, size_t size)
{
    static uint64_t values[MOST];
    static uint64_t again[MOST];
    if ((row->valid != NULL && !row->valid(parameter)) || row->id == STEP_FORM_CONSTANT ||
        !row->decode(parameter, data, size, values, count))
        return;
    uint8_t *bytes = malloc((size_t) row->bound(parameter, count) + 1);
    size_t length = row->encode(parameter, values, count, bytes);
    require(length <= row->bound(parameter, count));
    require(row->decode(parameter, bytes, length, again, count));
    require(memcmp(values, again, count * sizeof *values) == 0);
    free(bytes);
}

static void fuzz_transform(const struct step_transform *row, const uint64_t *parameters,
                           size_t count, const uint8_t *data, size_t size)
{
    static uint64_t values[MOST];
    static uint64_t again[MOST];
    static uint64_t keys[MOST];
    if (row->valid != NULL && !row->valid(parameters))
        return;
    for (size_t i = 0; i < count; i++) {
        uint64_t byte = size > 0 ? data[i % size] : i;
        values[i] = byte << byte % 57;
        keys[i] = byte % 5;
    }
    const struct step_series linked[STEP_LINKED_SERIES] = {
        {keys, 1, NULL}, {keys, 1, NULL}, {keys, 0, NULL}};
    struct step_series series = {keys, 1, linked};
    require(row->forward(parameters, &series, values, again, count) == STEP_STATUS_OK);
    require(row->inverse(parameters, &series, again, count) == STEP_STATUS_OK);
    require(memcmp(values, again, count * sizeof *values) == 0);
}

static void fuzz_coding(const uint8_t *data, size_t size)
{
    struct step_cursor cursor = step_cursor_of(data, size);
    struct step_coding coding;
    struct step_coding parsed;
    struct step_buffer out = {0};
    if (!step_coding_parse(&cursor, &coding) || coding.unknown != NULL)
        return;
    require(step_coding_append(&coding, &out));
    cursor = step_cursor_of(out.data, out.length);
    require(step_coding_parse(&cursor, &parsed) && step_cursor_left(&cursor) == 0);
    require(parsed.raw_length == coding.raw_length && parsed.chain.form == coding.chain.form);
    step_buffer_reset(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 8)
        return 0;
    const struct step_form *form = step_form_row(data[0] % 16);
    const struct step_transform *transform = step_transform_row(data[0] % 16);
    uint64_t parameters[STEP_TRANSFORM_PARAMETERS] = {data[1], data[2], data[3], data[4]};
    if (transform == &step_transform_listed) /* sizes in bytes of one number */
        parameters[2] |= (uint64_t) (data[4] & 15) << 8 | (uint64_t) (data[4] >> 2) << 16;
    size_t count = 1 + (data[5] | (size_t) data[6] << 8) % (MOST - 1);
    if (data[7] % 3 == 0 && form != NULL)
        fuzz_form(form, data[1], count, data + 8, size - 8);
    else if (data[7] % 3 == 1 && transform != NULL)
        fuzz_transform(transform, parameters, count, data + 8, size - 8);
    else
        fuzz_coding(data + 8, size - 8);
    return 0;
}
