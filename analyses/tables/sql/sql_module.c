/* SPDX-License-Identifier: Apache-2.0 */
/* The SQLite module `steptrace`: virtual tables and functions. */
#include "analyses/tables/sql/sql_module.h"

#include <sqlite3ext.h>
#include <stdlib.h>
#include <string.h>

#include "analyses/tables/sql/sql_cursor.h"
#include "analyses/tables/table.h"
#include "converter/containers/no_memory.h"

struct open_trace {
    struct open_trace *next;
    struct tables *tables;
    char *path;
    size_t uses;
};

/* Zero-initialise for an empty list. */
struct open_traces {
    struct open_trace *first;
};

/* Opens the trace, or adds a use if it is open. */
static enum step_status open_traces_take(struct open_traces *traces, const char *path,
                                         struct open_trace **out, struct step_error *error)
{
    for (*out = traces->first; *out != NULL; *out = (*out)->next)
        if (strcmp((*out)->path, path) == 0) {
            (*out)->uses++;
            return STEP_STATUS_OK;
        }
    struct open_trace *trace = calloc(1, sizeof *trace);
    if (trace == NULL || (trace->path = strdup(path)) == NULL) {
        free(trace);
        return no_memory(error);
    }
    enum step_status status = tables_open(path, &trace->tables, error);
    if (status != STEP_STATUS_OK) {
        free(trace->path);
        free(trace);
        return status;
    }
    trace->uses = 1;
    trace->next = traces->first;
    traces->first = trace;
    *out = trace;
    return STEP_STATUS_OK;
}

/* Closes the trace after its last use. */
static void open_traces_give_back(struct open_traces *traces, struct open_trace *trace)
{
    if (--trace->uses > 0)
        return;
    struct open_trace **at = &traces->first;
    while (*at != trace)
        at = &(*at)->next;
    *at = trace->next;
    tables_close(trace->tables);
    free(trace->path);
    free(trace);
}

SQLITE_EXTENSION_INIT1

/* State of a connection. */
struct connection {
    struct open_traces traces;
    uint64_t blocks_read; /* by finished scans */
    uint64_t blocks_passed;
};

struct sql_table {
    sqlite3_vtab base;
    struct connection *connection;
    struct open_trace *trace;
    const struct table *table;
};

static struct sql_table *table_of(sqlite3_vtab *base)
{
    return (struct sql_table *) base;
}

static struct sql_cursor *cursor_of(sqlite3_vtab_cursor *base)
{
    return (struct sql_cursor *) base;
}

static int sql_module_code_of(enum step_status status)
{
    return status == STEP_STATUS_NO_MEMORY ? SQLITE_NOMEM
           : status == STEP_STATUS_IO      ? SQLITE_IOERR
                                           : SQLITE_ERROR;
}

static char *message_of(const struct step_error *error)
{
    char text[1024];
    step_error_print(error, text, sizeof text);
    return sqlite3_mprintf("%s", text);
}

/* ---- tables ---- */

/* Returns an argument without its quotes, from sqlite3_malloc(). */
static char *unquoted(const char *argument)
{
    size_t length = strlen(argument);
    char quote = argument[0];
    if (length < 2 || (quote != '\'' && quote != '"') || argument[length - 1] != quote)
        return sqlite3_mprintf("%s", argument);
    char *text = sqlite3_mprintf("%.*s", (int) length - 2, argument + 1);
    char *out = text;
    for (const char *at = text; text != NULL && *at != '\0'; at++) {
        *out++ = *at;
        at += *at == quote && at[1] == quote;
    }
    if (text != NULL)
        *out = '\0';
    return text;
}

static const char *sql_type(enum table_type type)
{
    return type == TABLE_NAME || type == TABLE_TEXT ? "TEXT"
           : type == TABLE_DATA                     ? "BLOB"
           : type == TABLE_REAL                     ? "REAL"
                                                    : "INTEGER";
}

static int declare(sqlite3 *database, const struct table *table)
{
    char *text = sqlite3_mprintf("CREATE TABLE x(");
    for (size_t i = 0; i < table->column_count; i++)
        text = sqlite3_mprintf("%z%s\"%w\" %s", text, i > 0 ? ", " : "", table->columns[i].name,
                               sql_type(table->columns[i].type));
    text = sqlite3_mprintf("%z)", text);
    int code = text != NULL ? sqlite3_declare_vtab(database, text) : SQLITE_NOMEM;
    sqlite3_free(text);
    return code;
}

static int sql_module_make_table(sqlite3 *database, struct connection *connection, const char *path,
                                 const char *name, sqlite3_vtab **out, char **message)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct open_trace *trace;
    const struct table *found = NULL;
    enum step_status status = open_traces_take(&connection->traces, path, &trace, &error);
    if (status == STEP_STATUS_OK) {
        status = tables_find(trace->tables, name, &found, &error);
        if (status != STEP_STATUS_OK)
            open_traces_give_back(&connection->traces, trace);
    }
    if (status != STEP_STATUS_OK) {
        *message = message_of(&error);
        return sql_module_code_of(status);
    }
    struct sql_table *table = sqlite3_malloc64(sizeof *table);
    int code = table != NULL ? declare(database, found) : SQLITE_NOMEM;
    if (code != SQLITE_OK) {
        open_traces_give_back(&connection->traces, trace);
        sqlite3_free(table);
        return code;
    }
    *table = (struct sql_table){.connection = connection, .trace = trace, .table = found};
    *out = &table->base;
    return code;
}

static int connect_table(sqlite3 *database, void *user, int argc, const char *const *argv,
                         sqlite3_vtab **out, char **message)
{
    if (argc != 5) {
        *message = sqlite3_mprintf("using steptrace('FILE.step', 'TABLE')");
        return SQLITE_ERROR;
    }
    char *path = unquoted(argv[3]);
    char *name = unquoted(argv[4]);
    int code = path != NULL && name != NULL
                   ? sql_module_make_table(database, user, path, name, out, message)
                   : SQLITE_NOMEM;
    sqlite3_free(path);
    sqlite3_free(name);
    return code;
}

static int disconnect_table(sqlite3_vtab *base)
{
    struct sql_table *table = table_of(base);
    open_traces_give_back(&table->connection->traces, table->trace);
    sqlite3_free(table);
    return SQLITE_OK;
}

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    const struct sql_table *table = table_of(base);
    return sql_plan_choose(table->trace->tables, table->table, info);
}

/* ---- cursors ---- */

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
    const struct sql_table *table = table_of(base);
    struct sql_cursor *cursor = sql_cursor_create(table->trace->tables, table->table);
    if (cursor == NULL)
        return SQLITE_NOMEM;
    *out = &cursor->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
    struct connection *connection = table_of(base->pVtab)->connection;
    const struct table_scan *scan = cursor_of(base)->scan;
    struct table_scan_work work =
        scan != NULL ? table_scan_work(scan) : (struct table_scan_work){0};
    connection->blocks_read += work.blocks_read;
    connection->blocks_passed += work.blocks_passed;
    sql_cursor_destroy(cursor_of(base));
    return SQLITE_OK;
}

static int answer(sqlite3_vtab_cursor *base, enum step_status status,
                  const struct step_error *error)
{
    if (status == STEP_STATUS_OK)
        return SQLITE_OK;
    sqlite3_free(base->pVtab->zErrMsg);
    base->pVtab->zErrMsg = message_of(error);
    return sql_module_code_of(status);
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *text, int argc,
                  sqlite3_value **argv)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    (void) number;
    (void) argc;
    return answer(base, sql_cursor_start(cursor_of(base), text, argv, &error), &error);
}

static int next_row(sqlite3_vtab_cursor *base)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    return answer(base, sql_cursor_next(cursor_of(base), &error), &error);
}

static int is_at_end(sqlite3_vtab_cursor *base)
{
    return cursor_of(base)->at_end;
}

static int row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    return answer(base, sql_cursor_row_id(cursor_of(base), out, &error), &error);
}

static const sqlite3_module module = {
    .iVersion = 1,
    .xCreate = connect_table,
    .xConnect = connect_table,
    .xBestIndex = best_index,
    .xDisconnect = disconnect_table,
    .xDestroy = disconnect_table,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = filter,
    .xNext = next_row,
    .xEof = is_at_end,
    .xColumn = sql_cursor_column,
    .xRowid = row_id,
};

/* ---- functions ---- */

/* steptrace_open(path [, prefix]): creates temporary tables for all tables of the trace, and
 * returns their number. */
static void open_function(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    struct connection *connection = sqlite3_user_data(context);
    struct step_error error = {.offset = STEP_NO_OFFSET};
    const char *path = (const char *) sqlite3_value_text(argv[0]);
    const char *prefix = argc > 1 ? (const char *) sqlite3_value_text(argv[1]) : "";
    struct open_trace *trace;
    if (path == NULL || prefix == NULL) {
        sqlite3_result_error(context, "steptrace_open('FILE.step' [, 'PREFIX'])", -1);
        return;
    }
    if (open_traces_take(&connection->traces, path, &trace, &error) != STEP_STATUS_OK) {
        char *message = message_of(&error);
        sqlite3_result_error(context, message, -1);
        sqlite3_free(message);
        return;
    }
    int code = SQLITE_OK;
    size_t count = tables_count(trace->tables);
    for (size_t i = 0; i < count && code == SQLITE_OK; i++) {
        const char *name = tables_at(trace->tables, i)->name;
        char *text = sqlite3_mprintf(
            "create virtual table if not exists temp.\"%w%w\" using steptrace(%Q, %Q)", prefix,
            name, path, name);
        code = text != NULL
                   ? sqlite3_exec(sqlite3_context_db_handle(context), text, NULL, NULL, NULL)
                   : SQLITE_NOMEM;
        sqlite3_free(text);
    }
    open_traces_give_back(&connection->traces, trace);
    if (code != SQLITE_OK)
        sqlite3_result_error(context, sqlite3_errmsg(sqlite3_context_db_handle(context)), -1);
    else
        sqlite3_result_int64(context, (sqlite3_int64) count);
}

/* steptrace_damage(path): returns a description of the damage found so far in an open trace, or
 * null. */
static void damage_function(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    struct connection *connection = sqlite3_user_data(context);
    const char *path = (const char *) sqlite3_value_text(argv[0]);
    struct step_error error;
    (void) argc;
    for (struct open_trace *trace = connection->traces.first; trace != NULL; trace = trace->next) {
        if (path == NULL || strcmp(trace->path, path) != 0 ||
            tables_damage(trace->tables, &error) == STEP_STATUS_OK)
            continue;
        char *message = message_of(&error);
        sqlite3_result_text(context, message, -1, sqlite3_free);
        return;
    }
}

/* steptrace_blocks(what): returns the number of blocks that finished scans have 'read' or
 * 'passed' (skipped). */
static void blocks_function(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    const struct connection *connection = sqlite3_user_data(context);
    const char *what = (const char *) sqlite3_value_text(argv[0]);
    (void) argc;
    bool passed = what != NULL && strcmp(what, "passed") == 0;
    sqlite3_result_int64(
        context, (sqlite3_int64) (passed ? connection->blocks_passed : connection->blocks_read));
}

static void destroy_connection(void *user)
{
    sqlite3_free(user);
}

static int add_functions(sqlite3 *database, struct connection *connection)
{
    static const int flags = SQLITE_UTF8 | SQLITE_DIRECTONLY;
    int code = sqlite3_create_function(database, "steptrace_open", 1, flags, connection,
                                       open_function, NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_create_function(database, "steptrace_open", 2, flags, connection,
                                       open_function, NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_create_function(database, "steptrace_damage", 1, flags, connection,
                                       damage_function, NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_create_function(database, "steptrace_blocks", 1, flags, connection,
                                       blocks_function, NULL, NULL);
    return code;
}

int sqlite3_steptracesqlite_init(sqlite3 *database, char **message,
                                 const struct sqlite3_api_routines *api)
{
    SQLITE_EXTENSION_INIT2(api);
    struct connection *connection = sqlite3_malloc64(sizeof *connection);
    (void) message;
    if (connection == NULL)
        return SQLITE_NOMEM;
    *connection = (struct connection){0};
    int code = add_functions(database, connection);
    if (code != SQLITE_OK) {
        sqlite3_free(connection);
        return code;
    }
    return sqlite3_create_module_v2(database, "steptrace", &module, connection, destroy_connection);
}
