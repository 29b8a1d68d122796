/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows with equal keys side by side, for SQLite's `group by` and `distinct`: which then need not
 * sort them.  Batches are put in the order of their groups one by one and kept; a group's rows are
 * then found in each of them.  Beyond half a GiB they are kept in a temporary file.
 */
#ifndef CONVERTER_TABLES_SQL_SQL_GROUPS_H
#define CONVERTER_TABLES_SQL_SQL_GROUPS_H

#include "converter/tables/table.h"

enum { SQL_GROUP_KEYS_MOST = 4 };
/* Rows of a batch that is to be grouped. */
#define SQL_GROUP_BATCH_ROWS ((size_t) 1 << 18)

struct sql_groups;

/* Reads all of a scan, whose `column_count` columns have no texts.  `keys`: places of columns in
 * its batches. */
enum step_status sql_groups_create(struct table_scan *scan, const size_t *keys, size_t key_count,
                                   size_t column_count, struct sql_groups **out,
                                   struct step_error *error);
/* The next rows: `*from` to `*to` (not in it) of a batch.  False: there are none. */
bool sql_groups_next(struct sql_groups *groups, const struct table_batch **batch, size_t *from,
                     size_t *to);
void sql_groups_destroy(struct sql_groups *groups);

#endif
