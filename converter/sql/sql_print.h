/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of a statement: as a table for people, as CSV (RFC 4180), as JSON. */
#ifndef CONVERTER_SQL_SQL_PRINT_H
#define CONVERTER_SQL_SQL_PRINT_H

#include <sqlite3.h>
#include <stdio.h>

#include "converter/sql/sql_run.h"

/* Steps through the statement and prints all rows.  Returns SQLITE_DONE, or SQLite's error. */
int sql_print(sqlite3_stmt *statement, enum sql_format format, FILE *out);

#endif
