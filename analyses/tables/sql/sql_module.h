/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of traces in SQLite:
 *
 *   create virtual table temp.objects using steptrace('run.step', 'objects');
 *   select steptrace_open('run.step');          all tables of a trace, as temp.objects, ...
 *   select steptrace_open('run.step', 'old_');  the same as temp.old_objects, ...
 *
 * docs/answers/sql-and-python.md shows how to query them.  The extension is used with
 * sqlite3_auto_extension() as well as by `.load`.
 */
#ifndef ANALYSES_TABLES_SQL_SQL_MODULE_H
#define ANALYSES_TABLES_SQL_SQL_MODULE_H

#include <sqlite3.h>

struct sqlite3_api_routines;

/* SQLite's name for the entry point of steptrace_sqlite.so. */
__attribute__((visibility("default"))) int sqlite3_steptracesqlite_init(
    sqlite3 *database, char **message, const struct sqlite3_api_routines *api);

#endif
