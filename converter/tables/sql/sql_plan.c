/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes plans as text: "1f|=0 <6 g1 #2" is the mask of used columns, then operator and column
 * of each condition; # marks a column to group by. */
#include "converter/tables/sql/sql_plan.h"

#include <math.h>
#include <sqlite3ext.h>
#include <stdlib.h>
#include <string.h>
SQLITE_EXTENSION_INIT3

#define ROWS_WHERE_NONE_KNOWN 1e6
#define LARGEST 9223372036854775807.0
enum { VTAB_DISTINCT_SINCE = 3038000 };

/* ---- planning ---- */

static bool has_numbers(enum table_type type)
{
    return type == TABLE_UINT || type == TABLE_INT || type == TABLE_TIME || type == TABLE_DURATION;
}

/* Returns the letter of a condition that a scan can use, or 0. */
static char letter_of(const struct table *table, int column, unsigned char operation)
{
    if (column < 0 || (size_t) column >= table->column_count)
        return 0;
    const struct table_column *of = &table->columns[column];
    if (has_numbers(of->type))
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
        if (letter == 0 || count == SQL_CONDITIONS_MOST || (is_class && has_class))
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

bool sql_plan_read(struct sql_plan *plan, const struct table *table, const char *text,
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
    return true;
}

void sql_plan_reset(struct sql_plan *plan)
{
    sqlite3_free(plan->class_glob);
    *plan = (struct sql_plan){0};
}
