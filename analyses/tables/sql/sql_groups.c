/* SPDX-License-Identifier: Apache-2.0 */
/* Returns groups in the order of their keys if there is one key column, else in order of
 * appearance. */
#include "analyses/tables/sql/sql_cursor.h"

#include <stdlib.h>
#include <string.h>

#include "analyses/tables/sql/group_store.h"
#include "converter/cli/memory_limit.h"
#include "converter/containers/no_memory.h"
#include "converter/files/spool.h"
#include "format/core/grow.h"
#include "format/core/hash.h"
#include "format/core/hash_index.h"

#define NO_GROUP UINT32_MAX
#define BATCH_ROWS_MOST ((size_t) 1 << 18)
#define BYTES_IN_MEMORY (UINT64_C(128) << 20)

struct key {
    uint64_t values[SQL_GROUP_KEYS_MOST];
    unsigned nulls; /* a bit per column */
};

struct group {
    struct key key;
    uint32_t rows; /* number of rows in the current batch; then the place of the next one */
};

struct sql_groups {
    size_t keys[SQL_GROUP_KEYS_MOST];
    size_t key_count;
    struct group *groups;
    size_t count, capacity;
    struct step_index index; /* by key */
    struct group_store *store;
    uint32_t *row_groups; /* by row of the current batch: its group, */
    uint32_t *row_places; /* and its place */
    size_t row_capacity;
    struct group_piece *pieces; /* the groups of the current batch */
    size_t piece_capacity;
    uint32_t *order; /* of the groups, for returning them */
    size_t at;       /* index into `order` */
};

/* ---- keys ---- */

static struct key sql_groups_key_of(const struct sql_groups *groups,
                                    const struct table_batch *batch, size_t row)
{
    struct key key = {{0}, 0};
    for (size_t i = 0; i < groups->key_count; i++) {
        const struct table_vector *vector = &batch->vectors[groups->keys[i]];
        if (table_vector_is_null(vector, row))
            key.nulls |= 1u << i;
        else
            key.values[i] = vector->type == TABLE_NAME   ? vector->codes[row]
                            : vector->type == TABLE_BOOL ? vector->flags[row]
                                                         : vector->numbers[row];
    }
    return key;
}

static bool sql_groups_is_same(const struct key *a, const struct key *b)
{
    bool same = a->nulls == b->nulls;
    for (size_t i = 0; i < SQL_GROUP_KEYS_MOST; i++)
        same = same && a->values[i] == b->values[i];
    return same;
}

static uint32_t sql_groups_hash_of(const struct key *key)
{
    uint64_t hash = key->nulls;
    for (size_t i = 0; i < SQL_GROUP_KEYS_MOST; i++)
        hash = step_hash_join(hash, key->values[i]);
    return (uint32_t) hash;
}

/* Returns the group of a key, adding it if necessary; NO_GROUP if out of memory. */
static uint32_t find_group(struct sql_groups *groups, const struct key *key)
{
    uint32_t hash = sql_groups_hash_of(key), number;
    STEP_INDEX_EACH (&groups->index, hash, number)
        if (sql_groups_is_same(&groups->groups[number].key, key))
            return number;
    number = (uint32_t) groups->count;
    if (groups->count == NO_GROUP - 1 ||
        !STEP_MAKE_ROOM(groups->groups, groups->capacity, groups->count + 1) ||
        !step_index_add(&groups->index, hash, number))
        return NO_GROUP;
    groups->groups[groups->count++] = (struct group){.key = *key};
    return number;
}

/* ---- a batch ---- */

/* Finds the group of each row, and counts the rows of each group. */
static bool group_rows(struct sql_groups *groups, const struct table_batch *batch)
{
    struct key last = {{0}, 0};
    uint32_t group = NO_GROUP;
    for (size_t i = 0; i < batch->row_count; i++) {
        struct key key = sql_groups_key_of(groups, batch, i);
        if (group == NO_GROUP || !sql_groups_is_same(&key, &last))
            group = find_group(groups, &key);
        if (group == NO_GROUP)
            return false;
        last = key;
        groups->row_groups[i] = group;
        groups->groups[group].rows++;
    }
    return true;
}

/* Makes a piece of each group of the batch, then assigns places to rows.  Returns the number of
 * pieces. */
static size_t place_rows(struct sql_groups *groups, size_t row_count)
{
    size_t pieces = 0;
    uint32_t from = 0;
    for (size_t i = 0; i < groups->count; i++) {
        struct group *group = &groups->groups[i];
        uint32_t rows = group->rows;
        if (rows == 0)
            continue;
        groups->pieces[pieces++] = (struct group_piece){(uint32_t) i, rows};
        group->rows = from;
        from += rows;
    }
    for (size_t i = 0; i < row_count; i++)
        groups->row_places[i] = groups->groups[groups->row_groups[i]].rows++;
    for (size_t i = 0; i < pieces; i++)
        groups->groups[groups->pieces[i].group].rows = 0;
    return pieces;
}

static bool has_rows(struct sql_groups *groups, size_t rows)
{
    if (rows <= groups->row_capacity)
        return true;
    free(groups->row_groups);
    free(groups->row_places);
    groups->row_groups = malloc(rows * sizeof *groups->row_groups);
    groups->row_places = malloc(rows * sizeof *groups->row_places);
    groups->row_capacity = rows;
    return groups->row_groups != NULL && groups->row_places != NULL;
}

static enum step_status sql_groups_take(struct sql_groups *groups, const struct table_batch *batch,
                                        struct step_error *error)
{
    if (!has_rows(groups, batch->row_count) || !group_rows(groups, batch) ||
        !STEP_MAKE_ROOM(groups->pieces, groups->piece_capacity, groups->count + 1))
        return no_memory(error);
    size_t pieces = place_rows(groups, batch->row_count);
    return group_store_put(groups->store, batch, groups->pieces, pieces, groups->row_places, error);
}

/* Returns how much memory the rows may take: an eighth of the limit, so that reading the trace has
 * the rest.  Where no file may be written, as for a server, there is no other place for them. */
static uint64_t sql_groups_memory(void)
{
    uint64_t eighth = memory_limit_bytes() / 8;
    return !spool_allows(SPOOL_BYTES_USUAL) ? UINT64_MAX
           : eighth < BYTES_IN_MEMORY       ? eighth
                                            : BYTES_IN_MEMORY;
}

/* ---- grouping ---- */

static int sql_groups_compare(const void *a, const void *b, void *user)
{
    const struct sql_groups *groups = user;
    const struct key *x = &groups->groups[*(const uint32_t *) a].key;
    const struct key *y = &groups->groups[*(const uint32_t *) b].key;
    if (x->nulls != y->nulls)
        return x->nulls > y->nulls ? -1 : 1;
    return x->values[0] < y->values[0] ? -1 : x->values[0] > y->values[0];
}

static bool order_groups(struct sql_groups *groups)
{
    groups->order = malloc((groups->count + 1) * sizeof *groups->order);
    if (groups->order == NULL)
        return false;
    for (size_t i = 0; i < groups->count; i++)
        groups->order[i] = (uint32_t) i;
    if (groups->key_count == 1)
        qsort_r(groups->order, groups->count, sizeof *groups->order, sql_groups_compare, groups);
    return true;
}

/* A column's values of a batch take a 64th of the memory at most. */
size_t sql_groups_batch_rows(void)
{
    uint64_t rows = memory_limit_bytes() / 64 / sizeof(uint64_t);
    return rows < BATCH_ROWS_MOST ? (size_t) rows : BATCH_ROWS_MOST;
}

static enum step_status read_all(struct sql_groups *groups, struct table_scan *scan,
                                 struct step_error *error)
{
    const struct table_batch *batch;
    enum step_status status = table_scan_next(scan, &batch, error);
    while (status == STEP_STATUS_OK) {
        status = sql_groups_take(groups, batch, error);
        if (status == STEP_STATUS_OK)
            status = table_scan_next(scan, &batch, error);
    }
    if (status == STEP_STATUS_END)
        status = order_groups(groups) ? STEP_STATUS_OK : no_memory(error);
    return status;
}

enum step_status sql_groups_create(struct table_scan *scan, const size_t *keys, size_t key_count,
                                   size_t column_count, struct sql_groups **out,
                                   struct step_error *error)
{
    struct sql_groups *groups = calloc(1, sizeof *groups);
    *out = NULL;
    if (groups == NULL)
        return no_memory(error);
    memcpy(groups->keys, keys, key_count * sizeof *keys);
    groups->key_count = key_count;
    groups->store = group_store_create(column_count, sql_groups_memory());
    enum step_status status =
        groups->store != NULL ? read_all(groups, scan, error) : no_memory(error);
    if (status != STEP_STATUS_OK) {
        sql_groups_destroy(groups);
        return status;
    }
    *out = groups;
    return status;
}

void sql_groups_destroy(struct sql_groups *groups)
{
    if (groups == NULL)
        return;
    group_store_destroy(groups->store);
    free(groups->groups);
    step_index_reset(&groups->index);
    free(groups->row_groups);
    free(groups->row_places);
    free(groups->pieces);
    free(groups->order);
    free(groups);
}

enum step_status sql_groups_next(struct sql_groups *groups, const struct table_batch **batch,
                                 struct step_error *error)
{
    enum step_status status = STEP_STATUS_END;
    while (groups->at < groups->count && status == STEP_STATUS_END) {
        status = group_store_next(groups->store, groups->order[groups->at], batch, error);
        groups->at += status == STEP_STATUS_END;
    }
    return status;
}
