/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups rows with equal keys for SQLite's `group by` and `distinct`, which then need not sort
 * them.  Each batch is ordered by group and kept; the rows of a group are then collected from all
 * batches.  Beyond 512 MiB, batches are kept in a temporary file.
 */
#ifndef CONVERTER_TABLES_SQL_SQL_GROUPS_H
#define CONVERTER_TABLES_SQL_SQL_GROUPS_H

#include "converter/tables/table.h"

enum { SQL_GROUP_KEYS_MOST = 4 };
/* Number of rows of a batch to be grouped. */
#define SQL_GROUP_BATCH_ROWS ((size_t) 1 << 18)

struct sql_groups;

/* Reads a whole scan, whose `column_count` columns must not be texts.  `keys`: positions of the
 * key columns in its batches. */
enum step_status sql_groups_create(struct table_scan *scan, const size_t *keys, size_t key_count,
                                   size_t column_count, struct sql_groups **out,
                                   struct step_error *error);
/* Returns the next rows: `*from` to before `*to` of a batch.  Returns false if there are none. */
bool sql_groups_next(struct sql_groups *groups, const struct table_batch **batch, size_t *from,
                     size_t *to);
void sql_groups_destroy(struct sql_groups *groups);

#endif
