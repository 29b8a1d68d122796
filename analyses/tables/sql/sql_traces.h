/* SPDX-License-Identifier: Apache-2.0 */
/* The traces that statements can name: each is a schema, with its tables. */
#ifndef ANALYSES_TABLES_SQL_SQL_TRACES_H
#define ANALYSES_TABLES_SQL_SQL_TRACES_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

#include "steptrace/status.h"

enum { SQL_NAME_BYTES = 128, SQL_TABLE_NAME_BYTES = 32, SQL_UNRECORDED_MOST = 16 };

/* A table that has no rows, because the trace has nothing that they are made of. */
struct sql_unrecorded {
    char table[SQL_TABLE_NAME_BYTES];
    const char *lack;
    bool is_read;
};

/* A trace and its schema name. */
struct sql_trace {
    char name[SQL_NAME_BYTES];
    const char *path;
    bool is_first; /* its tables are those of schema `main`, too */
    struct sql_unrecorded unrecorded[SQL_UNRECORDED_MOST];
    size_t unrecorded_count;
};

struct sql_traces {
    struct sql_trace *items;
    size_t count;
};

/* Reports SQLite's last error on stderr, and returns its status. */
enum step_status sql_report_error(sqlite3 *database);

/* Reads PATH or NAME=PATH.  Without a name, it is derived from the file's. */
void sql_trace_read_name(const char *text, struct sql_trace *out);
/* Attaches a trace whose name was read, and creates its tables.  Reports errors. */
enum step_status sql_trace_add(sqlite3 *database, struct sql_trace *trace, bool is_first);
/* Called when a statement names a table. */
void sql_traces_note_read(const struct sql_traces *traces, const char *schema, const char *table);
/* Says why the tables that were read have no rows. */
void sql_traces_report_unrecorded(const struct sql_traces *traces);
/* Reports the damage of the traces, as far as they were read. */
enum step_status sql_traces_report_damage(sqlite3 *database, const struct sql_traces *traces);

#endif
