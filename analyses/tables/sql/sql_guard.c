/* SPDX-License-Identifier: Apache-2.0 */
/* What statements may do: only read the traces that the command names, since they may come from an
 * untrusted source. */
#include "analyses/tables/sql/sql_guard.h"

#include <stdbool.h>
#include <stddef.h>

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
        sql_traces_note_read(traces, schema != NULL ? schema : "main", first);
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

void sql_guard(sqlite3 *database, struct sql_traces *traces)
{
    make_functions(database);
    set_limits(database);
    sqlite3_set_authorizer(database, authorize, traces);
}
