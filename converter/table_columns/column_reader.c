/* SPDX-License-Identifier: Apache-2.0 */
/* Batches into whole columns.  The batch at hand may be used up by the next call only. */
#include "converter/table_columns/column_reader.h"

#include <stdlib.h>
#include <string.h>

#include "converter/base/no_memory.h"
#include "converter/table_columns/column_room.h"

/* A batch that stays in the cache until it is copied. */
#define BATCH_ROWS ((size_t) 4096)
/* What an index says of rows is believed so far. */
#define ROWS_AT_FIRST ((uint64_t) 1 << 24)

struct column_reader {
    struct shared_tables *shared;
    const struct table *table;
    size_t *columns; /* of the table */
    size_t column_count;
    struct table_scan *scan;
    const struct table_batch *batch; /* NULL: the next is to be fetched */
    size_t batch_row;
    uint64_t expected; /* rows of the table, where all are asked for; 0: not known */
};

void whole_columns_reset(struct whole_columns *columns)
{
    for (size_t i = 0; columns->columns != NULL && i < columns->column_count; i++)
        whole_column_reset(&columns->columns[i]);
    free(columns->columns);
    *columns = (struct whole_columns){0};
}

/* ---- from start to end ---- */

static bool is_whole_table(const struct table_query *query)
{
    return query->range_count == 0 && query->threads == NULL && query->class_glob == NULL;
}

static enum step_status start(struct column_reader *reader, const struct table_query *query,
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
        reader->columns != NULL ? start(reader, query, error) : no_memory(error);
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

/* Room for `count` more rows. */
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

static bool append(struct column_reader *reader, size_t count, struct whole_columns *out,
                   size_t capacity)
{
    for (size_t i = 0; i < out->column_count; i++)
        if (!whole_column_append(&out->columns[i], &reader->batch->vectors[i], reader->batch_row,
                                 count, out->row_count, capacity))
            return false;
    out->row_count += count;
    reader->batch_row += count;
    return true;
}

/* The next batch's values may come where they belong, if the whole batch has room there. */
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

static enum step_status collect(struct column_reader *reader, uint64_t most,
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
            !append(reader, count, out, capacity))
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
    enum step_status status = collect(reader, most, out, error);
    take_back(reader);
    shared_tables_unlock(reader->shared);
    if (status != STEP_STATUS_OK)
        whole_columns_reset(out);
    return status;
}

/* ---- what it is about ---- */

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
