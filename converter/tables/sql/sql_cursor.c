/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Returns rows from batches.  Joins look up dictionary entries by id repeatedly, so small
 * dictionaries are read once as a whole.
 */
#include "converter/tables/sql/sql_cursor.h"

#include <sqlite3ext.h>
#include <stdlib.h>
#include <string.h>

#include "format/core/search.h"
SQLITE_EXTENSION_INIT3

enum { LOOKED_UP_MOST = 1 << 18, LOOK_UPS_BEFORE_ALL = 8 };

struct sql_cursor {
    struct tables *tables;
    const struct table *table;
    struct table_scan *scan;
    const struct table_batch *batch;
    size_t row, row_end;       /* in the batch */
    struct sql_groups *groups; /* of the scan, if rows are grouped */
    sqlite3_int64 row_number;
    size_t *places; /* by column: its position in the batch; SIZE_MAX: none */
    size_t *columns;
    size_t column_count;
    bool at_end;
    char *plan;             /* the plan of the scan */
    struct table_scan *all; /* the whole dictionary */
    const struct table_batch *entries;
    uint64_t look_ups;
    bool is_look_up; /* the current row is in `entries` */
};

struct sql_cursor *sql_cursor_create(struct tables *tables, const struct table *table)
{
    struct sql_cursor *cursor = calloc(1, sizeof *cursor);
    if (cursor == NULL)
        return NULL;
    cursor->tables = tables;
    cursor->table = table;
    cursor->places = calloc(table->column_count + 1, sizeof *cursor->places);
    cursor->columns = calloc(table->column_count + 1, sizeof *cursor->columns);
    if (cursor->places == NULL || cursor->columns == NULL) {
        sql_cursor_destroy(cursor);
        return NULL;
    }
    return cursor;
}

static void end_scans(struct sql_cursor *cursor)
{
    sql_groups_destroy(cursor->groups);
    table_scan_destroy(cursor->scan);
    table_scan_destroy(cursor->all);
    cursor->groups = NULL;
    free(cursor->plan);
    cursor->scan = cursor->all = NULL;
    cursor->batch = cursor->entries = NULL;
    cursor->plan = NULL;
    cursor->look_ups = 0;
}

void sql_cursor_destroy(struct sql_cursor *cursor)
{
    if (cursor == NULL)
        return;
    end_scans(cursor);
    free(cursor->places);
    free(cursor->columns);
    free(cursor);
}

/* SQLite's mask has a bit for each of the first 63 columns; the others share one. */
static void choose_columns(struct sql_cursor *cursor, uint64_t used, bool has_key)
{
    cursor->column_count = 0;
    for (size_t i = 0; i < cursor->table->column_count; i++) {
        bool is_used = (used >> (i < 63 ? i : 63) & 1) != 0 || (has_key && i == 0);
        cursor->places[i] = is_used ? cursor->column_count : SIZE_MAX;
        if (is_used)
            cursor->columns[cursor->column_count++] = i;
    }
}

/* ---- entries of dictionaries ---- */

static bool is_look_up(const struct sql_cursor *cursor, const struct sql_plan *plan)
{
    return plan->range_count == 1 && plan->class_glob == NULL && plan->ranges[0].column == 0 &&
           plan->ranges[0].least == plan->ranges[0].most &&
           table_has_fast_range(cursor->tables, cursor->table, 0);
}

/* Reads the whole dictionary unless it is too large. */
static enum step_status read_entries(struct sql_cursor *cursor, struct step_error *error)
{
    uint64_t rows = table_row_count(cursor->tables, cursor->table);
    if (rows == 0 || rows > LOOKED_UP_MOST)
        return STEP_STATUS_OK;
    const struct table_query query = {.columns = cursor->columns,
                                      .column_count = cursor->column_count,
                                      .batch_rows = (size_t) rows};
    enum step_status status =
        table_scan_create(cursor->tables, cursor->table, &query, &cursor->all, error);
    if (status == STEP_STATUS_OK)
        status = table_scan_next(cursor->all, &cursor->entries, error);
    return status == STEP_STATUS_END ? STEP_STATUS_OK : status;
}

/* Finds the row of an entry.  Returns false if there is none. */
static bool find_entry(const struct sql_cursor *cursor, uint64_t id, size_t *row)
{
    const uint64_t *ids = cursor->entries->vectors[cursor->places[0]].numbers;
    size_t count = cursor->entries->row_count;
    if (id >= ids[0] && id - ids[0] < count && ids[id - ids[0]] == id) {
        *row = (size_t) (id - ids[0]);
        return true;
    }
    *row = step_lower_bound(ids, count, id);
    return *row < count && ids[*row] == id;
}

static void look_up(struct sql_cursor *cursor, uint64_t id)
{
    cursor->is_look_up = true;
    cursor->batch = cursor->entries;
    cursor->at_end = !find_entry(cursor, id, &cursor->row);
}

/* ---- rows ---- */

static enum step_status take_batch(struct sql_cursor *cursor, struct step_error *error)
{
    if (cursor->groups != NULL) {
        cursor->at_end =
            !sql_groups_next(cursor->groups, &cursor->batch, &cursor->row, &cursor->row_end);
        return STEP_STATUS_OK;
    }
    enum step_status status = table_scan_next(cursor->scan, &cursor->batch, error);
    cursor->row = 0;
    cursor->row_end = status == STEP_STATUS_OK ? cursor->batch->row_count : 0;
    cursor->at_end = status == STEP_STATUS_END;
    return cursor->at_end ? STEP_STATUS_OK : status;
}

static enum step_status make_scan(struct sql_cursor *cursor, const struct sql_plan *plan,
                                  struct step_error *error)
{
    const struct table_query query = {
        .columns = cursor->columns,
        .column_count = cursor->column_count,
        .ranges = plan->ranges,
        .range_count = plan->range_count,
        .class_glob = plan->class_glob,
        .batch_rows = is_look_up(cursor, plan) ? 1
                      : plan->group_count > 0  ? SQL_GROUP_BATCH_ROWS
                                               : 0,
    };
    return table_scan_create(cursor->tables, cursor->table, &query, &cursor->scan, error);
}

/* Groups the rows of the scan. */
static enum step_status group(struct sql_cursor *cursor, const struct sql_plan *plan,
                              struct step_error *error)
{
    size_t keys[SQL_GROUP_KEYS_MOST];
    sql_groups_destroy(cursor->groups);
    cursor->groups = NULL;
    if (plan->group_count == 0)
        return STEP_STATUS_OK;
    for (size_t i = 0; i < plan->group_count; i++) {
        keys[i] = cursor->places[plan->group_columns[i]];
        if (keys[i] == SIZE_MAX)
            return step_error_set(error, STEP_STATUS_INVALID, NULL, STEP_NO_OFFSET,
                                  "a column of groups is not read");
    }
    return sql_groups_create(cursor->scan, keys, plan->group_count, cursor->column_count,
                             &cursor->groups, error);
}

static enum step_status start(struct sql_cursor *cursor, const struct sql_plan *plan,
                              const char *text, struct step_error *error)
{
    bool is_same = cursor->plan != NULL && strcmp(cursor->plan, text) == 0;
    enum step_status status = STEP_STATUS_OK;
    if (!is_same) {
        end_scans(cursor);
        choose_columns(cursor, plan->columns_used, is_look_up(cursor, plan));
        cursor->plan = strdup(text);
    }
    if (is_look_up(cursor, plan) && ++cursor->look_ups == LOOK_UPS_BEFORE_ALL)
        status = read_entries(cursor, error);
    if (status != STEP_STATUS_OK)
        return status;
    if (is_look_up(cursor, plan) && cursor->entries != NULL) {
        look_up(cursor, plan->ranges[0].least);
        return status;
    }
    if (cursor->scan != NULL && plan->class_glob == NULL)
        status = table_scan_restart(cursor->scan, plan->ranges, plan->range_count, error);
    else {
        table_scan_destroy(cursor->scan);
        cursor->scan = NULL;
        status = make_scan(cursor, plan, error);
    }
    if (status == STEP_STATUS_OK)
        status = group(cursor, plan, error);
    return status == STEP_STATUS_OK ? take_batch(cursor, error) : status;
}

enum step_status sql_cursor_start(struct sql_cursor *cursor, const char *text,
                                  sqlite3_value **values, struct step_error *error)
{
    struct sql_plan plan;
    enum step_status status = STEP_STATUS_OK;
    cursor->is_look_up = false;
    cursor->at_end = false;
    cursor->row = 0;
    cursor->row_number = 1;
    sql_plan_read(&plan, cursor->table, text, values);
    if (plan.is_empty)
        cursor->at_end = true;
    else
        status = start(cursor, &plan, text, error);
    sql_plan_reset(&plan);
    return status;
}

enum step_status sql_cursor_next(struct sql_cursor *cursor, struct step_error *error)
{
    cursor->row_number++;
    if (cursor->is_look_up) {
        cursor->at_end = true;
        return STEP_STATUS_OK;
    }
    return ++cursor->row < cursor->row_end ? STEP_STATUS_OK : take_batch(cursor, error);
}

bool sql_cursor_is_at_end(const struct sql_cursor *cursor)
{
    return cursor->at_end;
}

sqlite3_int64 sql_cursor_row(const struct sql_cursor *cursor)
{
    return cursor->row_number;
}

struct table_scan_work sql_cursor_work(const struct sql_cursor *cursor)
{
    return cursor->scan != NULL ? table_scan_work(cursor->scan) : (struct table_scan_work){0};
}

void sql_cursor_column(const struct sql_cursor *cursor, sqlite3_context *context, int column)
{
    size_t place = cursor->places[column];
    if (place == SIZE_MAX)
        return;
    const struct table_vector *vector = &cursor->batch->vectors[place];
    size_t row = cursor->row;
    if (table_vector_is_null(vector, row))
        return;
    struct step_bytes text;
    double real;
    switch (vector->type) {
    case TABLE_REAL:
        memcpy(&real, &vector->numbers[row], sizeof real);
        sqlite3_result_double(context, real);
        break;
    case TABLE_BOOL:
        sqlite3_result_int(context, vector->flags[row]);
        break;
    case TABLE_NAME: /* names live as long as the trace */
        text = vector->dictionary->texts[vector->codes[row]];
        sqlite3_result_text64(context, (const char *) text.data, text.length, SQLITE_STATIC,
                              SQLITE_UTF8);
        break;
    case TABLE_TEXT:
        text = vector->texts[row];
        sqlite3_result_text64(context, text.length > 0 ? (const char *) text.data : "", text.length,
                              SQLITE_TRANSIENT, SQLITE_UTF8);
        break;
    case TABLE_DATA:
        text = vector->texts[row];
        sqlite3_result_blob64(context, text.length > 0 ? (const void *) text.data : "", text.length,
                              SQLITE_TRANSIENT);
        break;
    default:
        sqlite3_result_int64(context, (sqlite3_int64) vector->numbers[row]);
    }
}
