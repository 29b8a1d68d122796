/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What SQLite's planner and a scan tell each other of a table: columns that are used, and
 * conditions on columns that leave out blocks or rows before SQLite sees them.  SQLite tests all
 * conditions again, so that a plan may promise less than it was asked for, never more.
 */
#ifndef CONVERTER_TABLES_SQL_SQL_PLAN_H
#define CONVERTER_TABLES_SQL_SQL_PLAN_H

#include <sqlite3.h>

#include "converter/tables/sql/sql_groups.h"
#include "converter/tables/table.h"

enum { SQL_CONDITIONS_MOST = 16 };

/* Chooses the conditions that a scan is to get, and says what it will cost. */
int sql_plan_choose(const struct tables *tables, const struct table *table,
                    sqlite3_index_info *info);

/* A plan as a scan reads it. */
struct sql_plan {
    struct table_range ranges[SQL_CONDITIONS_MOST];
    size_t range_count;
    char *class_glob; /* of sqlite3_malloc(); NULL: any */
    bool is_empty;    /* a condition that nothing can meet: = null */
    uint64_t columns_used;
    size_t group_columns[SQL_GROUP_KEYS_MOST]; /* rows alike in these are wanted side by side */
    size_t group_count;
};

/* False: out of memory. */
bool sql_plan_read(struct sql_plan *plan, const struct table *table, const char *text,
                   sqlite3_value **values);
void sql_plan_reset(struct sql_plan *plan);

#endif
