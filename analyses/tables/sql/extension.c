/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace_sqlite.so contains only the module.  SQLite finds its entry point by name. */
#include "analyses/tables/sql/sql_module.h"

extern int (*const steptrace_sqlite_entry)(sqlite3 *, char **, const struct sqlite3_api_routines *);
int (*const steptrace_sqlite_entry)(sqlite3 *, char **, const struct sqlite3_api_routines *) =
    sqlite3_steptracesqlite_init;
