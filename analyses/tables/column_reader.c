/* SPDX-License-Identifier: Apache-2.0 */
/* Collects batches into whole columns.  A batch may be used by several calls.  The lock of a shared
 * trace is recursive: Python's garbage collector may destroy scans of the same trace during a scan.
 */
#include "analyses/tables/column_reader.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "converter/cli/utf8_text.h"
#include "converter/containers/fresh_memory.h"
#include "converter/containers/no_memory.h"
#include "format/core/grow.h"

struct shared_tables {
    struct tables *tables;
    pthread_mutex_t lock;
    atomic_size_t references;
};

enum step_status shared_tables_open(const char *path, struct shared_tables **out,
                                    struct step_error *error)
{
    *out = NULL;
    struct shared_tables *shared = calloc(1, sizeof *shared);
    if (shared == NULL)
        return no_memory(error);
    enum step_status status = tables_open(path, &shared->tables, error);
    if (status != STEP_STATUS_OK) {
        free(shared);
        return status;
    }
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&shared->lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
    atomic_init(&shared->references, 1);
    *out = shared;
    return status;
}

static struct shared_tables *shared_tables_hold(struct shared_tables *shared)
{
    atomic_fetch_add(&shared->references, 1);
    return shared;
}

void shared_tables_release(struct shared_tables *shared)
{
    if (shared == NULL || atomic_fetch_sub(&shared->references, 1) > 1)
        return;
    tables_close(shared->tables);
    pthread_mutex_destroy(&shared->lock);
    free(shared);
}

struct tables *shared_tables_lock(struct shared_tables *shared)
{
    pthread_mutex_lock(&shared->lock);
    return shared->tables;
}

void shared_tables_unlock(struct shared_tables *shared)
{
    pthread_mutex_unlock(&shared->lock);
}

const struct tables *shared_tables_borrow(const struct shared_tables *shared)
{
    return shared->tables;
}

/* ---- growing columns ----
 * Huge pages do not help: if memory is fragmented, finding them takes the kernel three times as
 * long as filling small pages. */

static bool column_reader_is_text(enum table_type type)
{
    return type == TABLE_TEXT || type == TABLE_DATA;
}

size_t whole_column_bytes(enum table_type type, size_t rows)
{
    return type == TABLE_BOOL   ? rows
           : type == TABLE_NAME ? rows * sizeof(int32_t)
                                : (rows + column_reader_is_text(type)) * sizeof(uint64_t);
}

bool whole_column_resize(struct whole_column *column, size_t old, size_t capacity)
{
    void *values = realloc(column->values, whole_column_bytes(column->type, capacity));
    if (values == NULL)
        return false;
    if (column->values == NULL && column_reader_is_text(column->type))
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

/* ---- validity ---- */

/* Sets `count` bits from `at` on; the following bits must be 0. */
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
    if (vector->dictionary->count == 0) { /* all rows are null */
        for (size_t i = 0; i < count; i++)
            values[i] = -1;
        return true;
    }
    if (!STEP_MAKE_ZEROED_ROOM(column->places, column->place_count, vector->dictionary->count))
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

/* ---- all types ---- */

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

/* Prefaults memory somewhat ahead of the next rows. */
static void ask_memory(struct whole_column *column, size_t rows, size_t capacity)
{
    size_t all = whole_column_bytes(column->type, capacity);
    size_t needed = whole_column_bytes(column->type, rows);
    if (needed <= column->fresh_bytes || all < FRESH_MEMORY_BYTES)
        return;
    size_t to = needed + FRESH_MEMORY_BYTES < all ? needed + FRESH_MEMORY_BYTES : all;
    fresh_memory_ask((uint8_t *) column->values + column->fresh_bytes, to - column->fresh_bytes);
    column->fresh_bytes = to;
}

/* Returns where to store the next `count` values of numbers or bools, after `rows` existing
 * rows; NULL for other types. */
static void *whole_column_place(struct whole_column *column, size_t rows, size_t count,
                                size_t capacity)
{
    if (column->type == TABLE_NAME || column_reader_is_text(column->type))
        return NULL;
    ask_memory(column, rows + count, capacity);
    return (uint8_t *) column->values + whole_column_bytes(column->type, rows);
}

/* Copies values unless they are already in place. */
static void append_values(struct whole_column *column, const struct table_vector *vector,
                          size_t from, size_t count, size_t at)
{
    size_t bytes = whole_column_bytes(column->type, 1);
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

/* Small enough for a batch to stay in the cache until it is copied. */
#define BATCH_ROWS ((size_t) 4096)
/* Limit for the row count of an index, which may be damaged, when allocating memory. */
#define ROWS_AT_FIRST ((uint64_t) 1 << 24)

struct column_reader {
    struct shared_tables *shared;
    const struct table *table;
    size_t *columns; /* of the table */
    size_t column_count;
    struct table_scan *scan;
    const struct table_batch *batch; /* NULL: fetch the next */
    size_t batch_row;
    uint64_t expected; /* number of rows if the whole table is read; 0: unknown */
};

void whole_columns_reset(struct whole_columns *columns)
{
    for (size_t i = 0; columns->columns != NULL && i < columns->column_count; i++)
        whole_column_reset(&columns->columns[i]);
    free(columns->columns);
    *columns = (struct whole_columns){0};
}

/* ---- life cycle ---- */

static bool is_whole_table(const struct table_query *query)
{
    return query->range_count == 0 && query->threads == NULL && query->class_glob == NULL;
}

static enum step_status column_reader_start(struct column_reader *reader,
                                            const struct table_query *query,
                                            struct step_error *error)
{
    struct tables *tables = shared_tables_lock(reader->shared);
    struct table_query small = *query;
    if (small.batch_rows == 0)
        small.batch_rows = BATCH_ROWS;
    enum step_status status =
        table_scan_create(tables, reader->table, &small, &reader->scan, error);
    if (is_whole_table(query))
        reader->expected =
            query->part != NULL ? query->part->rows : table_row_count(tables, reader->table);
    shared_tables_unlock(reader->shared);
    return status;
}

enum step_status column_reader_create(struct shared_tables *shared, const struct table *table,
                                      const struct table_query *query, struct column_reader **out,
                                      struct step_error *error)
{
    *out = NULL;
    struct column_reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL)
        return no_memory(error);
    reader->shared = shared_tables_hold(shared);
    reader->table = table;
    reader->column_count = query->columns != NULL ? query->column_count : table->column_count;
    reader->columns = calloc(reader->column_count + 1, sizeof *reader->columns);
    enum step_status status =
        reader->columns != NULL ? column_reader_start(reader, query, error) : no_memory(error);
    for (size_t i = 0; reader->columns != NULL && i < reader->column_count; i++)
        reader->columns[i] = query->columns != NULL ? query->columns[i] : i;
    if (status != STEP_STATUS_OK) {
        column_reader_destroy(reader);
        return status;
    }
    *out = reader;
    return status;
}

void column_reader_destroy(struct column_reader *reader)
{
    if (reader == NULL)
        return;
    shared_tables_lock(reader->shared);
    table_scan_destroy(reader->scan);
    shared_tables_unlock(reader->shared);
    shared_tables_release(reader->shared);
    free(reader->columns);
    free(reader);
}

/* ---- rows ---- */

static bool resize_all(struct whole_columns *out, size_t old, size_t capacity)
{
    for (size_t i = 0; i < out->column_count; i++)
        if (!whole_column_resize(&out->columns[i], old, capacity))
            return false;
    return true;
}

/* Ensures capacity for `count` more rows. */
static bool has_room(struct whole_columns *out, size_t count, size_t *capacity)
{
    size_t wanted = out->row_count + count;
    if (wanted <= *capacity)
        return true;
    size_t larger = *capacity + *capacity / 2;
    larger = larger > wanted ? larger : wanted;
    bool good = resize_all(out, *capacity, larger);
    *capacity = larger;
    return good;
}

static bool column_reader_append(struct column_reader *reader, size_t count,
                                 struct whole_columns *out, size_t capacity)
{
    for (size_t i = 0; i < out->column_count; i++)
        if (!whole_column_append(&out->columns[i], &reader->batch->vectors[i], reader->batch_row,
                                 count, out->row_count, capacity))
            return false;
    out->row_count += count;
    reader->batch_row += count;
    return true;
}

/* Lends memory for the next batch's values if the whole batch fits. */
static void lend(struct column_reader *reader, uint64_t most, struct whole_columns *out,
                 size_t capacity)
{
    size_t rows = out->row_count, batch = table_scan_batch_rows(reader->scan);
    bool has_room = most - rows >= batch && rows + batch <= capacity;
    for (size_t i = 0; i < out->column_count; i++)
        table_scan_lend(reader->scan, i,
                        has_room ? whole_column_place(&out->columns[i], rows, batch, capacity)
                                 : NULL);
}

static void take_back(struct column_reader *reader)
{
    for (size_t i = 0; i < reader->column_count; i++)
        table_scan_lend(reader->scan, i, NULL);
}

static enum step_status fetch(struct column_reader *reader, uint64_t most,
                              struct whole_columns *out, size_t capacity, struct step_error *error)
{
    if (reader->batch != NULL && reader->batch_row < reader->batch->row_count)
        return STEP_STATUS_OK;
    reader->batch_row = 0;
    lend(reader, most, out, capacity);
    return table_scan_next(reader->scan, &reader->batch, error);
}

static enum step_status column_reader_collect(struct column_reader *reader, uint64_t most,
                                              struct whole_columns *out, struct step_error *error)
{
    size_t capacity = 0;
    uint64_t expected = reader->expected < most ? reader->expected : most;
    expected = expected < ROWS_AT_FIRST ? expected : ROWS_AT_FIRST;
    enum step_status status = STEP_STATUS_OK;
    while (out->row_count < most &&
           (status = fetch(reader, most, out, capacity, error)) == STEP_STATUS_OK) {
        size_t count = reader->batch->row_count - reader->batch_row;
        count = count < most - out->row_count ? count : (size_t) (most - out->row_count);
        if (!has_room(out, capacity == 0 && expected > count ? expected : count, &capacity) ||
            !column_reader_append(reader, count, out, capacity))
            return no_memory(error);
    }
    if (status == STEP_STATUS_END && out->row_count > 0)
        status = STEP_STATUS_OK;
    if (status == STEP_STATUS_OK && out->row_count < capacity &&
        !resize_all(out, capacity, out->row_count))
        return no_memory(error);
    return status;
}

enum step_status column_reader_next(struct column_reader *reader, uint64_t most,
                                    struct whole_columns *out, struct step_error *error)
{
    *out = (struct whole_columns){.column_count = reader->column_count};
    out->columns = calloc(reader->column_count + 1, sizeof *out->columns);
    if (out->columns == NULL)
        return no_memory(error);
    for (size_t i = 0; i < reader->column_count; i++)
        out->columns[i].type = column_reader_column(reader, i)->type;
    shared_tables_lock(reader->shared);
    enum step_status status = column_reader_collect(reader, most, out, error);
    take_back(reader);
    shared_tables_unlock(reader->shared);
    if (status != STEP_STATUS_OK)
        whole_columns_reset(out);
    return status;
}

/* ---- accessors ---- */

size_t column_reader_column_count(const struct column_reader *reader)
{
    return reader->column_count;
}

const struct table_column *column_reader_column(const struct column_reader *reader, size_t i)
{
    return &reader->table->columns[reader->columns[i]];
}

struct shared_tables *column_reader_borrow_tables(const struct column_reader *reader)
{
    return reader->shared;
}

struct table_scan_work column_reader_work(struct column_reader *reader)
{
    shared_tables_lock(reader->shared);
    struct table_scan_work work = table_scan_work(reader->scan);
    shared_tables_unlock(reader->shared);
    return work;
}
