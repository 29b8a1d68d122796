/* SPDX-License-Identifier: Apache-2.0 */
/* SQL statements over traces, each of which is a schema of its own; the first's tables need no
 * schema's name. */
#ifndef CONVERTER_TABLES_SQL_SQL_RUN_H
#define CONVERTER_TABLES_SQL_SQL_RUN_H

#include <stddef.h>
#include <stdio.h>

#include "steptrace/status.h"

enum sql_format { SQL_AS_TABLE, SQL_AS_CSV, SQL_AS_JSON };

struct sql_run {
    const char *const *traces; /* paths, or NAME=PATH */
    size_t trace_count;
    const char *text; /* one statement or several, with semicolons between */
    enum sql_format format;
    FILE *out;
};

/* UNSUPPORTED where SQLite was not there when this was built.  CORRUPT, after all rows, where a
 * trace is damaged or cut.  INVALID for bad SQL.  Faults are told on stderr. */
enum step_status sql_run(const struct sql_run *run);

#endif
