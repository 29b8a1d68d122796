/* SPDX-License-Identifier: Apache-2.0 */
/* Columns that grow.  (Asking the kernel for large pages was tried: where memory is in pieces it
 * takes three times as long to find them as small ones to be filled.) */
#include "converter/table_columns/column_room.h"

#include <stdlib.h>
#include <string.h>

#include "converter/base/fresh_memory.h"
#include "converter/table_columns/utf8_text.h"

static size_t value_bytes(enum table_type type)
{
    return type == TABLE_BOOL   ? sizeof(uint8_t)
           : type == TABLE_NAME ? sizeof(int32_t)
                                : sizeof(uint64_t);
}

static bool is_text(enum table_type type)
{
    return type == TABLE_TEXT || type == TABLE_DATA;
}

bool whole_column_resize(struct whole_column *column, size_t old, size_t capacity)
{
    void *values =
        realloc(column->values, (capacity + is_text(column->type)) * value_bytes(column->type));
    if (values == NULL)
        return false;
    if (column->values == NULL && is_text(column->type))
        *(uint64_t *) values = 0;
    column->values = values;
    if (column->validity == NULL)
        return true;
    uint8_t *validity = realloc(column->validity, capacity / 8 + 2);
    if (validity == NULL)
        return false;
    column->validity = validity;
    if (capacity > old)
        memset(validity + old / 8 + 2, 0, capacity / 8 - old / 8);
    return true;
}

void whole_column_reset(struct whole_column *column)
{
    free(column->values);
    free(column->validity);
    step_buffer_reset(&column->bytes);
    step_buffer_reset(&column->names);
    step_buffer_reset(&column->name_ends);
    free(column->places);
    *column = (struct whole_column){.type = column->type};
}

/* ---- what is null ---- */

/* Sets `count` bits from `at` on; those behind are 0. */
static void set_bits(uint8_t *bits, size_t at, size_t count)
{
    for (; count > 0 && at % 8 != 0; at++, count--)
        bits[at / 8] |= (uint8_t) (1u << at % 8);
    memset(bits + at / 8, 0xff, count / 8);
    at += count / 8 * 8;
    for (size_t i = 0; i < count % 8; i++, at++)
        bits[at / 8] |= (uint8_t) (1u << at % 8);
}

static void copy_bits(uint8_t *bits, size_t at, const uint8_t *from, size_t first, size_t count)
{
    if (at % 8 == 0 && first % 8 == 0) {
        memcpy(bits + at / 8, from + first / 8, count / 8);
        at += count / 8 * 8;
        first += count / 8 * 8;
        count %= 8;
    }
    for (size_t i = 0; i < count; i++, at++, first++)
        bits[at / 8] |= (uint8_t) ((from[first / 8] >> first % 8 & 1u) << at % 8);
}

static size_t count_bits(const uint8_t *bits, size_t at, size_t count)
{
    size_t set = 0;
    for (; count > 0 && at % 8 != 0; at++, count--)
        set += bits[at / 8] >> at % 8 & 1u;
    for (; count >= 8; at += 8, count -= 8)
        set += (size_t) __builtin_popcount(bits[at / 8]);
    for (; count > 0; at++, count--)
        set += bits[at / 8] >> at % 8 & 1u;
    return set;
}

static bool append_validity(struct whole_column *column, const struct table_vector *vector,
                            size_t from, size_t count, size_t at, size_t capacity)
{
    if (vector->validity == NULL && column->validity == NULL)
        return true;
    if (column->validity == NULL) {
        column->validity = calloc(capacity / 8 + 2, 1);
        if (column->validity == NULL)
            return false;
        set_bits(column->validity, 0, at);
    }
    if (vector->validity == NULL) {
        set_bits(column->validity, at, count);
        return true;
    }
    copy_bits(column->validity, at, vector->validity, from, count);
    column->null_count += count - count_bits(column->validity, at, count);
    return true;
}

/* ---- names ---- */

static bool has_places(struct whole_column *column, size_t codes)
{
    if (codes <= column->place_count)
        return true;
    uint32_t *places = realloc(column->places, codes * sizeof *places);
    if (places == NULL)
        return false;
    memset(places + column->place_count, 0, (codes - column->place_count) * sizeof *places);
    column->places = places;
    column->place_count = codes;
    return true;
}

static bool add_name(struct whole_column *column, struct step_bytes text)
{
    static const int32_t first = 0;
    if (column->name_count == 0 && !step_buffer_append(&column->name_ends, &first, sizeof first))
        return false;
    if (!utf8_append(&column->names, text) || column->names.length > INT32_MAX)
        return false;
    int32_t end = (int32_t) column->names.length;
    column->name_count++;
    return step_buffer_append(&column->name_ends, &end, sizeof end);
}

static bool append_names(struct whole_column *column, const struct table_vector *vector,
                         size_t from, size_t count, size_t at)
{
    const uint32_t *codes = vector->codes + from;
    int32_t *values = (int32_t *) column->values + at;
    if (vector->dictionary->count == 0) { /* no row has a name */
        for (size_t i = 0; i < count; i++)
            values[i] = -1;
        return true;
    }
    if (!has_places(column, vector->dictionary->count))
        return false;
    for (size_t i = 0; i < count; i++) {
        uint32_t place = column->places[codes[i]];
        values[i] = (int32_t) place - 1;
        if (place != 0 && vector->validity == NULL)
            continue;
        if (table_vector_is_null(vector, from + i)) {
            values[i] = -1;
            continue;
        }
        if (place == 0) {
            if (!add_name(column, vector->dictionary->texts[codes[i]]))
                return false;
            column->places[codes[i]] = (uint32_t) column->name_count;
            values[i] = (int32_t) column->name_count - 1;
        }
    }
    return true;
}

/* ---- all ---- */

static bool append_texts(struct whole_column *column, const struct table_vector *vector,
                         size_t from, size_t count, size_t at)
{
    uint64_t *ends = (uint64_t *) column->values + at + 1;
    for (size_t i = 0; i < count; i++) {
        struct step_bytes text = vector->texts[from + i];
        bool good =
            vector->type == TABLE_TEXT
                ? utf8_append(&column->bytes, text)
                : text.length == 0 || step_buffer_append(&column->bytes, text.data, text.length);
        if (!good)
            return false;
        ends[i] = column->bytes.length;
    }
    return true;
}

/* Asks for what the next rows need, somewhat before they come. */
static void ask_memory(struct whole_column *column, size_t rows, size_t capacity)
{
    size_t all = (capacity + is_text(column->type)) * value_bytes(column->type);
    size_t needed = (rows + is_text(column->type)) * value_bytes(column->type);
    if (needed <= column->fresh_bytes || all < FRESH_MEMORY_BYTES)
        return;
    size_t to = needed + FRESH_MEMORY_BYTES < all ? needed + FRESH_MEMORY_BYTES : all;
    fresh_memory_ask((uint8_t *) column->values + column->fresh_bytes, to - column->fresh_bytes);
    column->fresh_bytes = to;
}

void *whole_column_place(struct whole_column *column, size_t rows, size_t count, size_t capacity)
{
    if (column->type == TABLE_NAME || is_text(column->type))
        return NULL;
    ask_memory(column, rows + count, capacity);
    return (uint8_t *) column->values + rows * value_bytes(column->type);
}

/* Values that are not where they belong. */
static void append_values(struct whole_column *column, const struct table_vector *vector,
                          size_t from, size_t count, size_t at)
{
    size_t bytes = value_bytes(column->type);
    const uint8_t *values = (const uint8_t *) (const void *) vector->numbers + from * bytes;
    uint8_t *to = (uint8_t *) column->values + at * bytes;
    if (values != to)
        memcpy(to, values, count * bytes);
}

bool whole_column_append(struct whole_column *column, const struct table_vector *vector,
                         size_t from, size_t count, size_t at, size_t capacity)
{
    bool good = true;
    if (count == 0)
        return append_validity(column, vector, from, count, at, capacity);
    ask_memory(column, at + count, capacity);
    switch (column->type) {
    case TABLE_NAME:
        good = append_names(column, vector, from, count, at);
        break;
    case TABLE_TEXT:
    case TABLE_DATA:
        good = append_texts(column, vector, from, count, at);
        break;
    default:
        append_values(column, vector, from, count, at);
    }
    return good && append_validity(column, vector, from, count, at, capacity);
}
