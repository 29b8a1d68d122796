/* SPDX-License-Identifier: Apache-2.0 */
/* Runs statements in an in-memory database that has the traces' tables. */
#include "converter/tables/sql/sql_run.h"

#include <ctype.h>
#include <sqlite3.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "converter/base/csv_output.h"
#include "converter/base/error_report.h"
#include "converter/base/no_memory.h"
#include "converter/tables/sql/sql_module.h"
#include "converter/tables/table.h"
#include "format/core/grow.h"
#include "format/json/json_output.h"
#include "steptrace/show.h"

/* Column widths of a table are determined by its first rows; rows are printed as they arrive. */

enum { ROWS_MEASURED = 1000, WIDEST = 200 };

static struct step_bytes text_of(sqlite3_stmt *statement, int column)
{
    const void *data = sqlite3_column_type(statement, column) == SQLITE_BLOB
                           ? sqlite3_column_blob(statement, column)
                           : sqlite3_column_text(statement, column);
    size_t length = (size_t) sqlite3_column_bytes(statement, column);
    return (struct step_bytes){data != NULL ? data : (const void *) "", data != NULL ? length : 0};
}

/* ---- a table ---- */

struct cell {
    char *text;
    bool is_number;
};

struct table_print {
    FILE *out;
    int columns;
    struct cell *cells; /* of the measured rows, row by row; the first row contains the names */
    size_t row_count, capacity;
    int *widths;
};

/* Returns the text with unprintable characters escaped; NULL if out of memory. */
static char *shown(struct step_bytes text)
{
    char *memory = NULL;
    size_t length;
    FILE *file = open_memstream(&memory, &length);
    if (file == NULL)
        return NULL;
    print_shown(text, file);
    if (fclose(file) == 0)
        return memory;
    free(memory);
    return NULL;
}

/* Returns the width of a text in UTF-8 characters. */
static int width_of(const char *text)
{
    int width = 0;
    for (; *text != '\0' && width < WIDEST; text++)
        width += ((unsigned char) *text & 0xc0) != 0x80;
    return width;
}

static bool read_cell(sqlite3_stmt *statement, int column, struct cell *cell)
{
    int type = sqlite3_column_type(statement, column);
    cell->is_number = type == SQLITE_INTEGER || type == SQLITE_FLOAT;
    cell->text = shown(text_of(statement, column));
    return cell->text != NULL;
}

static bool add_row(struct table_print *print, sqlite3_stmt *statement, bool is_head)
{
    size_t columns = (size_t) print->columns;
    if (print->row_count == print->capacity) {
        struct cell *cells = step_grown(print->cells, &print->capacity, print->capacity + 1,
                                        columns * sizeof *cells);
        if (cells == NULL)
            return false;
        print->cells = cells;
    }
    for (int i = 0; i < print->columns; i++) {
        struct cell *cell = &print->cells[print->row_count * columns + (size_t) i];
        *cell = (struct cell){0};
        if (is_head)
            cell->text = shown(step_text(sqlite3_column_name(statement, i)));
        else
            read_cell(statement, i, cell);
        if (cell->text == NULL)
            return false;
        int width = width_of(cell->text);
        print->widths[i] = width > print->widths[i] ? width : print->widths[i];
    }
    print->row_count++;
    return true;
}

static void put_cell(const struct table_print *print, int column, const struct cell *cell,
                     bool right)
{
    int blanks = print->widths[column] - width_of(cell->text);
    const char *between = column > 0 ? "  " : "";
    bool is_last = column + 1 == print->columns;
    if (right)
        fprintf(print->out, "%s%*s%s", between, blanks > 0 ? blanks : 0, "", cell->text);
    else
        fprintf(print->out, "%s%s%*s", between, cell->text, blanks > 0 && !is_last ? blanks : 0,
                "");
}

static void put_measured(struct table_print *print)
{
    size_t columns = (size_t) print->columns;
    for (size_t row = 0; row < print->row_count; row++) {
        for (int i = 0; i < print->columns; i++) {
            const struct cell *cell = &print->cells[row * columns + (size_t) i];
            bool right = row == 0
                             ? print->row_count > 1 && print->cells[columns + (size_t) i].is_number
                             : cell->is_number;
            put_cell(print, i, cell, right);
        }
        fputc('\n', print->out);
    }
}

static bool put_row(const struct table_print *print, sqlite3_stmt *statement)
{
    for (int i = 0; i < print->columns; i++) {
        struct cell cell;
        if (!read_cell(statement, i, &cell))
            return false;
        put_cell(print, i, &cell, cell.is_number);
        free(cell.text);
    }
    fputc('\n', print->out);
    return true;
}

static int print_table(sqlite3_stmt *statement, FILE *out)
{
    struct table_print print = {.out = out, .columns = sqlite3_column_count(statement)};
    int code = SQLITE_NOMEM;
    print.widths = calloc((size_t) print.columns + 1, sizeof *print.widths);
    bool good = print.widths != NULL && add_row(&print, statement, true);
    while (good && print.row_count <= ROWS_MEASURED &&
           (code = sqlite3_step(statement)) == SQLITE_ROW)
        good = add_row(&print, statement, false);
    if (good)
        put_measured(&print);
    while (good && code == SQLITE_ROW && (code = sqlite3_step(statement)) == SQLITE_ROW)
        good = put_row(&print, statement);
    for (size_t i = 0; i < print.row_count * (size_t) print.columns; i++)
        free(print.cells[i].text);
    free(print.cells);
    free(print.widths);
    return good ? code : SQLITE_NOMEM;
}

/* ---- CSV ---- */

/* Quotes a field only if necessary. */
static void put_csv(struct step_bytes text, FILE *out)
{
    bool quoted = false;
    for (size_t i = 0; i < text.length; i++)
        quoted = quoted || strchr("\",", text.data[i]) != NULL;
    fputs(quoted ? "\"" : "", out);
    csv_put_shown(text, out);
    fputs(quoted ? "\"" : "", out);
}

static int print_csv(sqlite3_stmt *statement, FILE *out)
{
    int columns = sqlite3_column_count(statement);
    int code;
    for (int i = 0; i < columns; i++) {
        fputs(i > 0 ? "," : "", out);
        put_csv(step_text(sqlite3_column_name(statement, i)), out);
    }
    fputs("\n", out);
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        for (int i = 0; i < columns; i++) {
            fputs(i > 0 ? "," : "", out);
            put_csv(text_of(statement, i), out);
        }
        fputs("\n", out);
    }
    return code;
}

/* ---- JSON ---- */

static void put_json(sqlite3_stmt *statement, int column, struct json_output *json)
{
    const char *name = sqlite3_column_name(statement, column);
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_NULL:
        json_null(json, name);
        break;
    case SQLITE_INTEGER:
    case SQLITE_FLOAT:
        json_literal(json, name, (const char *) sqlite3_column_text(statement, column));
        break;
    case SQLITE_BLOB:
        json_hex(json, name, text_of(statement, column));
        break;
    default:
        json_bytes(json, name, text_of(statement, column));
    }
}

static int print_json(sqlite3_stmt *statement, FILE *out)
{
    struct json_output json;
    int columns = sqlite3_column_count(statement);
    bool is_first = true;
    int code;
    fputc('[', out);
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        fputs(is_first ? "\n" : ",\n", out);
        is_first = false;
        json_init(&json, out);
        json.is_compact = true;
        json_begin_object(&json, NULL);
        for (int i = 0; i < columns; i++)
            put_json(statement, i, &json);
        json_end_object(&json);
    }
    fputs("\n]\n", out);
    return code;
}

/* Executes the statement and prints all rows.  Returns SQLITE_DONE, or SQLite's error. */
static int sql_print(sqlite3_stmt *statement, enum sql_format format, FILE *out)
{
    if (sqlite3_column_count(statement) == 0)
        return sqlite3_step(statement);
    return format == SQL_AS_CSV    ? print_csv(statement, out)
           : format == SQL_AS_JSON ? print_json(statement, out)
                                   : print_table(statement, out);
}

/* Parses SQLite's messages "no such table: X" and "no such column: X". */

/* Returns the name without schema or table if the message begins with `beginning`, else NULL. */
static const char *name_after(const char *message, const char *beginning)
{
    size_t length = strlen(beginning);
    if (strncmp(message, beginning, length) != 0)
        return NULL;
    const char *dot = strrchr(message + length, '.');
    return dot != NULL ? dot + 1 : message + length;
}

/* Returns the first table whose name occurs in the statement, for its columns. */
static const struct table *table_of(const struct tables *tables, const char *statement)
{
    for (size_t i = 0; i < tables_count(tables); i++)
        if (strstr(statement, tables_at(tables, i)->name) != NULL)
            return tables_at(tables, i);
    return NULL;
}

/* Writes the most similar name and all names for such a message; `out` is empty for other
 * messages. */
static void sql_names_hint(const struct tables *tables, const char *message, const char *statement,
                           char *out, size_t out_size)
{
    const struct table *table;
    struct step_error error;
    size_t column;
    out[0] = '\0';
    const char *name = name_after(message, "no such table: ");
    if (name != NULL) {
        if (tables_find(tables, name, &table, &error) != STEP_STATUS_OK)
            snprintf(out, out_size, "%s", error.message);
        return;
    }
    name = name_after(message, "no such column: ");
    table = name != NULL ? table_of(tables, statement) : NULL;
    if (table != NULL && table_find_column(table, name, &column, &error) != STEP_STATUS_OK)
        snprintf(out, out_size, "%s", error.message);
}

enum { NAME_BYTES = 128, TABLE_NAME_BYTES = 32, UNRECORDED_MOST = 16 };

/* A table that has no rows, because the trace has nothing that they are made of. */
struct unrecorded {
    char table[TABLE_NAME_BYTES];
    const char *lack;
    bool is_read;
};

/* A trace and its schema name. */
struct named_trace {
    char name[NAME_BYTES];
    const char *path;
    bool is_first; /* its tables are those of schema `main`, too */
    struct unrecorded unrecorded[UNRECORDED_MOST];
    size_t unrecorded_count;
};

struct named_traces {
    struct named_trace *items;
    size_t count;
};

static enum step_status report(const char *text)
{
    report_line("%s", text);
    return STEP_STATUS_INVALID;
}

static enum step_status report_sqlite_error(sqlite3 *database)
{
    int code = sqlite3_errcode(database);
    report_line("%s", sqlite3_errmsg(database));
    return code == SQLITE_NOMEM                          ? STEP_STATUS_NO_MEMORY
           : code == SQLITE_IOERR || code == SQLITE_FULL ? STEP_STATUS_IO
                                                         : STEP_STATUS_INVALID;
}

/* ---- traces ---- */

/* Derives a schema name from the file name without directories and extensions. */
static void name_trace(const char *path, char *out)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    size_t length = 0;
    for (; *name != '\0' && *name != '.' && length + 1 < NAME_BYTES; name++)
        out[length++] = isalnum((unsigned char) *name) ? *name : '_';
    out[length] = '\0';
    if (length == 0)
        strcpy(out, "trace");
}

static void read_trace(const char *text, struct named_trace *out)
{
    const char *equals = strchr(text, '=');
    const char *slash = strchr(text, '/');
    size_t length = equals != NULL ? (size_t) (equals - text) : 0;
    if (length == 0 || length >= NAME_BYTES || (slash != NULL && slash < equals)) {
        out->path = text;
        name_trace(text, out->name);
        return;
    }
    memcpy(out->name, text, length);
    out->name[length] = '\0';
    out->path = equals + 1;
}

static int execute(sqlite3 *database, char *text)
{
    int code = text != NULL ? sqlite3_exec(database, text, NULL, NULL, NULL) : SQLITE_NOMEM;
    sqlite3_free(text);
    return code;
}

static int make_tables(sqlite3 *database, const struct tables *tables, const char *schema,
                       const char *path)
{
    int code = SQLITE_OK;
    for (size_t i = 0; i < tables_count(tables) && code == SQLITE_OK; i++) {
        const char *name = tables_at(tables, i)->name;
        code = execute(database,
                       sqlite3_mprintf("create virtual table \"%w\".\"%w\" using steptrace(%Q, %Q)",
                                       schema, name, path, name));
    }
    return code;
}

static void find_unrecorded(struct named_trace *trace, const struct tables *tables)
{
    for (size_t i = 0; i < tables_count(tables); i++) {
        const struct table *table = tables_at(tables, i);
        const char *lack = table_unrecorded(tables, table);
        if (lack == NULL || trace->unrecorded_count == UNRECORDED_MOST)
            continue;
        struct unrecorded *found = &trace->unrecorded[trace->unrecorded_count++];
        snprintf(found->table, sizeof found->table, "%s", table->name);
        found->lack = lack;
    }
}

static void note_read(const struct named_traces *traces, const char *schema, const char *table)
{
    for (size_t i = 0; i < traces->count; i++) {
        struct named_trace *trace = &traces->items[i];
        if (strcmp(schema, trace->name) != 0 && !(trace->is_first && strcmp(schema, "main") == 0))
            continue;
        for (size_t k = 0; k < trace->unrecorded_count; k++)
            if (sqlite3_stricmp(trace->unrecorded[k].table, table) == 0)
                trace->unrecorded[k].is_read = true;
    }
}

/* Says why the tables that were read have no rows. */
static void report_unrecorded(const struct named_traces *traces)
{
    for (size_t i = 0; i < traces->count; i++)
        for (size_t k = 0; k < traces->items[i].unrecorded_count; k++)
            if (traces->items[i].unrecorded[k].is_read)
                report_line("%s: " TABLE_UNRECORDED_TEXT, traces->items[i].path,
                            traces->items[i].unrecorded[k].table,
                            traces->items[i].unrecorded[k].lack);
}

static enum step_status add_trace(sqlite3 *database, struct named_trace *trace, bool is_first)
{
    struct tables *tables;
    struct step_error error = {.offset = STEP_NO_OFFSET};
    char text[1024];
    enum step_status status = tables_open(trace->path, &tables, &error);
    if (status != STEP_STATUS_OK) {
        step_error_print(&error, text, sizeof text);
        report_line("%s", text);
        return status == STEP_STATUS_FORMAT ? STEP_STATUS_CORRUPT : status;
    }
    int code = execute(database, sqlite3_mprintf("attach ':memory:' as \"%w\"", trace->name));
    if (code == SQLITE_OK)
        code = make_tables(database, tables, trace->name, trace->path);
    if (code == SQLITE_OK && is_first)
        code = make_tables(database, tables, "main", trace->path);
    trace->is_first = is_first;
    find_unrecorded(trace, tables);
    tables_close(tables);
    return code == SQLITE_OK ? STEP_STATUS_OK : report_sqlite_error(database);
}

/* ---- statements ---- */

/* Reports an invalid statement, with the existing names if a name is wrong. */
static enum step_status report_fault(sqlite3 *database, const struct sql_run *run, const char *text)
{
    if (sqlite3_errcode(database) == SQLITE_AUTH)
        return report(
            "not authorized: statements read traces, and reach no other files or settings");
    struct named_trace trace;
    struct tables *tables;
    char hint[600] = "";
    read_trace(run->traces[0], &trace);
    if (tables_open(trace.path, &tables, NULL) == STEP_STATUS_OK) {
        sql_names_hint(tables, sqlite3_errmsg(database), text, hint, sizeof hint);
        tables_close(tables);
    }
    if (hint[0] == '\0')
        return report_sqlite_error(database);
    return report(hint);
}

static enum step_status run_statements(sqlite3 *database, const struct sql_run *run)
{
    const char *text = run->text;
    bool any = false;
    while (*text != '\0') {
        sqlite3_stmt *statement = NULL;
        const char *rest = NULL;
        if (sqlite3_prepare_v2(database, text, -1, &statement, &rest) != SQLITE_OK)
            return report_fault(database, run, text);
        text = rest;
        if (statement == NULL) /* only blanks or a comment */
            continue;
        int code = sql_print(statement, run->format, run->out);
        any = true;
        enum step_status status =
            code == SQLITE_DONE ? STEP_STATUS_OK : report_sqlite_error(database);
        sqlite3_finalize(statement);
        if (status != STEP_STATUS_OK)
            return status;
    }
    return any ? STEP_STATUS_OK : report("there is no statement");
}

/* Reports the damage of the traces, as far as they were read. */
static enum step_status report_traces_damage(sqlite3 *database, const struct named_traces *traces)
{
    enum step_status status = STEP_STATUS_OK;
    for (size_t i = 0; i < traces->count; i++) {
        sqlite3_stmt *statement = NULL;
        if (sqlite3_prepare_v2(database, "select steptrace_damage(?)", -1, &statement, NULL) !=
                SQLITE_OK ||
            sqlite3_bind_text(statement, 1, traces->items[i].path, -1, SQLITE_STATIC) !=
                SQLITE_OK ||
            sqlite3_step(statement) != SQLITE_ROW) {
            status = report_sqlite_error(database);
        } else if (sqlite3_column_type(statement, 0) == SQLITE_TEXT) {
            report_line("%s", (const char *) sqlite3_column_text(statement, 0));
            status = STEP_STATUS_CORRUPT;
        }
        sqlite3_finalize(statement);
    }
    return status;
}

/* The functions that open files, and one that shows addresses of this process. */
static bool is_denied_function(const char *name)
{
    static const char *const denied[] = {"steptrace_open", "load_extension", "fts3_tokenizer"};
    for (size_t i = 0; i < sizeof denied / sizeof denied[0]; i++)
        if (name == NULL || sqlite3_stricmp(name, denied[i]) == 0)
            return true;
    return false;
}

static const char *const reading_pragmas[] = {
    "cache_size",    "case_sensitive_like", "collation_list", "compile_options",
    "database_list", "foreign_key_list",    "function_list",  "index_info",
    "index_list",    "index_xinfo",         "module_list",    "pragma_list",
    "table_info",    "table_list",          "table_xinfo",    "threads"};
enum { READING_PRAGMAS = sizeof reading_pragmas / sizeof reading_pragmas[0] };

static bool is_reading_pragma(const char *name)
{
    for (size_t i = 0; i < READING_PRAGMAS; i++)
        if (sqlite3_stricmp(name, reading_pragmas[i]) == 0)
            return true;
    return false;
}

/* SQLite makes table-valued functions, which only read, when a statement names them first.  The
 * authorizer could not tell that from CREATE TABLE, so they are made before it is there. */
static void make_functions(sqlite3 *database)
{
    static const char *const others[] = {"json_each", "json_tree"};
    for (size_t i = 0; i < READING_PRAGMAS + sizeof others / sizeof others[0]; i++) {
        sqlite3_stmt *statement = NULL;
        char *text = i < READING_PRAGMAS
                         ? sqlite3_mprintf("select * from pragma_%s", reading_pragmas[i])
                         : sqlite3_mprintf("select * from %s", others[i - READING_PRAGMAS]);
        if (text != NULL) /* an older SQLite lacks some: it says so when a statement names them */
            sqlite3_prepare_v2(database, text, -1, &statement, NULL);
        sqlite3_finalize(statement);
        sqlite3_free(text);
    }
}

/* Statements may come from an untrusted source, so they can only read the traces that the command
 * names: what is not listed here is refused, creating virtual tables (which open files) as well. */
static int authorize(void *traces, int action, const char *first, const char *second,
                     const char *schema, const char *trigger)
{
    bool is_reading = false;
    (void) trigger;
    if (action == SQLITE_READ && first != NULL) /* no schema: count(*) of a table of `main` */
        note_read(traces, schema != NULL ? schema : "main", first);
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
        is_reading = true;
        break;
    case SQLITE_FUNCTION:
        is_reading = !is_denied_function(second);
        break;
    case SQLITE_PRAGMA:
        is_reading = second == NULL || is_reading_pragma(first);
        break;
    default:
        break;
    }
    return is_reading ? SQLITE_OK : SQLITE_DENY;
}

/* Sorting may need more than the available memory, so it uses files, where any may be written. */
static const char *place_of_sorting(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur == 0
               ? "pragma temp_store=memory"
               : "pragma temp_store=file; pragma temp.cache_size=-131072;"
                 "pragma main.cache_size=-131072; pragma threads=2";
}

/* What a statement can make SQLite do beyond what queries of traces need. */
static void set_limits(sqlite3 *database)
{
    static const struct {
        int what, most;
    } limits[] = {{SQLITE_LIMIT_LENGTH, 64 << 20},     {SQLITE_LIMIT_SQL_LENGTH, 1 << 20},
                  {SQLITE_LIMIT_ATTACHED, 0},          {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
                  {SQLITE_LIMIT_COMPOUND_SELECT, 100}, {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000}};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        sqlite3_limit(database, limits[i].what, limits[i].most);
}

static enum step_status open_database(sqlite3 **database)
{
    sqlite3_auto_extension((void (*)(void)) sqlite3_steptracesqlite_init);
    int code = sqlite3_open(":memory:", database);
    sqlite3_cancel_auto_extension((void (*)(void)) sqlite3_steptracesqlite_init);
    if (code == SQLITE_OK)
        code = sqlite3_exec(*database, place_of_sorting(), NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_db_config(*database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    return code == SQLITE_OK ? STEP_STATUS_OK : report_sqlite_error(*database);
}

enum step_status sql_run(const struct sql_run *run)
{
    sqlite3 *database = NULL;
    struct named_traces traces = {calloc(run->trace_count + 1, sizeof *traces.items),
                                  run->trace_count};
    if (traces.items == NULL)
        return STEP_STATUS_NO_MEMORY;
    enum step_status status = open_database(&database);
    for (size_t i = 0; i < run->trace_count && status == STEP_STATUS_OK; i++) {
        read_trace(run->traces[i], &traces.items[i]);
        status = add_trace(database, &traces.items[i], i == 0);
    }
    if (status == STEP_STATUS_OK) {
        make_functions(database);
        set_limits(database);
        sqlite3_set_authorizer(database, authorize, &traces);
        status = run_statements(database, run);
        report_unrecorded(&traces);
        enum step_status damage = report_traces_damage(database, &traces);
        status = status == STEP_STATUS_OK ? damage : status;
    }
    sqlite3_close(database);
    free(traces.items);
    return status;
}
