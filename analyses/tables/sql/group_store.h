/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of groups.  They are put as batches that mix the groups, and taken group by group, those
 * of a group in the order in which they were put.
 *
 * Memory holds what a column's values in a batch and group differ by, in as few bytes as that
 * needs. When it comes to a limit, all goes into a temporary file without a name, those of a group
 * together.
 */
#ifndef ANALYSES_TABLES_SQL_GROUP_STORE_H
#define ANALYSES_TABLES_SQL_GROUP_STORE_H

#include "analyses/tables/table.h"

/* The rows of one group in a batch. */
struct group_piece {
    uint32_t group, rows;
};

struct group_store;

/* Makes a store for batches of `column_count` vectors, which are not texts, and of any number of
 * groups from 0 on.  `limit_bytes`: of memory for rows; UINT64_MAX: no file.  NULL: out of memory.
 */
struct group_store *group_store_create(size_t column_count, uint64_t limit_bytes);
void group_store_destroy(struct group_store *store);

/* Adds the rows of a batch.  `places`: by row, its place when they are in the order of `pieces`,
 * which have at least one row each. */
enum step_status group_store_put(struct group_store *store, const struct table_batch *batch,
                                 const struct group_piece *pieces, size_t piece_count,
                                 const uint32_t *places, struct step_error *error);
/* Returns the next rows of a group, or END.  They are valid until the next call.  A call for
 * another group than the last begins with that group's first rows. */
enum step_status group_store_next(struct group_store *store, uint32_t group,
                                  const struct table_batch **batch, struct step_error *error);
/* Returns the bytes of the temporary file; 0: there is none. */
uint64_t group_store_spilled_bytes(const struct group_store *store);

#endif
