/* SPDX-License-Identifier: Apache-2.0 */
/* A database in memory, with the traces' tables, for the life of the statements. */
#include "converter/sql/sql_run.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "converter/base/error_report.h"
#include "converter/base/no_memory.h"
#include "converter/sql/sql_module.h"
#include "converter/sql/sql_names.h"
#include "converter/sql/sql_print.h"
#include "converter/tables/table.h"

enum { NAME_BYTES = 128 };

/* A trace that is asked. */
struct named_trace {
    char name[NAME_BYTES];
    const char *path;
};

static enum step_status tell(const char *text)
{
    report_line("%s", text);
    return STEP_STATUS_INVALID;
}

static enum step_status tell_error(sqlite3 *database)
{
    int code = sqlite3_errcode(database);
    report_line("%s", sqlite3_errmsg(database));
    return code == SQLITE_NOMEM                          ? STEP_STATUS_NO_MEMORY
           : code == SQLITE_IOERR || code == SQLITE_FULL ? STEP_STATUS_IO
                                                         : STEP_STATUS_INVALID;
}

/* ---- traces ---- */

/* The file's name without folders and endings, as a word of SQL. */
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

static enum step_status add_trace(sqlite3 *database, const struct named_trace *trace, bool is_first)
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
    tables_close(tables);
    return code == SQLITE_OK ? STEP_STATUS_OK : tell_error(database);
}

/* ---- statements ---- */

/* A statement that SQLite does not take: of a wrong name also those that there are. */
static enum step_status tell_fault(sqlite3 *database, const struct sql_run *run, const char *text)
{
    struct named_trace trace;
    struct tables *tables;
    char hint[600] = "";
    read_trace(run->traces[0], &trace);
    if (tables_open(trace.path, &tables, NULL) == STEP_STATUS_OK) {
        sql_names_hint(tables, sqlite3_errmsg(database), text, hint, sizeof hint);
        tables_close(tables);
    }
    if (hint[0] == '\0')
        return tell_error(database);
    return tell(hint);
}

static enum step_status run_statements(sqlite3 *database, const struct sql_run *run)
{
    const char *text = run->text;
    bool any = false;
    while (*text != '\0') {
        sqlite3_stmt *statement = NULL;
        const char *rest = NULL;
        if (sqlite3_prepare_v2(database, text, -1, &statement, &rest) != SQLITE_OK)
            return tell_fault(database, run, text);
        text = rest;
        if (statement == NULL) /* blanks, a comment */
            continue;
        int code = sql_print(statement, run->format, run->out);
        any = true;
        enum step_status status = code == SQLITE_DONE ? STEP_STATUS_OK : tell_error(database);
        sqlite3_finalize(statement);
        if (status != STEP_STATUS_OK)
            return status;
    }
    return any ? STEP_STATUS_OK : tell("there is no statement");
}

/* Tells what is damaged of the traces, as far as they were read. */
static enum step_status report_damage(sqlite3 *database, const struct named_trace *traces,
                                      size_t count)
{
    enum step_status status = STEP_STATUS_OK;
    for (size_t i = 0; i < count; i++) {
        sqlite3_stmt *statement = NULL;
        if (sqlite3_prepare_v2(database, "select steptrace_damage(?)", -1, &statement, NULL) !=
                SQLITE_OK ||
            sqlite3_bind_text(statement, 1, traces[i].path, -1, SQLITE_STATIC) != SQLITE_OK ||
            sqlite3_step(statement) != SQLITE_ROW) {
            status = tell_error(database);
        } else if (sqlite3_column_type(statement, 0) == SQLITE_TEXT) {
            report_line("%s", (const char *) sqlite3_column_text(statement, 0));
            status = STEP_STATUS_CORRUPT;
        }
        sqlite3_finalize(statement);
    }
    return status;
}

static enum step_status open_database(sqlite3 **database)
{
    sqlite3_auto_extension((void (*)(void)) sqlite3_steptracesqlite_init);
    int code = sqlite3_open(":memory:", database);
    sqlite3_cancel_auto_extension((void (*)(void)) sqlite3_steptracesqlite_init);
    /* what is sorted may pass what memory there is: it goes into files then */
    if (code == SQLITE_OK)
        code = sqlite3_exec(*database,
                            "pragma temp_store=file; pragma temp.cache_size=-131072;"
                            "pragma main.cache_size=-131072; pragma threads=2",
                            NULL, NULL, NULL);
    return code == SQLITE_OK ? STEP_STATUS_OK : tell_error(*database);
}

enum step_status sql_run(const struct sql_run *run)
{
    sqlite3 *database = NULL;
    struct named_trace *traces = calloc(run->trace_count + 1, sizeof *traces);
    if (traces == NULL)
        return STEP_STATUS_NO_MEMORY;
    enum step_status status = open_database(&database);
    for (size_t i = 0; i < run->trace_count && status == STEP_STATUS_OK; i++) {
        read_trace(run->traces[i], &traces[i]);
        status = add_trace(database, &traces[i], i == 0);
    }
    if (status == STEP_STATUS_OK) {
        status = run_statements(database, run);
        enum step_status damage = report_damage(database, traces, run->trace_count);
        status = status == STEP_STATUS_OK ? damage : status;
    }
    sqlite3_close(database);
    free(traces);
    return status;
}
