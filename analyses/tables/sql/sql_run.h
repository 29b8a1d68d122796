/* SPDX-License-Identifier: Apache-2.0 */
/* Runs SQL statements on traces.  Each trace is a schema; tables of the first trace can be used
 * without a schema name. */
#ifndef ANALYSES_TABLES_SQL_SQL_RUN_H
#define ANALYSES_TABLES_SQL_SQL_RUN_H

#include <stddef.h>
#include <stdio.h>

#include "steptrace/status.h"

enum sql_format { SQL_AS_TABLE, SQL_AS_CSV, SQL_AS_JSON };

struct sql_run {
    const char *const *traces; /* paths, or NAME=PATH */
    size_t trace_count;
    const char *text; /* one or several statements, separated by semicolons */
    enum sql_format format;
    FILE *out;
};

/* Runs the statements.  Reports errors on stderr.  Returns UNSUPPORTED in builds without SQLite,
 * INVALID for an SQL error, and CORRUPT, after printing all rows, if a trace is damaged or
 * truncated. */
enum step_status sql_run(const struct sql_run *run);

#endif
