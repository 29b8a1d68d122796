/* SPDX-License-Identifier: Apache-2.0 */
/* Makes traces schemas of a database, remembers which of their tables were read, and reports what
 * these lack. */
#include "analyses/tables/sql/sql_traces.h"

#include <ctype.h>
#include <sqlite3.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "analyses/tables/table.h"
#include "converter/cli/error_report.h"

enum step_status sql_report_error(sqlite3 *database)
{
    int code = sqlite3_errcode(database);
    report_line("%s", sqlite3_errmsg(database));
    return code == SQLITE_NOMEM                          ? STEP_STATUS_NO_MEMORY
           : code == SQLITE_IOERR || code == SQLITE_FULL ? STEP_STATUS_IO
                                                         : STEP_STATUS_INVALID;
}

/* Derives a schema name from the file name without directories and extensions. */
static void name_trace(const char *path, char *out)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    size_t length = 0;
    for (; *name != '\0' && *name != '.' && length + 1 < SQL_NAME_BYTES; name++)
        out[length++] = isalnum((unsigned char) *name) ? *name : '_';
    out[length] = '\0';
    if (length == 0)
        strcpy(out, "trace");
}

void sql_trace_read_name(const char *text, struct sql_trace *out)
{
    const char *equals = strchr(text, '=');
    const char *slash = strchr(text, '/');
    size_t length = equals != NULL ? (size_t) (equals - text) : 0;
    if (length == 0 || length >= SQL_NAME_BYTES || (slash != NULL && slash < equals)) {
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

static void find_unrecorded(struct sql_trace *trace, const struct tables *tables)
{
    for (size_t i = 0; i < tables_count(tables); i++) {
        const struct table *table = tables_at(tables, i);
        const char *lack = table_unrecorded(tables, table);
        if (lack == NULL || trace->unrecorded_count == SQL_UNRECORDED_MOST)
            continue;
        struct sql_unrecorded *found = &trace->unrecorded[trace->unrecorded_count++];
        snprintf(found->table, sizeof found->table, "%s", table->name);
        found->lack = lack;
    }
}

void sql_traces_note_read(const struct sql_traces *traces, const char *schema, const char *table)
{
    for (size_t i = 0; i < traces->count; i++) {
        struct sql_trace *trace = &traces->items[i];
        if (strcmp(schema, trace->name) != 0 && !(trace->is_first && strcmp(schema, "main") == 0))
            continue;
        for (size_t k = 0; k < trace->unrecorded_count; k++)
            if (sqlite3_stricmp(trace->unrecorded[k].table, table) == 0)
                trace->unrecorded[k].is_read = true;
    }
}

void sql_traces_report_unrecorded(const struct sql_traces *traces)
{
    for (size_t i = 0; i < traces->count; i++)
        for (size_t k = 0; k < traces->items[i].unrecorded_count; k++)
            if (traces->items[i].unrecorded[k].is_read)
                report_line("%s: " TABLE_UNRECORDED_TEXT, traces->items[i].path,
                            traces->items[i].unrecorded[k].table,
                            traces->items[i].unrecorded[k].lack);
}

enum step_status sql_trace_add(sqlite3 *database, struct sql_trace *trace, bool is_first)
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
    return code == SQLITE_OK ? STEP_STATUS_OK : sql_report_error(database);
}

enum step_status sql_traces_report_damage(sqlite3 *database, const struct sql_traces *traces)
{
    enum step_status status = STEP_STATUS_OK;
    for (size_t i = 0; i < traces->count; i++) {
        sqlite3_stmt *statement = NULL;
        if (sqlite3_prepare_v2(database, "select steptrace_damage(?)", -1, &statement, NULL) !=
                SQLITE_OK ||
            sqlite3_bind_text(statement, 1, traces->items[i].path, -1, SQLITE_STATIC) !=
                SQLITE_OK ||
            sqlite3_step(statement) != SQLITE_ROW) {
            status = sql_report_error(database);
        } else if (sqlite3_column_type(statement, 0) == SQLITE_TEXT) {
            report_line("%s", (const char *) sqlite3_column_text(statement, 0));
            status = STEP_STATUS_CORRUPT;
        }
        sqlite3_finalize(statement);
    }
    return status;
}
