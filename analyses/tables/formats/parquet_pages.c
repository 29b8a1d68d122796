/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the pages of a column chunk.  Numbers are stored as differences, or with a dictionary if
 * there are few distinct ones, whichever makes the first page smaller.  Names have a dictionary;
 * texts and flags are stored plainly.
 */
#include <stdlib.h>
#include <string.h>

#include "analyses/tables/formats/parquet_column.h"
#include "converter/cli/utf8_text.h"
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

/* All texts may be empty: there are no bytes then. */
static struct step_bytes text_between(const struct step_buffer *bytes, uint64_t start, uint64_t end)
{
    return (struct step_bytes){end > start ? bytes->data + start : NULL, end - start};
}

/* Returns a name by its index. */
static struct step_bytes parquet_pages_name_of(const struct parquet_column *column, size_t index)
{
    const int32_t *ends = (const int32_t *) (const void *) column->rows.name_ends.data;
    return text_between(&column->rows.names, (uint64_t) ends[index], (uint64_t) ends[index + 1]);
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

/* Returns false if the name is too long for a bound. */
static bool bound_text(struct parquet_bound *bound, struct step_bytes text)
{
    if (text.length > PARQUET_BOUND_BYTES)
        return false;
    if (text.length > 0)
        memcpy(bound->bytes, text.data, text.length);
    bound->length = text.length;
    return true;
}

static bool bound_names(const struct parquet_column *column, const uint32_t *names, size_t count,
                        struct parquet_bound *least, struct parquet_bound *most)
{
    struct step_bytes low = parquet_pages_name_of(column, names[0]), high = low;
    for (size_t i = 1; i < count; i++) {
        if (names[i] == names[i - 1])
            continue;
        struct step_bytes name = parquet_pages_name_of(column, names[i]);
        if (utf8_order(name, low) < 0)
            low = name;
        else if (utf8_order(name, high) > 0)
            high = name;
    }
    return bound_text(least, low) && bound_text(most, high);
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
        return bound_names(column, (const uint32_t *) column->rows.values + from, count, least,
                           most);
    default:
        bound_numbers(column->about, (const uint64_t *) column->rows.values + from, count, least,
                      most);
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

static void parquet_pages_put_text(struct byte_output *out, struct step_bytes text)
{
    bytes_put_little(out, text.length, 4);
    bytes_put(out, text.data, text.length);
}

static void put_dictionary(const struct parquet_column *column, struct parquet_encoder *encoder,
                           struct byte_output *out, struct parquet_chunk *chunk)
{
    bytes_clear(&encoder->raw);
    if (column->about->type == TABLE_NAME)
        for (size_t i = 0; i < encoder->entry_count; i++)
            parquet_pages_put_text(&encoder->raw, parquet_pages_name_of(column, i));
    else
        bytes_put_numbers(&encoder->raw, encoder->entries, encoder->entry_count);
    chunk->has_dictionary = true;
    put_page(encoder, DICTIONARY_PAGE, encoder->entry_count, PARQUET_PLAIN, out, chunk);
}

/* Appends the encoded values from `from` on to encoder->raw. */
static void parquet_pages_put_values(const struct parquet_column *column,
                                     struct parquet_encoder *encoder,
                                     enum parquet_encoding encoding, size_t from, size_t count)
{
    const enum table_type type = column->about->type;
    const uint64_t *numbers = column->rows.values;
    if (encoding == PARQUET_RLE_DICTIONARY) {
        const uint32_t *indices = type == TABLE_NAME ? column->rows.values : encoder->indices;
        unsigned width = parquet_width(encoder->entry_count > 1 ? encoder->entry_count - 1 : 1);
        bytes_put_little(&encoder->raw, width, 1);
        parquet_put_hybrid(&encoder->raw, indices + from, count, width);
    } else if (encoding == PARQUET_DELTA_BINARY_PACKED) {
        parquet_put_deltas(&encoder->raw, numbers + from, count);
    } else if (type == TABLE_BOOL) {
        parquet_put_flags(&encoder->raw, (const uint8_t *) column->rows.values + from, count);
    } else if (type == TABLE_REAL) {
        bytes_put_numbers(&encoder->raw, numbers + from, count);
    } else {
        for (size_t i = from; i < from + count; i++)
            parquet_pages_put_text(&encoder->raw,
                                   text_between(&column->rows.bytes, numbers[i], numbers[i + 1]));
    }
}

static bool is_there(const struct whole_column *rows, size_t row)
{
    return rows->validity == NULL || (rows->validity[row / 8] >> row % 8 & 1) != 0;
}

/* Writes which rows have a value: their length, then run-length encoded bits.  Returns their
 * number. */
static size_t put_levels(struct parquet_encoder *encoder, const struct whole_column *rows,
                         size_t from, size_t count)
{
    uint32_t levels[PARQUET_PAGE_ROWS];
    size_t start = encoder->raw.bytes.length, values = 0;
    for (size_t i = 0; i < count; i += 8) { /* pages begin at whole bytes */
        unsigned bits = rows->validity != NULL ? rows->validity[(from + i) / 8] : 0xff;
        for (size_t k = 0; k < 8; k++)
            levels[i + k] = bits >> k & 1;
    }
    for (size_t i = 0; i < count; i++)
        values += levels[i];
    bytes_put_little(&encoder->raw, 0, 4);
    parquet_put_hybrid(&encoder->raw, levels, count, 1);
    if (!encoder->raw.failed)
        step_store_u32(encoder->raw.bytes.data + start,
                       (uint32_t) (encoder->raw.bytes.length - start - 4));
    return values;
}

/* Returns the stored size of the first page's values with this encoding. */
static size_t try_encoding(const struct parquet_column *column, struct parquet_encoder *encoder,
                           enum parquet_encoding encoding, size_t count)
{
    bytes_clear(&encoder->raw);
    parquet_pages_put_values(column, encoder, encoding, 0, count);
    compress_page(encoder);
    return encoder->stored.bytes.length;
}

static enum parquet_encoding choose_encoding(const struct parquet_column *column,
                                             struct parquet_encoder *encoder, bool *good)
{
    enum table_type type = column->about->type;
    *good = true;
    if (type == TABLE_TEXT || type == TABLE_DATA || type == TABLE_BOOL)
        return PARQUET_PLAIN;
    encoder->entry_count = column->rows.name_count;
    if (type == TABLE_NAME)
        return PARQUET_RLE_DICTIONARY;
    *good = STEP_MAKE_ROOM(encoder->indices, encoder->index_capacity, column->value_count);
    if (!*good)
        return PARQUET_PLAIN;
    bool has_few = index_numbers(encoder, column->rows.values, column->value_count);
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
    if (column->about->nullable)
        values = put_levels(encoder, &column->rows, row, rows);
    page->null_count = rows - values;
    page->all_null = values == 0;
    if (values > 0 && chunk->has_bounds)
        chunk->has_bounds = find_bounds(column, *value, values, &page->least, &page->most);
    parquet_pages_put_values(column, encoder, chunk->encoding, *value, values);
    put_page(encoder, DATA_PAGE, rows, chunk->encoding, out, chunk);
    *value += values;
    page->stored_bytes = (uint32_t) (out->bytes.length - page->offset);
}

/* Moves the values of `size` bytes that are not null together.  Returns their number. */
static inline __attribute__((always_inline)) size_t parquet_pages_gather(
    const struct whole_column *rows, char *values, size_t size, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (is_there(rows, i))
            memmove(values + kept++ * size, values + i * size, size);
    return kept;
}

/* Moves the values that are not null together, as their pages have them. */
static void gather_values(struct parquet_column *column, size_t row_count)
{
    const struct whole_column *rows = &column->rows;
    size_t before = whole_column_bytes(rows->type, 0); /* a text has an end after its start */
    size_t size = whole_column_bytes(rows->type, 1) - before;
    char *values = (char *) rows->values + before;
    column->value_count = row_count;
    if (column->about->nullable && rows->validity != NULL)
        column->value_count =
            size == sizeof(uint64_t)   ? parquet_pages_gather(rows, values, 8, row_count)
            : size == sizeof(uint32_t) ? parquet_pages_gather(rows, values, 4, row_count)
                                       : parquet_pages_gather(rows, values, size, row_count);
    for (size_t i = 0; column->added != 0 && i < column->value_count; i++)
        ((uint64_t *) rows->values)[i] += column->added;
}

bool parquet_column_encode(struct parquet_column *column, size_t row_count,
                           struct parquet_encoder *encoder, struct byte_output *out,
                           struct parquet_chunk *chunk)
{
    bool good;
    size_t value = 0;
    size_t pages = row_count / PARQUET_PAGE_ROWS + 1;
    gather_values(column, row_count);
    *chunk = (struct parquet_chunk){.row_count = row_count,
                                    .null_count = row_count - column->value_count,
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
    for (size_t row = 0; good && !out->failed && row < row_count; row += PARQUET_PAGE_ROWS) {
        size_t left = row_count - row;
        put_data_page(column, encoder, row, left < PARQUET_PAGE_ROWS ? left : PARQUET_PAGE_ROWS,
                      &value, out, chunk);
    }
    whole_column_reset(&column->rows);
    return good && !out->failed;
}
