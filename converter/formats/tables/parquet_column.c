/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the values of a row group for a Parquet column. */
#include "converter/formats/tables/parquet_column.h"

#include <stdlib.h>
#include <string.h>

#include "converter/base/utf8_text.h"

/* These encodings store bits from the lowest upwards. */

enum { BLOCK = 128, MINIBLOCK = 32, MINIBLOCKS = BLOCK / MINIBLOCK, LEAST_RUN = 16, GROUP = 8 };

unsigned parquet_width(uint64_t value)
{
    return value != 0 ? 64 - (unsigned) __builtin_clzll(value) : 0;
}

static bool put_zigzag(struct step_buffer *out, int64_t value)
{
    return step_buffer_append_varint(out, (uint64_t) value << 1 ^ (uint64_t) (value >> 63));
}

/* `count` values of `width` bits; the total is a whole number of bytes. */
static bool put_bits(struct step_buffer *out, const uint64_t *values, size_t count, unsigned width)
{
    size_t length = count * width / 8;
    if (!step_buffer_reserve(out, length + 16))
        return false;
    uint8_t *at = out->data + out->length;
    uint64_t held = 0;
    unsigned bits = 0;
    for (size_t i = 0; i < count && width > 0; i++) {
        held |= values[i] << bits;
        bits += width;
        if (bits < 64)
            continue;
        step_store_u64(at, held);
        at += 8;
        bits -= 64;
        held = bits > 0 ? values[i] >> (width - bits) : 0;
    }
    for (; bits > 0 && width > 0; bits = bits > 8 ? bits - 8 : 0) {
        *at++ = (uint8_t) held;
        held >>= 8;
    }
    out->length += length;
    return true;
}

/* A block of up to 128 differences. */
static bool put_delta_block(struct step_buffer *out, const uint64_t *values, size_t count)
{
    uint64_t deltas[BLOCK] = {0};
    uint8_t widths[MINIBLOCKS] = {0};
    int64_t least = INT64_MAX;
    for (size_t i = 0; i < count; i++) {
        deltas[i] = values[i + 1] - values[i];
        least = (int64_t) deltas[i] < least ? (int64_t) deltas[i] : least;
    }
    for (size_t i = 0; i < count; i++)
        deltas[i] -= (uint64_t) least;
    size_t used = (count + MINIBLOCK - 1) / MINIBLOCK;
    for (size_t i = 0; i < used; i++) {
        uint64_t all = 0;
        for (size_t k = 0; k < MINIBLOCK; k++)
            all |= deltas[i * MINIBLOCK + k];
        widths[i] = (uint8_t) parquet_width(all);
    }
    bool good = put_zigzag(out, least) && step_buffer_append(out, widths, sizeof widths);
    for (size_t i = 0; good && i < used; i++)
        good = put_bits(out, deltas + i * MINIBLOCK, MINIBLOCK, widths[i]);
    return good;
}

bool parquet_put_deltas(struct step_buffer *out, const uint64_t *values, size_t count)
{
    bool good = step_buffer_append_varint(out, BLOCK) &&
                step_buffer_append_varint(out, MINIBLOCKS) &&
                step_buffer_append_varint(out, count) &&
                put_zigzag(out, count > 0 ? (int64_t) values[0] : 0);
    for (size_t i = 0; good && i + 1 < count; i += BLOCK) {
        size_t left = count - 1 - i;
        good = put_delta_block(out, values + i, left < BLOCK ? left : BLOCK);
    }
    return good;
}

static bool put_run(struct step_buffer *out, uint32_t value, size_t count, unsigned width)
{
    uint8_t bytes[4];
    step_store_u32(bytes, value);
    return step_buffer_append_varint(out, (uint64_t) count << 1) &&
           step_buffer_append(out, bytes, (width + 7) / 8);
}

/* Groups of 8; the last is padded with 0. */
static bool put_groups(struct step_buffer *out, const uint32_t *values, size_t count,
                       unsigned width)
{
    size_t groups = (count + GROUP - 1) / GROUP;
    bool good = count == 0 || step_buffer_append_varint(out, (uint64_t) groups << 1 | 1);
    for (size_t i = 0; good && i < count; i += GROUP) {
        uint64_t group[GROUP] = {0};
        for (size_t k = 0; k < GROUP && i + k < count; k++)
            group[k] = values[i + k];
        good = put_bits(out, group, GROUP, width);
    }
    return good;
}

bool parquet_put_hybrid(struct step_buffer *out, const uint32_t *values, size_t count,
                        unsigned width)
{
    size_t from = 0; /* start of the values to be packed */
    bool good = true;
    for (size_t i = 0; good && i < count;) {
        size_t end = i + 1;
        while (end < count && values[end] == values[i])
            end++;
        size_t fill = (GROUP - (i - from) % GROUP) % GROUP; /* all groups but the last are
                                                               complete */
        if (end - i >= LEAST_RUN + fill) {
            i += fill;
            good = put_groups(out, values + from, i - from, width) &&
                   put_run(out, values[i], end - i, width);
            from = end;
        }
        i = end;
    }
    return good && put_groups(out, values + from, count - from, width);
}

bool parquet_put_numbers(struct step_buffer *out, const uint64_t *values, size_t count)
{
    if (!step_buffer_reserve(out, count * 8))
        return false;
    for (size_t i = 0; i < count; i++)
        step_store_u64(out->data + out->length + i * 8, values[i]);
    out->length += count * 8;
    return true;
}

bool parquet_put_flags(struct step_buffer *out, const uint8_t *values, size_t count)
{
    size_t length = (count + 7) / 8;
    if (!step_buffer_reserve(out, length + 1))
        return false;
    memset(out->data + out->length, 0, length);
    for (size_t i = 0; i < count; i++)
        out->data[out->length + i / 8] |= (uint8_t) ((values[i] != 0) << i % 8);
    out->length += length;
    return true;
}

bool parquet_put_text(struct step_buffer *out, struct step_bytes text)
{
    uint8_t length[4];
    step_store_u32(length, (uint32_t) text.length);
    return step_buffer_append(out, length, sizeof length) &&
           (text.length == 0 || step_buffer_append(out, text.data, text.length));
}

static size_t bytes_of(enum table_type type)
{
    return type == TABLE_BOOL                         ? 1
           : type == TABLE_NAME                       ? sizeof(uint32_t)
           : type == TABLE_TEXT || type == TABLE_DATA ? 0
                                                      : sizeof(uint64_t);
}

void parquet_column_init(struct parquet_column *column, const struct table_column *about,
                         size_t capacity, uint64_t added)
{
    *column = (struct parquet_column){.about = about, .capacity = capacity, .added = added};
}

void parquet_column_reset(struct parquet_column *column)
{
    free(column->values);
    free(column->present);
    free(column->text_ends);
    step_buffer_reset(&column->text);
    *column = (struct parquet_column){0};
}

static bool has_room(struct parquet_column *column)
{
    size_t size = bytes_of(column->about->type);
    if (column->values == NULL && size > 0)
        column->values = malloc(column->capacity * size);
    if (column->present == NULL && column->about->nullable)
        column->present = malloc(column->capacity);
    if (column->text_ends == NULL && size == 0)
        column->text_ends = malloc(column->capacity * sizeof *column->text_ends);
    return (size == 0 ? column->text_ends != NULL : column->values != NULL) &&
           (!column->about->nullable || column->present != NULL);
}

static bool put_text(struct parquet_column *column, struct step_bytes text)
{
    size_t start = column->text.length;
    bool good = column->about->type == TABLE_DATA
                    ? parquet_put_text(&column->text, text)
                    : parquet_put_text(&column->text, (struct step_bytes){NULL, 0}) &&
                          utf8_append(&column->text, text);
    if (good)
        step_store_u32(column->text.data + start, (uint32_t) (column->text.length - start - 4));
    column->text_ends[column->value_count] = column->text.length;
    return good;
}

static bool put_value(struct parquet_column *column, const struct table_vector *vector, size_t row)
{
    bool good = true;
    switch (vector->type) {
    case TABLE_BOOL:
        ((uint8_t *) column->values)[column->value_count] = vector->flags[row];
        break;
    case TABLE_NAME:
        ((uint32_t *) column->values)[column->value_count] = vector->codes[row];
        break;
    case TABLE_TEXT:
    case TABLE_DATA:
        good = put_text(column, vector->texts[row]);
        break;
    default:
        ((uint64_t *) column->values)[column->value_count] = vector->numbers[row] + column->added;
    }
    column->value_count++;
    return good;
}

/* Copies numbers, codes and flags without nulls in one call. */
static void put_all(struct parquet_column *column, const struct table_vector *vector, size_t from,
                    size_t count)
{
    size_t size = bytes_of(vector->type);
    memcpy((char *) column->values + column->value_count * size,
           (const char *) vector->numbers + from * size, count * size);
    column->value_count += count;
}

bool parquet_column_put(struct parquet_column *column, const struct table_vector *vector,
                        size_t from, size_t count)
{
    bool is_whole = vector->validity == NULL && bytes_of(vector->type) > 0 && column->added == 0;
    bool good = has_room(column);
    column->dictionary = vector->dictionary;
    if (!good)
        return false;
    if (is_whole)
        put_all(column, vector, from, count);
    if (is_whole && column->present != NULL)
        memset(column->present + column->row_count, 1, count);
    for (size_t i = 0; good && !is_whole && i < count; i++) {
        bool is_null = table_vector_is_null(vector, from + i);
        if (column->present != NULL)
            column->present[column->row_count + i] = !is_null;
        if (!is_null || column->present == NULL)
            good = put_value(column, vector, from + i);
    }
    column->row_count += count;
    return good;
}
