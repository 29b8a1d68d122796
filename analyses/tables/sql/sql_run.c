/* SPDX-License-Identifier: Apache-2.0 */
/* Runs statements in an in-memory database that has the traces' tables. */
#include "analyses/tables/sql/sql_run.h"

#include <ctype.h>
#include <sqlite3.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "analyses/tables/sql/sql_module.h"
#include "analyses/tables/sql/sql_print.h"
#include "analyses/tables/table.h"
#include "converter/cli/error_report.h"
#include "converter/containers/no_memory.h"

/* ---- SQLite's messages "no such table: X" and "no such column: X" ---- */

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

static enum step_status sql_run_report(const char *text)
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

static void sql_run_read_trace(const char *text, struct named_trace *out)
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
        return sql_run_report(
            "not authorized: statements can read traces, but no other files or settings");
    struct named_trace trace;
    struct tables *tables;
    char hint[600] = "";
    sql_run_read_trace(run->traces[0], &trace);
    if (tables_open(trace.path, &tables, NULL) == STEP_STATUS_OK) {
        sql_names_hint(tables, sqlite3_errmsg(database), text, hint, sizeof hint);
        tables_close(tables);
    }
    if (hint[0] == '\0')
        return report_sqlite_error(database);
    return sql_run_report(hint);
}

static enum step_status result_of(int code, sqlite3 *database)
{
    if (code == SQLITE_DONE)
        return STEP_STATUS_OK;
    if (code != SQLITE_INTERRUPT)
        return report_sqlite_error(database);
    report_line("the output cannot be written");
    return STEP_STATUS_IO;
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
        enum step_status status = result_of(code, database);
        sqlite3_finalize(statement);
        if (status != STEP_STATUS_OK)
            return status;
    }
    return any ? STEP_STATUS_OK : sql_run_report("there is no statement");
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

/* What a file for sorting may come to. */
#define SORTING_BYTES (UINT64_C(4) << 30)

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

/* Sorting may need more than the available memory, so it uses files, unless their length is limited
 * to less than what it may need: mcp allows none, --limit-output is about what is printed. */
static const char *place_of_sorting(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < SORTING_BYTES
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
        sql_run_read_trace(run->traces[i], &traces.items[i]);
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
