/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the pages of a column chunk.  Numbers are stored as differences, or with a dictionary if
 * there are few distinct ones, whichever makes the first page smaller.  Names have a dictionary;
 * texts and flags are stored plainly.
 */
#include <stdlib.h>
#include <string.h>

#include "converter/base/utf8_text.h"
#include "converter/formats/tables/parquet_column.h"
#include "format/core/grow.h"
#include "format/core/hash.h"

#ifdef STEPTRACE_TABLES_ZSTD
#include <zstd.h>
#endif

enum { DATA_PAGE = 0, DICTIONARY_PAGE = 2, ENTRIES_MOST = 1 << 16, SLOTS = 1 << 18, LOOK = 4096 };

/* ---- the encoder ---- */

bool parquet_is_compressed(void)
{
#ifdef STEPTRACE_TABLES_ZSTD
    return true;
#else
    return false;
#endif
}

bool parquet_encoder_init(struct parquet_encoder *encoder, int level)
{
    *encoder = (struct parquet_encoder){.level = level};
    encoder->slots = malloc(SLOTS * sizeof *encoder->slots);
    encoder->entries = malloc(ENTRIES_MOST * sizeof *encoder->entries);
#ifdef STEPTRACE_TABLES_ZSTD
    encoder->compressor = ZSTD_createCCtx();
    if (encoder->compressor == NULL)
        return false;
#endif
    return encoder->slots != NULL && encoder->entries != NULL;
}

void parquet_encoder_reset(struct parquet_encoder *encoder)
{
#ifdef STEPTRACE_TABLES_ZSTD
    ZSTD_freeCCtx(encoder->compressor);
#endif
    bytes_reset(&encoder->raw);
    bytes_reset(&encoder->stored);
    bytes_reset(&encoder->header);
    free(encoder->indices);
    free(encoder->slots);
    free(encoder->entries);
    free(encoder->places);
    free(encoder->used);
    *encoder = (struct parquet_encoder){0};
}

/* Compresses encoder->raw into encoder->stored. */
static void compress_page(struct parquet_encoder *encoder)
{
    const struct step_bytes raw = bytes_of(&encoder->raw);
    bytes_clear(&encoder->stored);
#ifdef STEPTRACE_TABLES_ZSTD
    size_t room = ZSTD_compressBound(raw.length);
    uint8_t *stored = bytes_put_room(&encoder->stored, room + 1);
    size_t length = stored != NULL
                        ? ZSTD_compressCCtx(encoder->compressor, stored, room,
                                            raw.length > 0 ? (const void *) raw.data : "",
                                            raw.length, encoder->level)
                        : 0;
    encoder->stored.failed = encoder->stored.failed || ZSTD_isError(length);
    encoder->stored.bytes.length = ZSTD_isError(length) ? 0 : length;
#else
    bytes_put(&encoder->stored, raw.data, raw.length);
#endif
}

/* ---- dictionaries ---- */

/* Returns the index of a number in the dictionary, or ENTRIES_MOST if it is full.  This is a
 * separate hash table of fixed size because with a step_index the export of objects took 3 % more
 * instructions. */
static uint32_t number_index(struct parquet_encoder *encoder, uint64_t value)
{
    size_t at = (size_t) (step_hash(value) >> 46);
    while (encoder->slots[at] != 0 && encoder->entries[encoder->slots[at] - 1] != value)
        at = (at + 1) & (SLOTS - 1);
    if (encoder->slots[at] != 0)
        return encoder->slots[at] - 1;
    if (encoder->entry_count == ENTRIES_MOST)
        return ENTRIES_MOST;
    encoder->entries[encoder->entry_count++] = value;
    encoder->slots[at] = (uint32_t) encoder->entry_count;
    return (uint32_t) encoder->entry_count - 1;
}

/* Returns true if there are few distinct numbers; encoder->indices then has the index of each
 * value. */
static bool index_numbers(struct parquet_encoder *encoder, const uint64_t *values, size_t count)
{
    memset(encoder->slots, 0, SLOTS * sizeof *encoder->slots);
    encoder->entry_count = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t index = number_index(encoder, values[i]);
        if (index == ENTRIES_MOST || (i == LOOK && encoder->entry_count > LOOK / 2))
            return false;
        encoder->indices[i] = index;
    }
    return count > 0;
}

/* Finds the names that the column uses, and the index of each value. */
static bool index_names(struct parquet_encoder *encoder, const struct parquet_column *column)
{
    const uint32_t *codes = column->values;
    size_t names = column->dictionary != NULL ? column->dictionary->count : 0;
    if (names > encoder->place_count) {
        uint32_t *places = realloc(encoder->places, names * sizeof *places);
        if (places == NULL)
            return false;
        encoder->places = places;
        encoder->place_count = names;
        uint32_t *used = realloc(encoder->used, names * sizeof *used);
        if (used == NULL)
            return false;
        encoder->used = used;
    }
    if (names > 0)
        memset(encoder->places, 0, names * sizeof *encoder->places);
    encoder->entry_count = 0;
    for (size_t i = 0; i < column->value_count; i++) {
        uint32_t *place = &encoder->places[codes[i]];
        if (*place == 0) {
            encoder->used[encoder->entry_count++] = codes[i];
            *place = (uint32_t) encoder->entry_count;
        }
        encoder->indices[i] = *place - 1;
    }
    return true;
}

/* ---- minimum and maximum ---- */

static bool is_signed(const struct table_column *about)
{
    return about->type != TABLE_UINT;
}

static void bound_number(struct parquet_bound *bound, uint64_t value)
{
    step_store_u64(bound->bytes, value);
    bound->length = 8;
}

static void bound_numbers(const struct table_column *about, const uint64_t *values, size_t count,
                          struct parquet_bound *least, struct parquet_bound *most)
{
    uint64_t flip = is_signed(about) ? UINT64_C(1) << 63 : 0;
    uint64_t low = UINT64_MAX;
    uint64_t high = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t value = values[i] ^ flip;
        low = value < low ? value : low;
        high = value > high ? value : high;
    }
    bound_number(least, low ^ flip);
    bound_number(most, high ^ flip);
}

static int compare_texts(struct step_bytes a, struct step_bytes b)
{
    size_t length = a.length < b.length ? a.length : b.length;
    int order = length > 0 ? memcmp(a.data, b.data, length) : 0;
    return order != 0 ? order : (a.length > b.length) - (a.length < b.length);
}

/* Returns false if the name is too long for a bound. */
static bool bound_text(struct parquet_bound *bound, struct step_bytes text)
{
    struct step_buffer clean = {0};
    bool good = text.length <= PARQUET_BOUND_BYTES && utf8_append(&clean, text) &&
                clean.length <= PARQUET_BOUND_BYTES;
    if (good && clean.length > 0)
        memcpy(bound->bytes, clean.data, clean.length);
    bound->length = clean.length;
    step_buffer_reset(&clean);
    return good;
}

static bool bound_names(const struct parquet_column *column, const uint32_t *codes, size_t count,
                        struct parquet_bound *least, struct parquet_bound *most)
{
    const struct step_bytes *texts = column->dictionary->texts;
    uint32_t low = codes[0];
    uint32_t high = codes[0];
    for (size_t i = 1; i < count; i++) {
        if (codes[i] == codes[i - 1])
            continue;
        if (compare_texts(texts[codes[i]], texts[low]) < 0)
            low = codes[i];
        else if (compare_texts(texts[codes[i]], texts[high]) > 0)
            high = codes[i];
    }
    return bound_text(least, texts[low]) && bound_text(most, texts[high]);
}

/* Of `count` values from `from` on; `count` is not 0.  Returns false if they have no bounds. */
static bool find_bounds(const struct parquet_column *column, size_t from, size_t count,
                        struct parquet_bound *least, struct parquet_bound *most)
{
    switch (column->about->type) {
    case TABLE_TEXT:
    case TABLE_DATA:
    case TABLE_BOOL:
    case TABLE_REAL:
        return false;
    case TABLE_NAME:
        return bound_names(column, (const uint32_t *) column->values + from, count, least, most);
    default:
        bound_numbers(column->about, (const uint64_t *) column->values + from, count, least, most);
        return true;
    }
}

/* ---- pages ---- */

/* Appends a page to `out`: its header, then encoder->raw. */
static void put_page(struct parquet_encoder *encoder, int kind, size_t values,
                     enum parquet_encoding encoding, struct byte_output *out,
                     struct parquet_chunk *chunk)
{
    struct thrift_output thrift;
    bytes_clear(&encoder->header);
    compress_page(encoder);
    thrift_init(&thrift, &encoder->header);
    thrift_i32(&thrift, 1, kind);
    thrift_i32(&thrift, 2, (int64_t) encoder->raw.bytes.length);
    thrift_i32(&thrift, 3, (int64_t) encoder->stored.bytes.length);
    thrift_begin_struct(&thrift, kind == DATA_PAGE ? 5 : 7);
    thrift_i32(&thrift, 1, (int64_t) values);
    thrift_i32(&thrift, 2, encoding);
    if (kind == DATA_PAGE) {
        thrift_i32(&thrift, 3, PARQUET_RLE);
        thrift_i32(&thrift, 4, PARQUET_RLE);
    }
    thrift_end_struct(&thrift);
    thrift_end_struct(&thrift);
    chunk->raw_bytes += encoder->header.bytes.length + encoder->raw.bytes.length;
    chunk->stored_bytes += encoder->header.bytes.length + encoder->stored.bytes.length;
    out->failed = out->failed || encoder->raw.failed;
    bytes_put_part(out, &encoder->header);
    bytes_put_part(out, &encoder->stored);
}

static void put_dictionary(const struct parquet_column *column, struct parquet_encoder *encoder,
                           struct byte_output *out, struct parquet_chunk *chunk)
{
    bytes_clear(&encoder->raw);
    if (column->about->type == TABLE_NAME)
        for (size_t i = 0; i < encoder->entry_count; i++)
            parquet_put_text(&encoder->raw, column->dictionary->texts[encoder->used[i]], false);
    else
        bytes_put_numbers(&encoder->raw, encoder->entries, encoder->entry_count);
    chunk->has_dictionary = true;
    put_page(encoder, DICTIONARY_PAGE, encoder->entry_count, PARQUET_PLAIN, out, chunk);
}

/* Appends the encoded values from `from` on to encoder->raw. */
static void put_values(const struct parquet_column *column, struct parquet_encoder *encoder,
                       enum parquet_encoding encoding, size_t from, size_t count)
{
    /* texts have no numbers */
    const uint64_t *numbers = column->values;
    numbers = numbers != NULL ? numbers + from : NULL;
    if (encoding == PARQUET_RLE_DICTIONARY) {
        unsigned width = parquet_width(encoder->entry_count > 1 ? encoder->entry_count - 1 : 1);
        bytes_put_little(&encoder->raw, width, 1);
        parquet_put_hybrid(&encoder->raw, encoder->indices + from, count, width);
    } else if (encoding == PARQUET_DELTA_BINARY_PACKED) {
        parquet_put_deltas(&encoder->raw, numbers, count);
    } else if (column->about->type == TABLE_BOOL) {
        parquet_put_flags(&encoder->raw, (const uint8_t *) column->values + from, count);
    } else if (column->about->type == TABLE_REAL) {
        bytes_put_numbers(&encoder->raw, numbers, count);
    } else {
        size_t start = from > 0 ? column->text_ends[from - 1] : 0;
        size_t end = count > 0 ? column->text_ends[from + count - 1] : start;
        if (end > start)
            bytes_put(&encoder->raw, column->text.bytes.data + start, end - start);
    }
}

/* Writes which rows have a value: their length, then run-length encoded bits. */
static void put_levels(struct parquet_encoder *encoder, const uint8_t *present, size_t count)
{
    uint32_t levels[PARQUET_PAGE_ROWS];
    size_t start = encoder->raw.bytes.length;
    for (size_t i = 0; i < count; i++)
        levels[i] = present[i];
    bytes_put_little(&encoder->raw, 0, 4);
    parquet_put_hybrid(&encoder->raw, levels, count, 1);
    if (!encoder->raw.failed)
        step_store_u32(encoder->raw.bytes.data + start,
                       (uint32_t) (encoder->raw.bytes.length - start - 4));
}

/* Returns the stored size of the first page's values with this encoding. */
static size_t try_encoding(const struct parquet_column *column, struct parquet_encoder *encoder,
                           enum parquet_encoding encoding, size_t count)
{
    bytes_clear(&encoder->raw);
    put_values(column, encoder, encoding, 0, count);
    compress_page(encoder);
    return encoder->stored.bytes.length;
}

static enum parquet_encoding choose_encoding(const struct parquet_column *column,
                                             struct parquet_encoder *encoder, bool *good)
{
    enum table_type type = column->about->type;
    *good = STEP_MAKE_ROOM(encoder->indices, encoder->index_capacity, column->value_count);
    if (!*good || type == TABLE_TEXT || type == TABLE_DATA || type == TABLE_BOOL)
        return PARQUET_PLAIN;
    if (type == TABLE_NAME) {
        *good = index_names(encoder, column);
        return PARQUET_RLE_DICTIONARY;
    }
    bool has_few = index_numbers(encoder, column->values, column->value_count);
    if (type == TABLE_REAL)
        return has_few ? PARQUET_RLE_DICTIONARY : PARQUET_PLAIN;
    if (!has_few)
        return PARQUET_DELTA_BINARY_PACKED;
    size_t count =
        column->value_count < PARQUET_PAGE_ROWS ? column->value_count : (size_t) PARQUET_PAGE_ROWS;
    size_t entries = encoder->entry_count * 4 * count /
                     column->value_count; /* half of their size, assuming compression */
    size_t by_deltas = try_encoding(column, encoder, PARQUET_DELTA_BINARY_PACKED, count);
    size_t by_dictionary = try_encoding(column, encoder, PARQUET_RLE_DICTIONARY, count);
    return by_deltas <= by_dictionary || by_deltas - by_dictionary <= entries
               ? PARQUET_DELTA_BINARY_PACKED
               : PARQUET_RLE_DICTIONARY;
}

static void put_data_page(const struct parquet_column *column, struct parquet_encoder *encoder,
                          size_t row, size_t rows, size_t *value, struct byte_output *out,
                          struct parquet_chunk *chunk)
{
    struct parquet_page *page = &chunk->pages[chunk->page_count++];
    size_t values = rows;
    *page = (struct parquet_page){.offset = out->bytes.length, .first_row = row};
    bytes_clear(&encoder->raw);
    if (column->present != NULL) {
        values = 0;
        for (size_t i = 0; i < rows; i++)
            values += column->present[row + i];
        put_levels(encoder, column->present + row, rows);
    }
    page->null_count = rows - values;
    page->all_null = values == 0;
    if (values > 0 && chunk->has_bounds)
        chunk->has_bounds = find_bounds(column, *value, values, &page->least, &page->most);
    put_values(column, encoder, chunk->encoding, *value, values);
    put_page(encoder, DATA_PAGE, rows, chunk->encoding, out, chunk);
    *value += values;
    page->stored_bytes = (uint32_t) (out->bytes.length - page->offset);
}

bool parquet_column_encode(struct parquet_column *column, struct parquet_encoder *encoder,
                           struct byte_output *out, struct parquet_chunk *chunk)
{
    bool good;
    size_t value = 0;
    size_t pages = column->row_count / PARQUET_PAGE_ROWS + 1;
    *chunk = (struct parquet_chunk){.row_count = column->row_count,
                                    .null_count = column->row_count - column->value_count,
                                    .has_bounds = column->value_count > 0,
                                    .pages = calloc(pages, sizeof *chunk->pages)};
    if (chunk->pages == NULL)
        return false;
    chunk->encoding = choose_encoding(column, encoder, &good);
    if (good && column->value_count > 0)
        chunk->has_bounds =
            find_bounds(column, 0, column->value_count, &chunk->least, &chunk->most);
    if (good && chunk->encoding == PARQUET_RLE_DICTIONARY)
        put_dictionary(column, encoder, out, chunk);
    for (size_t row = 0; good && !out->failed && row < column->row_count;
         row += PARQUET_PAGE_ROWS) {
        size_t left = column->row_count - row;
        put_data_page(column, encoder, row, left < PARQUET_PAGE_ROWS ? left : PARQUET_PAGE_ROWS,
                      &value, out, chunk);
    }
    column->row_count = column->value_count = 0;
    bytes_clear(&column->text);
    return good && !out->failed;
}
