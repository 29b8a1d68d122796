/* SPDX-License-Identifier: Apache-2.0 */
/* A SQLite cursor over the rows of a table. */
#ifndef CONVERTER_TABLES_SQL_SQL_CURSOR_H
#define CONVERTER_TABLES_SQL_SQL_CURSOR_H

#include "converter/tables/sql/sql_plan.h"

struct sql_cursor;

struct sql_cursor *sql_cursor_create(struct tables *tables, const struct table *table);
void sql_cursor_destroy(struct sql_cursor *cursor);

/* Positions before the first row that the plan accepts.  `text` is the plan; SQLite keeps it
 * alive. */
enum step_status sql_cursor_start(struct sql_cursor *cursor, const char *text,
                                  sqlite3_value **values, struct step_error *error);
enum step_status sql_cursor_next(struct sql_cursor *cursor, struct step_error *error);
bool sql_cursor_is_at_end(const struct sql_cursor *cursor);
void sql_cursor_column(const struct sql_cursor *cursor, sqlite3_context *context, int column);
sqlite3_int64 sql_cursor_row(const struct sql_cursor *cursor);
struct table_scan_work sql_cursor_work(const struct sql_cursor *cursor);

#endif
