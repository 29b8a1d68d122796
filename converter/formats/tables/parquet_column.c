/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the values of a row group for a Parquet column. */
#include "converter/formats/tables/parquet_column.h"

#include <stdlib.h>
#include <string.h>

/* These encodings store bits from the lowest upwards. */

enum { BLOCK = 128, MINIBLOCK = 32, MINIBLOCKS = BLOCK / MINIBLOCK, LEAST_RUN = 16, GROUP = 8 };

unsigned parquet_width(uint64_t value)
{
    return value != 0 ? 64 - (unsigned) __builtin_clzll(value) : 0;
}

static void put_zigzag(struct byte_output *out, int64_t value)
{
    bytes_put_varint(out, (uint64_t) value << 1 ^ (uint64_t) (value >> 63));
}

/* `count` values of `width` bits; the total is a whole number of bytes. */
static void put_bits(struct byte_output *out, const uint64_t *values, size_t count, unsigned width)
{
    enum { SPARE = 16 };
    uint8_t *at = bytes_put_room(out, count * width / 8 + SPARE);
    uint64_t held = 0;
    unsigned bits = 0;
    if (at == NULL)
        return;
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
    out->bytes.length -= SPARE;
}

/* A block of up to 128 differences. */
static void put_delta_block(struct byte_output *out, const uint64_t *values, size_t count)
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
    put_zigzag(out, least);
    bytes_put(out, widths, sizeof widths);
    for (size_t i = 0; i < used; i++)
        put_bits(out, deltas + i * MINIBLOCK, MINIBLOCK, widths[i]);
}

void parquet_put_deltas(struct byte_output *out, const uint64_t *values, size_t count)
{
    bytes_put_varint(out, BLOCK);
    bytes_put_varint(out, MINIBLOCKS);
    bytes_put_varint(out, count);
    put_zigzag(out, count > 0 ? (int64_t) values[0] : 0);
    for (size_t i = 0; i + 1 < count; i += BLOCK) {
        size_t left = count - 1 - i;
        put_delta_block(out, values + i, left < BLOCK ? left : BLOCK);
    }
}

/* Groups of 8; the last is padded with 0. */
static void put_groups(struct byte_output *out, const uint32_t *values, size_t count,
                       unsigned width)
{
    size_t groups = (count + GROUP - 1) / GROUP;
    if (count > 0)
        bytes_put_varint(out, (uint64_t) groups << 1 | 1);
    for (size_t i = 0; i < count; i += GROUP) {
        uint64_t group[GROUP] = {0};
        for (size_t k = 0; k < GROUP && i + k < count; k++)
            group[k] = values[i + k];
        put_bits(out, group, GROUP, width);
    }
}

void parquet_put_hybrid(struct byte_output *out, const uint32_t *values, size_t count,
                        unsigned width)
{
    size_t from = 0; /* start of the values to be packed */
    for (size_t i = 0; i < count;) {
        size_t end = i + 1;
        while (end < count && values[end] == values[i])
            end++;
        size_t fill = (GROUP - (i - from) % GROUP) % GROUP; /* all groups but the last are
                                                               complete */
        if (end - i >= LEAST_RUN + fill) {
            i += fill;
            put_groups(out, values + from, i - from, width);
            bytes_put_varint(out, (uint64_t) (end - i) << 1);
            bytes_put_little(out, values[i], (width + 7) / 8);
            from = end;
        }
        i = end;
    }
    put_groups(out, values + from, count - from, width);
}

void parquet_put_flags(struct byte_output *out, const uint8_t *values, size_t count)
{
    size_t length = (count + 7) / 8;
    uint8_t *at = bytes_put_room(out, length);
    if (at == NULL)
        return;
    memset(at, 0, length);
    for (size_t i = 0; i < count; i++)
        at[i / 8] |= (uint8_t) ((values[i] != 0) << i % 8);
}

void parquet_put_text(struct byte_output *out, struct step_bytes text, bool is_data)
{
    if (!is_data)
        text = bytes_valid_text(out, text);
    bytes_put_little(out, text.length, 4);
    bytes_put(out, text.data, text.length);
}

static size_t size_of(enum table_type type)
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
    bytes_reset(&column->text);
    *column = (struct parquet_column){0};
}

static bool has_room(struct parquet_column *column)
{
    size_t size = size_of(column->about->type);
    if (column->values == NULL && size > 0)
        column->values = malloc(column->capacity * size);
    if (column->present == NULL && column->about->nullable)
        column->present = malloc(column->capacity);
    if (column->text_ends == NULL && size == 0)
        column->text_ends = malloc(column->capacity * sizeof *column->text_ends);
    return (size == 0 ? column->text_ends != NULL : column->values != NULL) &&
           (!column->about->nullable || column->present != NULL);
}

static void put_value(struct parquet_column *column, const struct table_vector *vector, size_t row)
{
    switch (vector->type) {
    case TABLE_BOOL:
        ((uint8_t *) column->values)[column->value_count] = vector->flags[row];
        break;
    case TABLE_NAME:
        ((uint32_t *) column->values)[column->value_count] = vector->codes[row];
        break;
    case TABLE_TEXT:
    case TABLE_DATA:
        parquet_put_text(&column->text, vector->texts[row], vector->type == TABLE_DATA);
        column->text_ends[column->value_count] = column->text.bytes.length;
        break;
    default:
        ((uint64_t *) column->values)[column->value_count] = vector->numbers[row] + column->added;
    }
    column->value_count++;
}

/* Copies numbers, codes and flags without nulls in one call. */
static void put_all(struct parquet_column *column, const struct table_vector *vector, size_t from,
                    size_t count)
{
    size_t size = size_of(vector->type);
    memcpy((char *) column->values + column->value_count * size,
           (const char *) vector->numbers + from * size, count * size);
    column->value_count += count;
}

bool parquet_column_put(struct parquet_column *column, const struct table_vector *vector,
                        size_t from, size_t count)
{
    bool is_whole = vector->validity == NULL && size_of(vector->type) > 0 && column->added == 0;
    column->dictionary = vector->dictionary;
    if (!has_room(column))
        return false;
    if (is_whole)
        put_all(column, vector, from, count);
    if (is_whole && column->present != NULL)
        memset(column->present + column->row_count, 1, count);
    for (size_t i = 0; !is_whole && i < count; i++) {
        bool is_null = table_vector_is_null(vector, from + i);
        if (column->present != NULL)
            column->present[column->row_count + i] = !is_null;
        if (!is_null || column->present == NULL)
            put_value(column, vector, from + i);
    }
    column->row_count += count;
    return !column->text.failed;
}
