/* SPDX-License-Identifier: Apache-2.0 */
/* Runs statements in an in-memory database that has the traces' tables. */
#include "analyses/tables/sql/sql_run.h"

#include <sqlite3.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyses/tables/sql/sql_guard.h"
#include "analyses/tables/sql/sql_module.h"
#include "analyses/tables/sql/sql_print.h"
#include "analyses/tables/sql/sql_traces.h"
#include "analyses/tables/table.h"
#include "converter/cli/error_report.h"
#include "converter/files/spool.h"

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

/* ---- statements ---- */

static enum step_status sql_run_report(const char *text)
{
    report_line("%s", text);
    return STEP_STATUS_INVALID;
}

/* Reports an invalid statement, with the existing names if a name is wrong. */
static enum step_status report_fault(sqlite3 *database, const struct sql_run *run, const char *text)
{
    if (sqlite3_errcode(database) == SQLITE_AUTH)
        return sql_run_report(
            "not authorized: statements can read traces, but no other files or settings");
    struct sql_trace trace;
    struct tables *tables;
    char hint[600] = "";
    sql_trace_read_name(run->traces[0], &trace);
    if (tables_open(trace.path, &tables, NULL) == STEP_STATUS_OK) {
        sql_names_hint(tables, sqlite3_errmsg(database), text, hint, sizeof hint);
        tables_close(tables);
    }
    if (hint[0] == '\0')
        return sql_report_error(database);
    return sql_run_report(hint);
}

static enum step_status result_of(int code, sqlite3 *database)
{
    if (code == SQLITE_DONE)
        return STEP_STATUS_OK;
    if (code != SQLITE_INTERRUPT)
        return sql_report_error(database);
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

/* ---- the database ---- */

/* Sorting may need more than the available memory, so it uses files, where these may be long: mcp
 * allows none, --limit-output is about what is printed. */
static const char *place_of_sorting(void)
{
    return !spool_allows(SPOOL_BYTES_USUAL)
               ? "pragma temp_store=memory"
               : "pragma temp_store=file; pragma temp.cache_size=-131072;"
                 "pragma main.cache_size=-131072; pragma threads=2";
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
    return code == SQLITE_OK ? STEP_STATUS_OK : sql_report_error(*database);
}

enum step_status sql_run(const struct sql_run *run)
{
    sqlite3 *database = NULL;
    struct sql_traces traces = {calloc(run->trace_count + 1, sizeof *traces.items),
                                run->trace_count};
    if (traces.items == NULL)
        return STEP_STATUS_NO_MEMORY;
    enum step_status status = open_database(&database);
    for (size_t i = 0; i < run->trace_count && status == STEP_STATUS_OK; i++) {
        sql_trace_read_name(run->traces[i], &traces.items[i]);
        status = sql_trace_add(database, &traces.items[i], i == 0);
    }
    if (status == STEP_STATUS_OK) {
        sql_guard(database, &traces);
        status = run_statements(database, run);
        sql_traces_report_unrecorded(&traces);
        enum step_status damage = sql_traces_report_damage(database, &traces);
        status = status == STEP_STATUS_OK ? damage : status;
    }
    sqlite3_close(database);
    free(traces.items);
    return status;
}
