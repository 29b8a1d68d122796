/* SPDX-License-Identifier: Apache-2.0 */
/* A SQLite cursor over the rows of a table, and how it follows SQLite's planner. */
#ifndef ANALYSES_TABLES_SQL_SQL_CURSOR_H
#define ANALYSES_TABLES_SQL_SQL_CURSOR_H

#include <sqlite3.h>

#include "analyses/tables/table.h"

/*
 * Groups rows with equal keys for SQLite's `group by` and `distinct`, which then need not sort
 * them (group_store.h).  Beyond 128 MiB, or an eighth of --memory, rows are kept in a temporary
 * file.
 */

enum { SQL_GROUP_KEYS_MOST = 4 };

struct sql_groups;

/* Returns the number of rows of a batch to be grouped. */
size_t sql_groups_batch_rows(void);
/* Reads a whole scan, whose first `column_count` vectors must not be texts, and are kept.  `keys`:
 * positions of the key columns in its batches. */
enum step_status sql_groups_create(struct table_scan *scan, const size_t *keys, size_t key_count,
                                   size_t column_count, struct sql_groups **out,
                                   struct step_error *error);
/* Returns the next rows, valid until the next call, or END. */
enum step_status sql_groups_next(struct sql_groups *groups, const struct table_batch **batch,
                                 struct step_error *error);
void sql_groups_destroy(struct sql_groups *groups);

/*
 * Translates between SQLite's planner and table scans: the columns in use, and conditions that skip
 * blocks or rows before SQLite sees them.  SQLite tests all conditions again, so a plan may accept
 * more rows than requested, but must never drop a matching one.
 */

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

struct sql_cursor {
    sqlite3_vtab_cursor base;
    struct tables *tables;
    const struct table *table;
    struct table_scan *scan;
    const struct table_batch *batch;
    bool scan_has_class;       /* a condition on it, which a restart would keep */
    size_t row, row_end;       /* in the batch */
    struct sql_groups *groups; /* of the scan, if rows are grouped, */
    struct sql_plan grouping;  /* by this plan, */
    uint64_t grouped_batches;  /* of which so many were taken */
    bool has_grouped_ids;
    size_t *places; /* by column: its position in the batch; SIZE_MAX: none */
    size_t *columns;
    size_t column_count;
    bool at_end;
    char *plan;             /* the plan of the scan */
    struct table_scan *all; /* the whole dictionary */
    const struct table_batch *entries;
    uint64_t look_ups;
    bool is_look_up; /* the current row is in `entries` */
};

struct sql_cursor *sql_cursor_create(struct tables *tables, const struct table *table);
void sql_cursor_destroy(struct sql_cursor *cursor);

/* Positions before the first row that the plan accepts.  `text` is the plan; SQLite keeps it
 * alive. */
enum step_status sql_cursor_start(struct sql_cursor *cursor, const char *text,
                                  sqlite3_value **values, struct step_error *error);
enum step_status sql_cursor_next(struct sql_cursor *cursor, struct step_error *error);
/* Gets the id of the current row.  SQLite recognises rows by it when it joins the answers of
 * several scans: of the terms of an OR, and of a right or full join. */
enum step_status sql_cursor_row_id(struct sql_cursor *cursor, sqlite3_int64 *out,
                                   struct step_error *error);
/* xColumn of the module. */
int sql_cursor_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column);

#endif
