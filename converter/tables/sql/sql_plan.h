/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Translates between SQLite's planner and table scans: the columns in use, and conditions that skip
 * blocks or rows before SQLite sees them.  SQLite tests all conditions again, so a plan may accept
 * more rows than requested, but must never drop a matching one.
 */
#ifndef CONVERTER_TABLES_SQL_SQL_PLAN_H
#define CONVERTER_TABLES_SQL_SQL_PLAN_H

#include <sqlite3.h>

#include "converter/tables/sql/sql_groups.h"
#include "converter/tables/table.h"

enum { SQL_CONDITIONS_MOST = 16 };

/* Selects the conditions for the scan, and estimates its cost. */
int sql_plan_choose(const struct tables *tables, const struct table *table,
                    sqlite3_index_info *info);

/* A decoded plan. */
struct sql_plan {
    struct table_range ranges[SQL_CONDITIONS_MOST];
    size_t range_count;
    char *class_glob; /* from sqlite3_malloc(); NULL: all */
    bool is_empty;    /* no row can satisfy the conditions: = null */
    uint64_t columns_used;
    size_t group_columns[SQL_GROUP_KEYS_MOST]; /* group rows with equal values in these columns */
    size_t group_count;
};

/* Decodes a plan.  Returns true; a condition that cannot be decoded sets no limit. */
bool sql_plan_read(struct sql_plan *plan, const struct table *table, const char *text,
                   sqlite3_value **values);
void sql_plan_reset(struct sql_plan *plan);

#endif
