/* SPDX-License-Identifier: Apache-2.0 */
/* Limits what statements may do: they can read traces, but no other files or settings. */
#ifndef ANALYSES_TABLES_SQL_SQL_GUARD_H
#define ANALYSES_TABLES_SQL_SQL_GUARD_H

#include "analyses/tables/sql/sql_traces.h"

/* From now on statements can only read.  Call when the traces are added.  `traces`, which get notes
 * of what is read, must outlive the database. */
void sql_guard(sqlite3 *database, struct sql_traces *traces);

#endif
