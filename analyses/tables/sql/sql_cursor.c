/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Returns rows from batches.  Joins look up dictionary entries by id repeatedly, so small
 * dictionaries are read once as a whole.
 */
#include "analyses/tables/sql/sql_cursor.h"

#include <math.h>
#include <sqlite3ext.h>
#include <stdlib.h>
#include <string.h>

#include "format/core/search.h"

SQLITE_EXTENSION_INIT3

#define ROWS_WHERE_NONE_KNOWN 1e6
#define LARGEST 9223372036854775807.0
enum { VTAB_DISTINCT_SINCE = 3038000 };

/* ---- planning ---- */

/* Returns the letter of a condition that a scan can use, or 0. */
static char letter_of(const struct table *table, int column, unsigned char operation)
{
    if (column < 0 || (size_t) column >= table->column_count)
        return 0;
    const struct table_column *of = &table->columns[column];
    if (table_type_has_numbers(of->type))
        return operation == SQLITE_INDEX_CONSTRAINT_EQ   ? '='
               : operation == SQLITE_INDEX_CONSTRAINT_GT ? '>'
               : operation == SQLITE_INDEX_CONSTRAINT_GE ? ')'
               : operation == SQLITE_INDEX_CONSTRAINT_LT ? '<'
               : operation == SQLITE_INDEX_CONSTRAINT_LE ? '('
                                                         : 0;
    if (of->type == TABLE_NAME && strcmp(of->name, "class") == 0)
        return operation == SQLITE_INDEX_CONSTRAINT_EQ     ? 'e'
               : operation == SQLITE_INDEX_CONSTRAINT_GLOB ? 'g'
                                                           : 0;
    return 0;
}

static double rows_left(char letter)
{
    return letter == '=' ? 0.05 : letter == 'e' || letter == 'g' ? 0.1 : 0.3;
}

/* ---- groups ---- */

/* Returns whether a column typically has few distinct values. */
static bool has_few_values(const struct table_column *column)
{
    static const char *const names[] = {"class_id", "method_id", "thread",    "site",
                                        "survived", "depth",     "collection"};
    bool few = column->type == TABLE_NAME || column->type == TABLE_BOOL;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        few = few || strcmp(column->name, names[i]) == 0;
    return few;
}

static bool has_texts(const struct table *table, sqlite3_uint64 used)
{
    bool has = false;
    for (size_t i = 0; i < table->column_count; i++)
        has =
            has || ((used >> (i < 63 ? i : 63) & 1) != 0 &&
                    (table->columns[i].type == TABLE_TEXT || table->columns[i].type == TABLE_DATA));
    return has;
}

/* Returns whether SQLite wants rows with equal values to be adjacent in any order (group by,
 * distinct), and grouping is cheaper than its sorting. */
static bool can_group(const struct table *table, sqlite3_index_info *info)
{
    if (info->nOrderBy < 1 || info->nOrderBy > SQL_GROUP_KEYS_MOST ||
        sqlite3_libversion_number() < VTAB_DISTINCT_SINCE || has_texts(table, info->colUsed))
        return false;
    int wanted = sqlite3_vtab_distinct(info);
    bool can = wanted == 1 || wanted == 2;
    for (int i = 0; can && i < info->nOrderBy; i++) {
        int column = info->aOrderBy[i].iColumn;
        can = column >= 0 && (size_t) column < table->column_count &&
              has_few_values(&table->columns[column]);
    }
    return can;
}

int sql_plan_choose(const struct tables *tables, const struct table *table,
                    sqlite3_index_info *info)
{
    double rows = (double) table_row_count(tables, table);
    bool is_unique = false;
    bool has_class = false;
    int count = 0;
    char *text = sqlite3_mprintf("%llx|", (sqlite3_uint64) info->colUsed);
    rows = rows > 0 ? rows : ROWS_WHERE_NONE_KNOWN;
    for (int i = 0; i < info->nConstraint && text != NULL; i++) {
        int column = info->aConstraint[i].iColumn;
        char letter =
            info->aConstraint[i].usable ? letter_of(table, column, info->aConstraint[i].op) : 0;
        bool is_class = letter == 'e' || letter == 'g';
        if (letter == 0 || count == SQL_CONDITIONS_MOST || (is_class && has_class) ||
            (letter == 'e' && strcmp(sqlite3_vtab_collation(info, i), "BINARY") != 0))
            continue;
        info->aConstraintUsage[i].argvIndex = ++count;
        text = sqlite3_mprintf("%z%c%d ", text, letter, column);
        has_class = has_class || is_class;
        is_unique =
            is_unique || (letter == '=' && table_has_fast_range(tables, table, (size_t) column));
        rows *= rows_left(letter);
    }
    if (!is_unique && can_group(table, info)) {
        info->orderByConsumed = 1;
        for (int i = 0; i < info->nOrderBy && text != NULL; i++)
            text = sqlite3_mprintf("%z#%d ", text, info->aOrderBy[i].iColumn);
    }
    if (text == NULL)
        return SQLITE_NOMEM;
    info->idxStr = text;
    info->needToFreeIdxStr = 1;
    info->estimatedCost = is_unique ? 1 : rows + 10;
    info->estimatedRows = is_unique ? 1 : (sqlite3_int64) rows + 1;
    if (is_unique)
        info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
    return SQLITE_OK;
}

/* ---- reading ---- */

static void limit_integer(struct table_range *range, char letter, int64_t value, bool *is_empty)
{
    if ((letter == '>' && value == INT64_MAX) || (letter == '<' && value == INT64_MIN)) {
        *is_empty = true;
        return;
    }
    if (letter == '=' || letter == ')' || letter == '>')
        range->least = (uint64_t) (letter == '>' ? value + 1 : value);
    if (letter == '=' || letter == '(' || letter == '<')
        range->most = (uint64_t) (letter == '<' ? value - 1 : value);
}

/* Converts a condition with a floating-point number to one with integers.  Numbers near 2^63 set
 * no limit. */
static void limit_real(struct table_range *range, char letter, double value, bool *is_empty)
{
    if (isnan(value)) {
        *is_empty = true;
        return;
    }
    if (fabs(value) >= LARGEST / 2)
        return;
    bool up = letter == ')' || letter == '<';
    double rounded = up ? ceil(value) : floor(value);
    if (letter == '=' && rounded != value)
        *is_empty = true;
    else
        limit_integer(range, letter, (int64_t) rounded, is_empty);
}

/* Converts a SQLite glob to ours if both mean the same; otherwise returns NULL. */
static char *class_glob(char letter, const char *text)
{
    if (text == NULL || strpbrk(text, letter == 'e' ? ".*?" : ".?[") != NULL)
        return NULL;
    char *glob = sqlite3_malloc64(2 * strlen(text) + 1);
    char *out = glob;
    for (const char *at = text; glob != NULL && *at != '\0'; at++) {
        *out++ = *at;
        if (*at == '*' && at[1] != '*')
            *out++ = '*';
    }
    if (glob != NULL)
        *out = '\0';
    return glob;
}

static void read_condition(struct sql_plan *plan, char letter, size_t column, sqlite3_value *value)
{
    if (letter == 'e' || letter == 'g') {
        if (sqlite3_value_type(value) == SQLITE_TEXT)
            plan->class_glob = class_glob(letter, (const char *) sqlite3_value_text(value));
        return;
    }
    struct table_range range = {column, (uint64_t) INT64_MIN, (uint64_t) INT64_MAX, true};
    switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
        limit_integer(&range, letter, sqlite3_value_int64(value), &plan->is_empty);
        break;
    case SQLITE_FLOAT:
        limit_real(&range, letter, sqlite3_value_double(value), &plan->is_empty);
        break;
    case SQLITE_NULL:
        plan->is_empty = true;
        break;
    default: /* text: leave the comparison to SQLite */
        break;
    }
    plan->ranges[plan->range_count++] = range;
}

/* Decodes a plan; a condition that cannot be decoded sets no limit. */
static void sql_plan_read(struct sql_plan *plan, const struct table *table, const char *text,
                          sqlite3_value **values)
{
    char *end = NULL;
    *plan = (struct sql_plan){.columns_used = strtoull(text, &end, 16)};
    for (size_t i = 0; *end == '|' || *end == ' ';) {
        char letter = end[1];
        if (letter == '\0')
            break;
        size_t column = strtoul(end + 2, &end, 10);
        if (column >= table->column_count || (letter != '#' && i >= SQL_CONDITIONS_MOST))
            break;
        if (letter != '#') {
            read_condition(plan, letter, column, values[i++]);
        } else if (plan->group_count < SQL_GROUP_KEYS_MOST) {
            plan->columns_used |= UINT64_C(1) << (column < 63 ? column : 63);
            plan->group_columns[plan->group_count++] = column;
        }
    }
}

enum { LOOKED_UP_MOST = 1 << 18, LOOK_UPS_BEFORE_ALL = 8 };

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

static void end_groups(struct sql_cursor *cursor)
{
    sql_groups_destroy(cursor->groups);
    cursor->groups = NULL;
    cursor->grouped_batches = 0;
}

static void end_scans(struct sql_cursor *cursor)
{
    end_groups(cursor);
    table_scan_destroy(cursor->scan);
    table_scan_destroy(cursor->all);
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
static void sql_cursor_choose_columns(struct sql_cursor *cursor, uint64_t used, bool has_key)
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

/* Reads the dictionary unless it is too large: all of it, or as much as one batch has (of stacks'
 * texts). */
static enum step_status read_entries(struct sql_cursor *cursor, struct step_error *error)
{
    uint64_t rows = table_row_count(cursor->tables, cursor->table);
    if (rows == 0 || rows > LOOKED_UP_MOST)
        return STEP_STATUS_OK;
    const struct table_query query = {.columns = cursor->columns,
                                      .column_count = cursor->column_count,
                                      .batch_rows = (size_t) rows,
                                      .has_row_ids = true};
    enum step_status status =
        table_scan_create(cursor->tables, cursor->table, &query, &cursor->all, error);
    if (status == STEP_STATUS_OK)
        status = table_scan_next(cursor->all, &cursor->entries, error);
    return status == STEP_STATUS_END ? STEP_STATUS_OK : status;
}

/* Finds the row of an entry.  Returns false if there is none. */
static bool sql_cursor_find_entry(const struct sql_cursor *cursor, uint64_t id, size_t *row)
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

/* Returns false for an entry that may be behind those that were read. */
static bool has_read_entry(const struct sql_cursor *cursor, uint64_t id)
{
    size_t count = cursor->entries != NULL ? cursor->entries->row_count : 0;
    return count != 0 && id <= cursor->entries->vectors[cursor->places[0]].numbers[count - 1];
}

static void sql_cursor_look_up(struct sql_cursor *cursor, uint64_t id)
{
    cursor->is_look_up = true;
    cursor->batch = cursor->entries;
    cursor->at_end = !sql_cursor_find_entry(cursor, id, &cursor->row);
}

/* ---- rows ---- */

static enum step_status take_batch(struct sql_cursor *cursor, struct step_error *error)
{
    enum step_status status = cursor->groups != NULL
                                  ? sql_groups_next(cursor->groups, &cursor->batch, error)
                                  : table_scan_next(cursor->scan, &cursor->batch, error);
    cursor->grouped_batches += cursor->groups != NULL;
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
                      : plan->group_count > 0  ? sql_groups_batch_rows()
                                               : 0,
        .has_row_ids = true,
    };
    cursor->scan_has_class = plan->class_glob != NULL;
    return table_scan_create(cursor->tables, cursor->table, &query, &cursor->scan, error);
}

/* Groups the rows of the scan.  Few queries ask for their ids, which are as many bytes as all else.
 */
static enum step_status group(struct sql_cursor *cursor, const struct sql_plan *plan, bool has_ids,
                              struct step_error *error)
{
    size_t keys[SQL_GROUP_KEYS_MOST];
    end_groups(cursor);
    if (plan->group_count == 0)
        return STEP_STATUS_OK;
    for (size_t i = 0; i < plan->group_count; i++) {
        keys[i] = cursor->places[plan->group_columns[i]];
        if (keys[i] == SIZE_MAX)
            return step_error_set(error, STEP_STATUS_INVALID, NULL, STEP_NO_OFFSET,
                                  "a column of groups is not read");
    }
    cursor->grouping = *plan;
    cursor->grouping.class_glob = NULL; /* it is the caller's; the scan has it */
    cursor->has_grouped_ids = has_ids;
    return sql_groups_create(cursor->scan, keys, plan->group_count,
                             cursor->column_count + (has_ids ? 1 : 0), &cursor->groups, error);
}

/* Reads the scan once more, for groups whose rows have their ids, up to the current batch. */
static enum step_status group_with_ids(struct sql_cursor *cursor, struct step_error *error)
{
    const struct sql_plan plan = cursor->grouping;
    uint64_t batches = cursor->grouped_batches;
    size_t row = cursor->row;
    end_groups(cursor); /* before there are others */
    enum step_status status =
        table_scan_restart(cursor->scan, plan.ranges, plan.range_count, error);
    if (status == STEP_STATUS_OK)
        status = group(cursor, &plan, true, error);
    while (status == STEP_STATUS_OK && cursor->grouped_batches < batches)
        status = take_batch(cursor, error);
    cursor->row = row;
    return status;
}

static enum step_status start(struct sql_cursor *cursor, const struct sql_plan *plan,
                              const char *text, struct step_error *error)
{
    bool is_same = cursor->plan != NULL && strcmp(cursor->plan, text) == 0;
    enum step_status status = STEP_STATUS_OK;
    if (!is_same) {
        end_scans(cursor);
        sql_cursor_choose_columns(cursor, plan->columns_used, is_look_up(cursor, plan));
        cursor->plan = strdup(text);
    }
    if (is_look_up(cursor, plan) && ++cursor->look_ups == LOOK_UPS_BEFORE_ALL)
        status = read_entries(cursor, error);
    if (status != STEP_STATUS_OK)
        return status;
    if (is_look_up(cursor, plan) && has_read_entry(cursor, plan->ranges[0].least)) {
        sql_cursor_look_up(cursor, plan->ranges[0].least);
        return status;
    }
    if (cursor->scan != NULL && plan->class_glob == NULL && !cursor->scan_has_class)
        status = table_scan_restart(cursor->scan, plan->ranges, plan->range_count, error);
    else {
        table_scan_destroy(cursor->scan);
        cursor->scan = NULL;
        status = make_scan(cursor, plan, error);
    }
    if (status == STEP_STATUS_OK)
        status = group(cursor, plan, false, error);
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
    sql_plan_read(&plan, cursor->table, text, values);
    if (plan.is_empty)
        cursor->at_end = true;
    else
        status = start(cursor, &plan, text, error);
    sqlite3_free(plan.class_glob);
    return status;
}

enum step_status sql_cursor_next(struct sql_cursor *cursor, struct step_error *error)
{
    if (cursor->is_look_up) {
        cursor->at_end = true;
        return STEP_STATUS_OK;
    }
    return ++cursor->row < cursor->row_end ? STEP_STATUS_OK : take_batch(cursor, error);
}

enum step_status sql_cursor_row_id(struct sql_cursor *cursor, sqlite3_int64 *out,
                                   struct step_error *error)
{
    enum step_status status = STEP_STATUS_OK;
    if (cursor->groups != NULL && !cursor->is_look_up && !cursor->has_grouped_ids)
        status = group_with_ids(cursor, error);
    if (status == STEP_STATUS_OK)
        *out = (sqlite3_int64) cursor->batch->vectors[cursor->column_count].numbers[cursor->row];
    return status;
}

int sql_cursor_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    const struct sql_cursor *cursor = (const struct sql_cursor *) base;
    size_t place = cursor->places[column];
    if (place == SIZE_MAX)
        return SQLITE_OK;
    const struct table_vector *vector = &cursor->batch->vectors[place];
    size_t row = cursor->row;
    if (table_vector_is_null(vector, row))
        return SQLITE_OK;
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
    return SQLITE_OK;
}
