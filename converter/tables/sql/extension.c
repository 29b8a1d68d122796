/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace_sqlite.so: nothing but the module.  SQLite looks its entry point up by name. */
#include "converter/tables/sql/sql_module.h"

extern int (*const steptrace_sqlite_entry)(sqlite3 *, char **, const struct sqlite3_api_routines *);
int (*const steptrace_sqlite_entry)(sqlite3 *, char **, const struct sqlite3_api_routines *) =
    sqlite3_steptracesqlite_init;
