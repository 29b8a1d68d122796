/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the rows of SQL statements. */
#ifndef ANALYSES_TABLES_SQL_SQL_PRINT_H
#define ANALYSES_TABLES_SQL_SQL_PRINT_H

#include <sqlite3.h>
#include <stdio.h>

#include "analyses/tables/sql/sql_run.h"

/* Executes the statement and prints all rows.  Returns SQLITE_DONE, SQLite's error, or
 * SQLITE_INTERRUPT if `out` cannot be written. */
int sql_print(sqlite3_stmt *statement, enum sql_format format, FILE *out);

#endif
