/* SPDX-License-Identifier: Apache-2.0 */
/* Returns groups in the order of their keys if there is one key column, else in order of
 * appearance. */
#include "analyses/tables/sql/sql_cursor.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "converter/containers/no_memory.h"
#include "converter/files/spool.h"
#include "format/core/grow.h"
#include "format/core/hash.h"
#include "format/core/hash_index.h"

#define NO_GROUP UINT32_MAX
#define BYTES_IN_MEMORY ((size_t) 512 << 20)

struct key {
    uint64_t values[SQL_GROUP_KEYS_MOST];
    unsigned nulls; /* a bit per column */
};

/* The rows of one group in one batch. */
struct segment {
    uint32_t batch, from, to;
    uint32_t next; /* next segment of the group, or NO_GROUP */
};

struct group {
    struct key key;
    uint32_t first, last; /* segments */
    uint32_t rows; /* number of rows in the current batch; then the position of the next row */
};

struct kept_batch {
    struct table_batch batch;
    void *memory;
    size_t bytes;
    bool is_mapped;
};

struct sql_groups {
    size_t keys[SQL_GROUP_KEYS_MOST];
    size_t key_count;
    struct group *groups;
    size_t count, capacity;
    struct step_index index; /* by key */
    struct segment *segments;
    size_t segment_count, segment_capacity;
    struct kept_batch *batches;
    size_t batch_count, batch_capacity;
    size_t bytes;
    FILE *file; /* NULL: not created yet */
    size_t file_bytes;
    uint32_t *row_groups; /* by row of the current batch: its group, */
    uint32_t *row_places; /* and its position */
    size_t row_capacity;
    uint32_t *order; /* of the groups, for returning them */
    size_t at;       /* index into `order` */
    uint32_t segment;
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
    groups->groups[groups->count++] = (struct group){.key = *key, .first = NO_GROUP};
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

static bool add_segment(struct sql_groups *groups, struct group *group, struct segment segment)
{
    if (groups->segment_count == NO_GROUP - 1 ||
        !STEP_MAKE_ROOM(groups->segments, groups->segment_capacity, groups->segment_count + 1))
        return false;
    uint32_t number = (uint32_t) groups->segment_count++;
    groups->segments[number] = segment;
    if (group->first == NO_GROUP)
        group->first = number;
    else
        groups->segments[group->last].next = number;
    group->last = number;
    return true;
}

/* Adds a segment for each group of the batch, then assigns positions to rows. */
static bool place_rows(struct sql_groups *groups, size_t row_count)
{
    uint32_t from = 0;
    for (size_t i = 0; i < groups->count; i++) {
        struct group *group = &groups->groups[i];
        uint32_t to = from + group->rows;
        if (group->rows > 0 &&
            !add_segment(groups, group,
                         (struct segment){(uint32_t) groups->batch_count, from, to, NO_GROUP}))
            return false;
        group->rows = from;
        from = to;
    }
    for (size_t i = 0; i < row_count; i++)
        groups->row_places[i] = groups->groups[groups->row_groups[i]].rows++;
    for (size_t i = 0; i < groups->count; i++)
        groups->groups[i].rows = 0;
    return true;
}

/* Returns the size of a column with its validity, rounded up to 8. */
static size_t column_bytes(const struct table_vector *vector, size_t rows)
{
    size_t bytes =
        rows * table_value_bytes(vector->type) + (vector->validity != NULL ? rows / 8 + 1 : 0);
    return (bytes + 7) / 8 * 8;
}

/* Allocates memory for a batch; beyond a limit, in an unnamed temporary file. */
static bool sql_groups_make_room(struct sql_groups *groups, struct kept_batch *kept)
{
    static const size_t page_bytes = 4096;
    kept->is_mapped = groups->bytes + kept->bytes > BYTES_IN_MEMORY;
    groups->bytes += kept->bytes;
    if (!kept->is_mapped)
        return (kept->memory = malloc(kept->bytes + 1)) != NULL;
    if (groups->file == NULL && (groups->file = spool_stream()) == NULL)
        return false;
    size_t start = groups->file_bytes;
    groups->file_bytes += (kept->bytes / page_bytes + 1) * page_bytes;
    if (ftruncate(fileno(groups->file), (off_t) groups->file_bytes) != 0 ||
        posix_fallocate(fileno(groups->file), (off_t) start, (off_t) (groups->file_bytes - start)))
        return false;
    kept->memory = mmap(NULL, kept->bytes + 1, PROT_READ | PROT_WRITE, MAP_SHARED,
                        fileno(groups->file), (off_t) start);
    if (kept->memory == MAP_FAILED)
        kept->memory = NULL;
    return kept->memory != NULL;
}

#define SCATTER(member, kind)                                                                      \
    do {                                                                                           \
        kind *values = (kind *) (void *) at;                                                       \
        const kind *of = from->member;                                                             \
        for (size_t i = 0; i < rows; i++)                                                          \
            values[places[i]] = of[i];                                                             \
        to->member = values;                                                                       \
    } while (0)

/* Writes a column in the order of groups to `at`. */
static void scatter(const struct sql_groups *groups, const struct table_vector *from, size_t rows,
                    uint8_t *at, struct table_vector *to)
{
    const uint32_t *places = groups->row_places;
    *to = *from;
    if (from->type == TABLE_BOOL)
        SCATTER(flags, uint8_t);
    else if (from->type == TABLE_NAME)
        SCATTER(codes, uint32_t);
    else
        SCATTER(numbers, uint64_t);
    if (from->validity == NULL)
        return;
    uint8_t *validity = at + rows * table_value_bytes(from->type);
    memset(validity, 0, rows / 8 + 1);
    for (size_t i = 0; i < rows; i++)
        validity[places[i] / 8] |=
            (uint8_t) ((from->validity[i / 8] >> i % 8 & 1u) << places[i] % 8);
    to->validity = validity;
}

static bool sql_groups_keep(struct sql_groups *groups, const struct table_batch *batch,
                            size_t column_count)
{
    if (!STEP_MAKE_ROOM(groups->batches, groups->batch_capacity, groups->batch_count + 1))
        return false;
    struct kept_batch *kept = &groups->batches[groups->batch_count++];
    struct table_vector *vectors = calloc(column_count + 1, sizeof *vectors);
    *kept = (struct kept_batch){.batch = {batch->row_count, vectors}};
    for (size_t i = 0; i < column_count; i++)
        kept->bytes += column_bytes(&batch->vectors[i], batch->row_count);
    if (vectors == NULL || !sql_groups_make_room(groups, kept))
        return false;
    uint8_t *at = kept->memory;
    for (size_t i = 0; i < column_count; i++) {
        scatter(groups, &batch->vectors[i], batch->row_count, at, &vectors[i]);
        at += column_bytes(&batch->vectors[i], batch->row_count);
    }
    return true;
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

static bool sql_groups_take(struct sql_groups *groups, const struct table_batch *batch,
                            size_t column_count)
{
    return has_rows(groups, batch->row_count) && group_rows(groups, batch) &&
           place_rows(groups, batch->row_count) && sql_groups_keep(groups, batch, column_count);
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
    groups->segment = NO_GROUP;
    return true;
}

enum step_status sql_groups_create(struct table_scan *scan, const size_t *keys, size_t key_count,
                                   size_t column_count, struct sql_groups **out,
                                   struct step_error *error)
{
    const struct table_batch *batch;
    struct sql_groups *groups = calloc(1, sizeof *groups);
    *out = NULL;
    if (groups == NULL)
        return no_memory(error);
    memcpy(groups->keys, keys, key_count * sizeof *keys);
    groups->key_count = key_count;
    enum step_status status = table_scan_next(scan, &batch, error);
    for (; status == STEP_STATUS_OK; status = table_scan_next(scan, &batch, error))
        if (!sql_groups_take(groups, batch, column_count)) {
            status = no_memory(error);
            break;
        }
    if (status == STEP_STATUS_END)
        status = order_groups(groups) ? STEP_STATUS_OK : no_memory(error);
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
    for (size_t i = 0; i < groups->batch_count; i++) {
        struct kept_batch *kept = &groups->batches[i];
        free((void *) (uintptr_t) kept->batch.vectors);
        if (kept->is_mapped && kept->memory != NULL)
            munmap(kept->memory, kept->bytes + 1);
        else
            free(kept->memory);
    }
    if (groups->file != NULL)
        fclose(groups->file);
    free(groups->batches);
    free(groups->groups);
    step_index_reset(&groups->index);
    free(groups->segments);
    free(groups->row_groups);
    free(groups->row_places);
    free(groups->order);
    free(groups);
}

bool sql_groups_next(struct sql_groups *groups, const struct table_batch **batch, size_t *from,
                     size_t *to)
{
    while (groups->segment == NO_GROUP) {
        if (groups->at == groups->count)
            return false;
        groups->segment = groups->groups[groups->order[groups->at++]].first;
    }
    const struct segment *segment = &groups->segments[groups->segment];
    *batch = &groups->batches[segment->batch].batch;
    *from = segment->from;
    *to = segment->to;
    groups->segment = segment->next;
    return true;
}
